//! Symbol tables: which function's name an address has when nothing better is known.
//!
//! `.symtab` and `.dynsym` of a module and its debug file become one sorted list. Names stay in their string tables
//! until a lookup picks one.

use std::ops::Range;

use microscope_capture::FunctionFlags;

use crate::image::{Image, ImageError, Section, SectionData};

use super::demangle::{cut, demangle, is_mangled};

/// Symbols of one table that are read at most; Chromium has about a million functions.
const SYMBOLS_MAX: usize = 16 << 20;
const SYMBOL_BYTES: usize = 24;
/// Symbols before an address that are tried for one that reaches it.
const NESTING_MAX: usize = 64;

/// The functions of a module by address.
#[derive(Default)]
pub(super) struct SymbolTable {
    /// Invariant: sorted by address, size-less ones last, then by table and entry.
    symbols: Vec<Symbol>,
    /// The greatest end of the symbols up to each.
    reach: Vec<u64>,
    strings: Vec<SectionData>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    address: u64,
    end: u64,
    name_offset: u32,
    table: u8,
    local: bool,
    sized: bool,
}

/// The function that an address belongs to, by symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundSymbol {
    /// The name in the table, without its version.
    pub(super) linkage_name: String,
    pub(super) range: Range<u64>,
    pub(super) flags: FunctionFlags,
}

impl FoundSymbol {
    /// A stub that the linker made and gave no symbol.
    pub(super) fn stub(name: &str, start: u64) -> Self {
        Self { linkage_name: name.to_owned(), range: start..start, flags: FunctionFlags::Plain }
    }
}

impl SymbolTable {
    /// Reads the tables of the module and its debug file; what cannot be read counts as absent and is named.
    pub(super) fn read(images: &[&Image]) -> (Self, Vec<ImageError>) {
        let (mut table, mut problems) = (Self::default(), Vec::new());
        for image in images {
            for (symbols, strings) in [(".symtab", ".strtab"), (".dynsym", ".dynstr")] {
                if let Err(problem) = table.add(image, symbols, strings) {
                    problems.push(problem);
                }
            }
        }
        table.finish();
        (table, problems)
    }

    fn add(&mut self, image: &Image, symbols: &str, strings: &str) -> Result<(), ImageError> {
        let (Some(symbols), Some(strings)) = (image.section(symbols)?, image.section(strings)?) else {
            return Ok(());
        };
        let table = u8::try_from(self.strings.len()).unwrap_or(u8::MAX);
        let entries = symbols.chunks_exact(SYMBOL_BYTES).take(SYMBOLS_MAX);
        self.symbols.extend(entries.filter_map(|entry| Symbol::parse(entry, image.sections(), table)));
        self.strings.push(strings);
        Ok(())
    }

    fn finish(&mut self) {
        self.symbols.sort_unstable_by_key(|s| (s.address, !s.sized, s.table, s.name_offset));
        self.end_unsized_symbols_at_the_next();
        self.reach = self
            .symbols
            .iter()
            .scan(0, |reach, symbol| {
                *reach = symbol.end.max(*reach);
                Some(*reach)
            })
            .collect();
    }

    /// A symbol without a size reaches to the next one, or to the end of its section (where it was set to end).
    fn end_unsized_symbols_at_the_next(&mut self) {
        let mut next = u64::MAX;
        let mut at = u64::MAX;
        for symbol in self.symbols.iter_mut().rev() {
            if symbol.address != at {
                (next, at) = (at, symbol.address);
            }
            if !symbol.sized {
                symbol.end = symbol.end.min(next);
            }
        }
    }

    /// Where the function that holds `address` begins.
    pub(super) fn start_of(&self, address: u64) -> Option<u64> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let found = (0..after)
            .rev()
            .take(NESTING_MAX)
            .take_while(|index| self.reach.get(*index).is_some_and(|reach| *reach > address))
            .find_map(|index| self.symbols.get(index).filter(|symbol| symbol.end > address))?;
        Some(found.address)
    }

    /// The function that begins at exactly `address`: under the name `wanted` if it has it, else the best of its names.
    pub(super) fn at(&self, address: u64, wanted: &str) -> Option<FoundSymbol> {
        let from = self.symbols.partition_point(|symbol| symbol.address < address);
        let same = self.symbols.get(from..)?.iter().take_while(|symbol| symbol.address == address);
        // Where sized symbols stand, the others are labels inside assembly.
        let sized = same.clone().next()?.sized;
        let group: Vec<(&Symbol, &str)> = same
            .take(NESTING_MAX)
            .filter(|symbol| symbol.sized == sized)
            .map(|symbol| (symbol, self.name(symbol)))
            .filter(|(_, name)| !name.is_empty())
            .collect();
        let (best, name) = group.iter().min_by_key(|(symbol, name)| (*name != wanted, rank(symbol, name)))?;
        Some(FoundSymbol {
            linkage_name: (*name).to_owned(),
            range: best.address..best.end,
            flags: if is_folded(&group) { FunctionFlags::Folded } else { FunctionFlags::Plain },
        })
    }

    /// The addresses around one that no symbol holds.
    pub(super) fn gap(&self, address: u64) -> Range<u64> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = after.checked_sub(1).and_then(|index| self.reach.get(index)).copied().unwrap_or(0);
        let next = self.symbols.get(after).map_or(u64::MAX, |symbol| symbol.address);
        before.min(address)..next
    }

    fn name(&self, symbol: &Symbol) -> &str {
        let strings = self.strings.get(usize::from(symbol.table)).map_or(&[][..], |strings| strings);
        string_at(strings, symbol.name_offset)
    }
}

impl Symbol {
    /// A function, or a label in code; `None` for anything else.
    fn parse(entry: &[u8], sections: &[Section], table: u8) -> Option<Self> {
        let info = *entry.get(4)?;
        let section = u16::from_le_bytes(entry.get(6..8)?.try_into().ok()?);
        let address = u64::from_le_bytes(entry.get(8..16)?.try_into().ok()?);
        let size = u64::from_le_bytes(entry.get(16..24)?.try_into().ok()?);
        let name_offset = u32::from_le_bytes(entry.get(..4)?.try_into().ok()?);
        let holder = sections.get(usize::from(section)).filter(|s| s.executable && s.contains_svma(address));
        let is_function = match (info & 0xf, section) {
            (_, UNDEFINED) => false,
            (TYPE_FUNCTION | TYPE_INDIRECT_FUNCTION, _) => true,
            (TYPE_NONE, _) => holder.is_some(),
            _ => false,
        };
        let section_end = holder.map_or(address, |section| section.svma.saturating_add(section.size));
        is_function.then_some(Self {
            address,
            end: if size > 0 { address.saturating_add(size) } else { section_end.max(address) },
            name_offset,
            table,
            local: info >> 4 == BINDING_LOCAL,
            sized: size > 0,
        })
    }
}

const UNDEFINED: u16 = 0;
const TYPE_NONE: u8 = 0;
const TYPE_FUNCTION: u8 = 2;
const TYPE_INDIRECT_FUNCTION: u8 = 10;
const BINDING_LOCAL: u8 = 0;

/// The order in which names of one address are preferred: visible to others, few leading underscores, short.
fn rank<'a>(symbol: &Symbol, name: &'a str) -> (bool, usize, usize, &'a str) {
    let underscores = if is_mangled(name) { 0 } else { leading_underscores(name) };
    (symbol.local, underscores, name.len(), name)
}

/// Whether the names at one address are of different functions.
///
/// Names that one function has on purpose do not count: C's aliases, which libraries spell around the same word
/// (`malloc`, `__libc_malloc`), and the variants of a constructor, whose demangled names are equal.
fn is_folded(group: &[(&Symbol, &str)]) -> bool {
    let (mangled, plain): (Vec<&str>, Vec<&str>) =
        group.iter().map(|(_, name)| *name).partition(|n| is_mangled(n));
    let word = plain.iter().map(|name| name.trim_start_matches('_')).min_by_key(|name| (name.len(), *name));
    let is_other = |name: &&str| word.is_some_and(|word| !name.contains(word));
    let first = mangled.first().map(|name| demangle(name));
    mangled.iter().skip(1).any(|name| first.as_ref() != Some(&demangle(name)))
        || plain.iter().any(is_other)
        || (!mangled.is_empty() && !plain.is_empty())
}

fn leading_underscores(name: &str) -> usize {
    name.len() - name.trim_start_matches('_').len()
}

/// The text at `offset` of a string table, without a symbol version, cut at the limit; empty when it is not UTF-8.
pub(super) fn string_at(strings: &[u8], offset: u32) -> &str {
    let rest = strings.get(offset as usize..).unwrap_or_default();
    let rest = rest.get(..super::demangle::NAME_BYTES_MAX).unwrap_or(rest);
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let name = std::str::from_utf8(rest.get(..end).unwrap_or_default()).unwrap_or_default();
    cut(name.split_once('@').map_or(name, |(name, _version)| name))
}
