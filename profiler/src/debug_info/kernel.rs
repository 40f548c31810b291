//! Kernel symbols: the text of `/proc/kallsyms` becomes a sorted table.
//!
//! A kernel that hides its addresses shows them as zero; that is an error with its remedy, and the frames are
//! "kernel (hidden)".

use std::ops::Range;
use std::sync::Arc;

use microscope_capture::{CodeRole, FunctionFlags};
use thiserror::Error;

use super::demangle::{cut, demangle};
use super::names::lookup_address;
use super::{Failure, FunctionName, Level, NameSource, NamedAddress, Tried};

/// Where the text comes from.
const PATH: &str = "/proc/kallsyms";
/// The text that is read at most; a distribution's kernel has about 12 MiB.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// How far the last symbol before a gap reaches at most.
const REACH_MAX: u64 = 1 << 20;

/// Why there are no kernel symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KernelSymbolsError {
    /// Every address is zero.
    #[error("{PATH} hides its addresses; as root set kernel.kptr_restrict to 0 or 1, or record as root")]
    Hidden,
    /// There is no symbol of code in it.
    #[error("{PATH} has no symbols")]
    Empty,
    /// It is longer than is read.
    #[error("{PATH} has {0} bytes, more than the limit of {TEXT_BYTES_MAX}")]
    TooLarge(usize),
}

/// The kernel's functions by address.
pub struct KernelSymbols {
    text: String,
    /// Invariant: sorted by address, the preferred name first.
    symbols: Vec<Symbol>,
    base: u64,
}

/// Places in [`KernelSymbols::text`]. An empty module is the kernel itself.
struct Symbol {
    address: u64,
    name: Range<u32>,
    module: Range<u32>,
    is_global: bool,
}

/// Where in the kernel an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSymbol<'a> {
    /// The function.
    pub name: &'a str,
    /// The loadable module that holds it; empty for the kernel itself.
    pub module: &'a str,
    /// The function's absolute address.
    pub address: u64,
    /// How far behind the function's beginning the address is.
    pub offset: u64,
}

impl KernelSymbols {
    /// Parses the text of `/proc/kallsyms`. Malformed lines are skipped.
    pub fn parse(text: String) -> Result<Self, KernelSymbolsError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(KernelSymbolsError::TooLarge(text.len()));
        }
        let mut symbols: Vec<Symbol> =
            Lines { text: &text, at: 0 }.filter_map(|line| symbol(&text, line)).collect();
        if symbols.is_empty() {
            return Err(KernelSymbolsError::Empty);
        }
        if symbols.iter().all(|symbol| symbol.address == 0) {
            return Err(KernelSymbolsError::Hidden);
        }
        symbols
            .sort_by_key(|symbol| (symbol.address, !symbol.is_global, symbol.name.len(), symbol.name.start));
        let named = |wanted: &str| symbols.iter().find(|s| part(&text, &s.name) == wanted).map(|s| s.address);
        let base = named("_text").or_else(|| named("_stext")).unwrap_or(0);
        Ok(Self { text, symbols, base })
    }

    /// The absolute address that relative addresses of kernel frames count from: the beginning of its text.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The function that holds an absolute address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let start = self.symbols.get(after.checked_sub(1)?)?.address;
        let first = self.symbols.partition_point(|symbol| symbol.address < start);
        let found = self.symbols.get(first)?;
        let (name, module) = (part(&self.text, &found.name), part(&self.text, &found.module));
        let offset = address - start;
        (offset < REACH_MAX && name != "_etext").then_some(KernelSymbol {
            name,
            module,
            address: start,
            offset,
        })
    }
}

impl NameSource for KernelSymbols {
    /// Takes and answers addresses relative to [`KernelSymbols::base`].
    fn name(&self, relative_address: u64, is_caller: bool) -> NamedAddress {
        let address = lookup_address(relative_address, is_caller).wrapping_add(self.base);
        let Some(found) = self.find(address) else { return NamedAddress::unnamed() };
        let name = match found.module {
            "" => demangle(found.name),
            module => format!("{} [{module}]", demangle(found.name)),
        };
        let function = FunctionName {
            name: name.into(),
            linkage_name: cut(found.name).into(),
            decl_file: None,
            decl_line: 0,
            relative_address: found.address.wrapping_sub(self.base),
            flags: FunctionFlags::Plain,
        };
        let level = Level { function: Arc::new(function), file: None, line: 0 };
        NamedAddress { levels: vec![level], role: CodeRole::Plain }
    }

    fn failure(&self, relative_address: u64) -> Failure {
        let refused = Some("no symbol holds the address".to_owned());
        Failure {
            range: relative_address..relative_address.saturating_add(1),
            tried: vec![Tried { path: PATH.to_owned(), refused }],
        }
    }
}

/// The ranges of a text's lines.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = self.at + rest.find('\n').unwrap_or(rest.len());
        let line = self.at..end;
        self.at = end + 1;
        Some(line)
    }
}

/// A symbol of code out of `ffffffff81000000 T name` or `ffffffffc0000000 t name\t[module]`.
fn symbol(text: &str, line: Range<usize>) -> Option<Symbol> {
    let content = text.get(line.clone())?;
    let mut words = content.split_ascii_whitespace();
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let module = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']')).unwrap_or_default();
    if !matches!(kind, "t" | "T" | "w" | "W") {
        return None;
    }
    let place = |word: &str| {
        let start = line.start + (word.as_ptr() as usize).checked_sub(content.as_ptr() as usize)?;
        Some(u32::try_from(start).ok()?..u32::try_from(start + word.len()).ok()?)
    };
    Some(Symbol {
        address: u64::from_str_radix(address, 16).ok()?,
        name: place(name)?,
        module: if module.is_empty() { 0..0 } else { place(module)? },
        is_global: kind == "T",
    })
}

fn part<'a>(text: &'a str, range: &Range<u32>) -> &'a str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81001000 t do_syscall_64.part.0
ffffffff81001040 T __x64_sys_read
ffffffff81001040 W sys_read_alias_by_another_name
ffffffff81002000 D some_data
broken line
ffffffff82000000 T _etext
ffffffffc0001000 t nft_do_chain\t[nf_tables]
";

    fn check(address: u64, expected: Option<(&str, &str, u64)>) {
        let symbols = KernelSymbols::parse(TEXT.to_owned()).unwrap();
        let found = symbols.find(address).map(|found| (found.name, found.module, found.offset));
        assert_eq!(found, expected, "{address:#x}");
    }

    #[test]
    fn an_address_is_its_function_and_an_offset() {
        check(0xffff_ffff_8100_1010, Some(("do_syscall_64.part.0", "", 0x10)));
        check(0xffff_ffff_8100_2000, Some(("__x64_sys_read", "", 0xfc0)));
        check(0xffff_ffff_8100_0000, Some(("_text", "", 0)));
    }

    #[test]
    fn modules_are_named_and_gaps_are_not() {
        check(0xffff_ffff_c000_1004, Some(("nft_do_chain", "nf_tables", 4)));
        check(0xffff_ffff_c900_0000, None);
        check(0xffff_ffff_8200_0010, None);
        check(0x1000, None);
    }

    #[test]
    fn relative_addresses_count_from_the_text() {
        let symbols = KernelSymbols::parse(TEXT.to_owned()).unwrap();
        let named = symbols.name(0x1040, true);
        assert_eq!(&*named.levels[0].function.name, "do_syscall_64.part.0");
        assert_eq!(named.levels[0].function.relative_address, 0x1000);
        let module = symbols.name(0xffff_ffff_c000_1004 - symbols.base(), false);
        assert_eq!(&*module.levels[0].function.name, "nft_do_chain [nf_tables]");
    }

    #[test]
    fn hidden_addresses_are_said_to_be_hidden() {
        let parse = |text: &str| KernelSymbols::parse(text.to_owned()).err();
        assert_eq!(
            parse("0000000000000000 T _text\n0000000000000000 t x\n"),
            Some(KernelSymbolsError::Hidden)
        );
        assert_eq!(parse(""), Some(KernelSymbolsError::Empty));
        assert_eq!(parse("no symbols here\n"), Some(KernelSymbolsError::Empty));
    }
}
