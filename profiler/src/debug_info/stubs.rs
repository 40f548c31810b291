//! Names of the linker's stubs: `foo@plt`.
//!
//! Proved from bytes, since linkers differ in how they lay stubs out and name none of them: a stub jumps through a
//! slot (`jmp *slot(%rip)`), and a relocation says whose address the slot gets. With lazy binding and IBT the first of
//! two stubs pushes the relocation's index instead.

use std::collections::HashMap;
use std::ops::Range;

use crate::image::{Image, SectionData};

use super::symbols::{SymbolTable, string_at};

const MACHINE_X86_64: u16 = 62;
const RELOCATION_BYTES: usize = 24;
const RELOCATIONS_MAX: usize = 1 << 20;
const SYMBOL_BYTES: usize = 24;

/// `jmp *slot(%rip)`.
const JUMP_BYTES: usize = 6;

const SETS_SLOT: u32 = 6;
const JUMP_SLOT: u32 = 7;
const INDIRECT_RELATIVE: u32 = 37;

/// The stubs of a module.
#[derive(Default)]
pub(super) struct Stubs {
    /// Invariant: sorted, disjoint.
    stubs: Vec<(Range<u64>, String)>,
    /// The sections that hold nothing but stubs, with their names.
    sections: Vec<(Range<u64>, Box<str>)>,
}

impl Stubs {
    /// Reads the stubs of `image`; `symbols` names the resolvers of indirect functions.
    pub(super) fn read(image: &Image, symbols: &SymbolTable) -> Self {
        if image.machine() != MACHINE_X86_64 {
            return Self::default();
        }
        let slots = Slots::read(image, symbols);
        let mut found = Self::default();
        for section in image.sections().iter().filter(|s| s.executable && s.name.starts_with(".plt")) {
            let range = section.svma..section.svma.saturating_add(section.size);
            found.sections.push((range, section.name.clone()));
            if let Ok(Some(code)) = image.section(&section.name) {
                found.stubs.extend(slots.stubs_in(&code));
            }
        }
        found.stubs.sort_by_key(|(range, _)| range.start);
        found
    }

    /// The name of the stub at `address`, and where the stub begins.
    pub(super) fn find(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.stubs.partition_point(|(range, _)| range.start <= address);
        let stub = after.checked_sub(1).and_then(|index| self.stubs.get(index));
        if let Some((range, name)) = stub.filter(|(range, _)| range.contains(&address)) {
            return Some((name, range.start));
        }
        self.sections
            .iter()
            .find(|(range, _)| range.contains(&address))
            .map(|(range, name)| (&**name, range.start))
    }
}

/// What the slots that stubs jump through are for.
struct Slots {
    by_address: HashMap<u64, String>,
    /// The names of `.rela.plt`, in order.
    by_index: Vec<String>,
}

impl Slots {
    fn read(image: &Image, symbols: &SymbolTable) -> Self {
        let mut slots = Self { by_address: HashMap::new(), by_index: Vec::new() };
        let table = |name| image.section(name).ok().flatten();
        let (names, strings) = (table(".dynsym"), table(".dynstr"));
        let namer = Relocations { names, strings, symbols };
        for section in [".rela.dyn", ".rela.plt"] {
            let Some(data) = table(section) else { continue };
            for entry in data.chunks_exact(RELOCATION_BYTES).take(RELOCATIONS_MAX) {
                let named = namer.name(entry);
                if section == ".rela.plt" {
                    slots.by_index.push(named.as_ref().map_or_else(String::new, |(_, name)| name.clone()));
                }
                slots.by_address.extend(named);
            }
        }
        slots
    }

    fn stubs_in(&self, code: &SectionData) -> Vec<(Range<u64>, String)> {
        let step =
            if self.jump_slot(code, 0).is_some() && self.jump_slot(code, 8).is_some() { 8 } else { 16 };
        let starts = (0..code.len()).step_by(step);
        starts.filter_map(|at| self.stub_at(code, at, step)).collect()
    }

    fn stub_at(&self, code: &SectionData, at: usize, size: usize) -> Option<(Range<u64>, String)> {
        let rest = code.get(at..)?;
        let body = rest.get(..size).unwrap_or(rest);
        let jump =
            (0..size).find_map(|into| self.jump_slot(code, at + into).filter(|_| into + JUMP_BYTES <= size));
        let name = jump.or_else(|| pushed_index(body).and_then(|index| self.by_index.get(index)))?;
        let start = code.svma.checked_add(at as u64)?;
        Some((start..start.checked_add(size as u64)?, format!("{name}@plt")))
    }

    /// The name of the slot that a `jmp *slot(%rip)` at `at` goes through.
    fn jump_slot(&self, code: &SectionData, at: usize) -> Option<&String> {
        let displacement = code.get(at..)?.strip_prefix(&[0xff, 0x25])?.first_chunk::<4>()?;
        let next = code.svma.checked_add((at + JUMP_BYTES) as u64)?;
        self.by_address.get(&next.checked_add_signed(i64::from(i32::from_le_bytes(*displacement)))?)
    }
}

/// The index that `endbr64; push $index` of a lazily bound stub pushes.
fn pushed_index(body: &[u8]) -> Option<usize> {
    let index = body.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68])?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*index)).ok()
}

/// What is needed to name a relocation.
struct Relocations<'a> {
    names: Option<SectionData>,
    strings: Option<SectionData>,
    symbols: &'a SymbolTable,
}

impl Relocations<'_> {
    /// The slot that a relocation fills, and with whose address.
    fn name(&self, entry: &[u8]) -> Option<(u64, String)> {
        let field = |at: usize| entry.get(at..at + 8)?.first_chunk::<8>().copied().map(u64::from_le_bytes);
        let (slot, info, addend) = (field(0)?, field(8)?, field(16)?);
        let name = match (info & 0xffff_ffff) as u32 {
            SETS_SLOT | JUMP_SLOT => self.symbol_name((info >> 32) as usize)?,
            INDIRECT_RELATIVE => self.symbols.at(addend, "")?.linkage_name,
            _ => return None,
        };
        (!name.is_empty()).then_some((slot, name))
    }

    fn symbol_name(&self, index: usize) -> Option<String> {
        let at = index.checked_mul(SYMBOL_BYTES)?;
        let offset = self.names.as_ref()?.get(at..)?.first_chunk::<4>()?;
        Some(string_at(self.strings.as_ref()?, u32::from_le_bytes(*offset)).to_owned())
    }
}
