//! One module's debug information: loaded on the first lookup, immutable afterwards, shared between threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use microscope_capture::CodeRole;

use crate::image::Image;

use super::demangle::{cut, demangle, is_mangled};
use super::dwarf::{Code, DwarfInfo, Place};
use super::known::KnownFunctions;
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
    dwarf: Option<DwarfInfo>,
    functions: KnownFunctions,
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
        let (symbols, mut problems) = SymbolTable::read(&images);
        let holder = located.debug.as_ref().unwrap_or(image);
        let dwarf = DwarfInfo::load(holder, located.supplementary.as_ref(), Code::of(image));
        let dwarf = dwarf.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let path = path.to_string_lossy();
        let problem = |cause: String| Tried { path: path.clone().into_owned(), refused: Some(cause) };
        located.tried.extend(problems.iter().map(|cause| problem(cause.to_string())));
        let stubs = Stubs::read(image, &symbols);
        Self { symbols, stubs, dwarf, functions: KnownFunctions::default(), tried: located.tried }
    }

    /// By the linker's stubs, else by debug information, else by symbol.
    fn name(&self, address: u64) -> NamedAddress {
        if let Some((name, start)) = self.stubs.find(address) {
            let function = Arc::new(by_symbol(&FoundSymbol::stub(name, start)));
            return NamedAddress {
                levels: vec![Level { function, file: None, line: 0 }],
                role: CodeRole::Stub,
            };
        }
        let place = self.dwarf.as_ref().and_then(|dwarf| dwarf.find(address)).unwrap_or_default();
        let levels = if place.levels.is_empty() { self.unlisted(address, place) } else { self.listed(place) };
        NamedAddress { levels, role: CodeRole::Plain }
    }

    /// The levels that debug information has, with what only symbols tell of the physical function.
    fn listed(&self, place: Place) -> Vec<Level> {
        let Place { mut levels, entry, function: die, .. } = place;
        if let Some(physical) = levels.last_mut() {
            let listed = &physical.function;
            physical.function = self.functions.of((entry, die), || {
                let function = FunctionName { relative_address: entry, ..FunctionName::clone(listed) };
                let wanted = if is_private(&function.name) { "" } else { &function.name };
                match self.symbols.at(entry, wanted) {
                    Some(symbol) => with_symbol(function, &symbol),
                    None => function,
                }
            });
        }
        levels
    }

    /// A function that debug information does not have, such as one in assembly; its line may still be known.
    fn unlisted(&self, address: u64, place: Place) -> Vec<Level> {
        let symbol = self.symbols.start_of(address).and_then(|start| self.symbols.at(start, ""));
        let level = |symbol: FoundSymbol| {
            let function = self.functions.of((symbol.range.start, None), || by_symbol(&symbol));
            Level { function, file: place.file, line: place.line }
        };
        symbol.map(level).into_iter().collect()
    }
}

/// A function's flags, and its names by symbol where those are better than the debug information's.
///
/// Line tables alone have names without their namespaces. Libraries rename what they call themselves: the debug
/// information of `malloc` says `__GI___libc_malloc`.
fn with_symbol(mut function: FunctionName, symbol: &FoundSymbol) -> FunctionName {
    function.flags = symbol.flags;
    let is_renamed = is_private(&function.name) && !is_private(&symbol.linkage_name);
    if function.linkage_name.is_empty() || is_renamed {
        function.linkage_name = cut(&symbol.linkage_name).into();
        if is_mangled(&symbol.linkage_name) || is_renamed {
            function.name = demangle(&symbol.linkage_name).into();
        }
    }
    function
}

/// Whether a C name is one that libraries keep to themselves.
fn is_private(name: &str) -> bool {
    name.starts_with('_')
}

/// A function known by its symbol alone.
fn by_symbol(symbol: &FoundSymbol) -> FunctionName {
    FunctionName {
        name: demangle(&symbol.linkage_name).into(),
        linkage_name: cut(&symbol.linkage_name).into(),
        decl_file: None,
        decl_line: 0,
        relative_address: symbol.range.start,
        flags: symbol.flags,
    }
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
