//! Frames of the kernel: absolute while recording, relative to the kernel's text once sealed.
//!
//! The symbols take a tenth of a second to read, so a namer reads them, not the samples' way. Only they tell
//! where the kernel's text begins; until then frames keep the addresses that the kernel gave.

use std::sync::{Arc, OnceLock};

use microscope_capture::{Builder, ModuleId};

use crate::debug_info::{Failure, KernelSymbols, NameSource, NamedAddress, Tried};
use crate::files::{Files, Text};

/// The kernel's symbols, read when the first name is asked for.
pub(super) struct KernelNames {
    files: Arc<dyn Files>,
    symbols: OnceLock<Result<KernelSymbols, String>>,
}

impl KernelNames {
    pub(super) fn new(files: Arc<dyn Files>) -> Self {
        Self { files, symbols: OnceLock::new() }
    }

    fn symbols(&self) -> &Result<KernelSymbols, String> {
        self.symbols.get_or_init(|| {
            let text = self.files.text(&Text::KernelSymbols).map_err(|problem| problem.to_string())?;
            let text = String::from_utf8_lossy(&text.value).into_owned();
            KernelSymbols::parse(text).map_err(|error| error.to_string())
        })
    }

    /// Why there are no symbols, when they were wanted and are not there.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.symbols.get()?.as_ref().err().map(String::as_str)
    }

    /// Makes the addresses of the kernel's frames relative to its text.
    ///
    /// Without symbols nobody knows where that is; then to the lowest frame's 2 MiB page, so that a capture
    /// never tells where this machine loaded its kernel.
    pub(super) fn make_relative(&self, module: ModuleId, builder: &mut Builder) {
        let frames = &mut builder.tables.frames;
        let is_kernel = |owner: &Option<ModuleId>| *owner == Some(module);
        let of_kernel = frames.module.iter().zip(&frames.address).filter(|(owner, _)| is_kernel(owner));
        let Some(lowest) = of_kernel.map(|(_, address)| *address).min() else { return };
        let base = self.symbols().as_ref().map_or(lowest & !((2 << 20) - 1), KernelSymbols::base);
        for (owner, address) in frames.module.iter().zip(&mut frames.address) {
            if is_kernel(owner) {
                *address = address.wrapping_sub(base);
            }
        }
    }
}

impl NameSource for KernelNames {
    fn name(&self, absolute_address: u64, is_caller: bool) -> NamedAddress {
        match self.symbols() {
            Ok(symbols) => symbols.name(absolute_address.wrapping_sub(symbols.base()), is_caller),
            Err(_) => NamedAddress::unnamed(),
        }
    }

    fn failure(&self, absolute_address: u64) -> Failure {
        match self.symbols() {
            Ok(symbols) => symbols.failure(absolute_address.wrapping_sub(symbols.base())),
            Err(why) => {
                let tried = Tried { path: "/proc/kallsyms".to_owned(), refused: Some(why.clone()) };
                Failure { range: 0..u64::MAX, tried: vec![tried] }
            }
        }
    }
}
