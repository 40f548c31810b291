//! What an address means: the answers of every source of names.

use std::ops::Range;
use std::sync::Arc;

use microscope_capture::{CodeRole, FunctionFlags};

use super::Tried;

/// A function, shared by every address in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionName {
    /// The name for people: demangled, with its namespaces.
    pub name: Arc<str>,
    /// The name in the symbol table; empty when there is none.
    pub linkage_name: Arc<str>,
    /// Where it is declared, when known.
    pub decl_file: Option<Arc<SourceFile>>,
    /// The line it is declared at, from 1; 0 is unknown.
    pub decl_line: u32,
    /// The relative address of its first instruction; 0 for inlined functions, which have none of their own.
    pub relative_address: u64,
    /// Whether other names share its code.
    pub flags: FunctionFlags,
}

/// A source file as the debug information gives it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceFile {
    /// The path, joined with its directories and without `.` and `..`.
    pub path: Arc<str>,
    /// The MD5 of the text that was compiled, where the line table carries it.
    pub md5: Option<[u8; 16]>,
}

/// One level of an inline chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The function.
    pub function: Arc<FunctionName>,
    /// The file of [`Self::line`], when known.
    pub file: Option<Arc<SourceFile>>,
    /// The line executed (innermost) or called from; 0 is code that belongs to no line.
    pub line: u32,
}

/// What an address means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAddress {
    /// Innermost inlined function first; the last is the physical function. Empty when nothing names the address.
    pub levels: Vec<Level>,
    /// What part the code plays, as far as its section tells.
    pub role: CodeRole,
}

impl NamedAddress {
    /// An address that nothing names.
    #[must_use]
    pub const fn unnamed() -> Self {
        Self { levels: Vec::new(), role: CodeRole::Plain }
    }

    /// Whether anything names the address.
    #[must_use]
    pub fn is_named(&self) -> bool {
        !self.levels.is_empty()
    }
}

/// A range that could not be named, for the capture's table of failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The relative addresses without a name, around the one asked for.
    pub range: Range<u64>,
    /// The files that were tried, in order, and what became of each.
    pub tried: Vec<Tried>,
}

/// Whatever names addresses: a module's debug information, the kernel's symbols.
///
/// Answers depend on the source and the arguments alone, never on order or timing.
pub trait NameSource: Send + Sync {
    /// Names a relative address. A caller's is a return address and is looked up at the byte before.
    fn name(&self, relative_address: u64, is_caller: bool) -> NamedAddress;

    /// Why [`Self::name`] knew nothing of an address.
    fn failure(&self, relative_address: u64) -> Failure;
}

/// The address to look up: a return address belongs to the call before it.
pub(super) fn lookup_address(relative_address: u64, is_caller: bool) -> u64 {
    relative_address.saturating_sub(u64::from(is_caller))
}
