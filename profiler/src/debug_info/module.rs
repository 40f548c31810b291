//! One module's debug information: loaded on the first lookup, immutable afterwards, shared between threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use microscope_capture::{CodeRole, FunctionFlags};

use crate::image::Image;

use super::demangle::demangle;
use super::locate::{OpenHost, Tried, locate};
use super::stubs::Stubs;
use super::symbols::{FoundSymbol, SymbolTable};
use super::{Failure, FunctionName, Level, NameSource, NamedAddress};

/// The names, inline chains and lines of one module.
pub struct ModuleDebug {
    image: Image,
    path: PathBuf,
    open: OpenHost,
    loaded: OnceLock<Loaded>,
}

struct Loaded {
    symbols: SymbolTable,
    stubs: Stubs,
    tried: Vec<Tried>,
}

impl ModuleDebug {
    /// The debug information of `image`, which lies at `path` on this machine. Nothing is read before a lookup.
    #[must_use]
    pub fn new(image: Image, path: &Path, open: OpenHost) -> Self {
        Self { image, path: path.to_owned(), open, loaded: OnceLock::new() }
    }

    /// Every file that was tried for debug information, and what became of each.
    #[must_use]
    pub fn tried(&self) -> &[Tried] {
        &self.loaded().tried
    }

    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| Loaded::load(&self.image, &self.path, &self.open))
    }
}

impl Loaded {
    fn load(image: &Image, path: &Path, open: &OpenHost) -> Self {
        let mut located = locate(image, path, open);
        let images: Vec<&Image> = [Some(image), located.debug.as_ref()].into_iter().flatten().collect();
        let (symbols, problems) = SymbolTable::read(&images);
        let path = path.to_string_lossy();
        let problem = |cause: String| Tried { path: path.clone().into_owned(), refused: Some(cause) };
        located.tried.extend(problems.iter().map(|cause| problem(cause.to_string())));
        let stubs = Stubs::read(image, &symbols);
        Self { symbols, stubs, tried: located.tried }
    }

    fn name(&self, address: u64) -> NamedAddress {
        if let Some((name, start)) = self.stubs.find(address) {
            return NamedAddress {
                levels: vec![unlined(name, start, FunctionFlags::Plain)],
                role: CodeRole::Stub,
            };
        }
        match self.symbols.find(address) {
            Some(FoundSymbol { linkage_name, range, flags }) => NamedAddress {
                levels: vec![unlined(&linkage_name, range.start, flags)],
                role: CodeRole::Plain,
            },
            None => NamedAddress::unnamed(),
        }
    }
}

/// A function known by its linkage name alone.
fn unlined(linkage_name: &str, start: u64, flags: FunctionFlags) -> Level {
    let function = FunctionName {
        name: demangle(linkage_name).into(),
        linkage_name: linkage_name.into(),
        decl_file: None,
        decl_line: 0,
        relative_address: start,
        flags,
    };
    Level { function: Arc::new(function), file: None, line: 0 }
}

impl NameSource for ModuleDebug {
    fn name(&self, relative_address: u64, is_caller: bool) -> NamedAddress {
        self.loaded().name(super::names::lookup_address(relative_address, is_caller))
    }

    fn failure(&self, relative_address: u64) -> Failure {
        let loaded = self.loaded();
        let gap = loaded.symbols.gap(relative_address);
        let mut segments = self.image.loaded_segments();
        let segment = segments.find(|s| s.contains_svma(relative_address));
        let bounds = segment.map_or(relative_address..relative_address.saturating_add(1), |s| {
            s.svma..s.svma.saturating_add(s.memory_bytes)
        });
        Failure { range: gap.start.max(bounds.start)..gap.end.min(bounds.end), tried: loaded.tried.clone() }
    }
}
