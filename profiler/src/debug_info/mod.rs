//! From relative addresses to names, inline chains, files and lines.
//!
//! [`ModuleDebug`] is one module's debug information: found by identity (`locate`), loaded on first use, immutable,
//! shared between the [`Namers`]. [`KernelSymbols`] is the same for the kernel. Both answer [`NamedAddress`]es through
//! [`NameSource`]; what could not be named becomes a [`Failure`].

mod demangle;
mod dwarf;
mod kernel;
mod known;
mod locate;
mod module;
mod namers;
mod names;
mod stubs;
mod symbols;
#[cfg(test)]
mod tests;

pub use demangle::demangle;
pub use kernel::{KernelSymbol, KernelSymbols, KernelSymbolsError};
pub use locate::{OpenHost, Tried};
pub use module::ModuleDebug;
pub use namers::{Named, Namers, Request, Target};
pub use names::{Failure, FunctionName, Level, NameSource, NamedAddress, SourceFile};
