//! The functions of a unit by address. Their inlined calls are parsed one function at a time.

use std::sync::OnceLock;

use gimli::UnitOffset;
use gimli::constants as dw;
use gimli::{Abbreviation, DwAt};

use super::inlines::Inlines;
use super::intervals::Intervals;
use super::ranges::{Code, RangeAttributes};
use super::sections::{Borrowed, Dwarf, GimliUnit, Slice};
use super::unit::Unit;

/// The functions of one unit that have code.
pub(super) struct Functions {
    functions: Vec<Function>,
    ranges: Intervals<u32>,
}

/// One function with code.
pub(super) struct Function {
    /// Its entry in the unit.
    pub(super) offset: UnitOffset,
    /// The address of its first instruction.
    pub(super) entry: u64,
    inlines: OnceLock<Inlines>,
}

impl Functions {
    /// Walks all entries of the unit. A malformed entry ends the walk; what was found before it stays.
    pub(super) fn parse<'a>(dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, code: &Code) -> Self {
        let (mut functions, mut ranges) = (Vec::new(), Vec::new());
        // The end of the entries is an error like any other.
        let _ = visit_functions(unit, |offset, attributes| {
            let covered = attributes.resolve(dwarf, unit, code);
            let Some(first) = covered.first() else { return };
            let entry = attributes.entry(dwarf, unit).unwrap_or(first.start);
            let index = u32::try_from(functions.len()).unwrap_or(u32::MAX);
            ranges.extend(covered.into_iter().map(|range| (range, index)));
            functions.push(Function { offset, entry, inlines: OnceLock::new() });
        });
        functions.shrink_to_fit();
        Self { functions, ranges: Intervals::new(ranges) }
    }

    /// The innermost function that holds `address`.
    pub(super) fn find(&self, address: u64) -> Option<&Function> {
        self.ranges.at(address).next().and_then(|index| self.functions.get(index as usize))
    }

    /// The memory it takes, about, without inlined calls.
    pub(super) fn bytes(&self) -> usize {
        self.functions.len() * size_of::<Function>() + self.ranges.bytes()
    }
}

impl Function {
    /// The calls inlined into the function.
    pub(super) fn inlines<'a>(&self, borrowed: &Borrowed<'a>, unit: &'a Unit, code: &Code) -> &Inlines {
        self.inlines.get_or_init(|| {
            let context = unit.dwarf(borrowed).zip(unit.context(borrowed));
            context.map_or_else(Inlines::default, |(dwarf, context)| {
                Inlines::parse(dwarf, unit, &context, self.offset, code)
            })
        })
    }
}

/// Calls `visit` with every subprogram entry that has addresses.
fn visit_functions<'a>(
    unit: &GimliUnit<'a>,
    mut visit: impl FnMut(UnitOffset, &RangeAttributes<'a>),
) -> gimli::Result<()> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let offset = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.tag() != dw::DW_TAG_subprogram || !has_addresses(abbreviation) {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let mut attributes = RangeAttributes::<'a>::default();
        for spec in abbreviation.attributes() {
            let attribute: gimli::Attribute<Slice<'a>> = entries.read_attribute(*spec)?;
            attributes.see(&attribute);
        }
        visit(offset, &attributes);
    }
    Ok(())
}

fn has_addresses(abbreviation: &Abbreviation) -> bool {
    const OF_ADDRESSES: [DwAt; 4] =
        [dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges, dw::DW_AT_entry_pc];
    abbreviation.attributes().iter().any(|spec| OF_ADDRESSES.contains(&spec.name()))
}
