//! Which units an address may be in: built once, from the units' root entries alone.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{Abbreviations, DebugAbbrevOffset, UnitHeader, UnitType};

use super::intervals::Intervals;
use super::naming::Die;
use super::ranges::Code;
use super::sections::{Borrowed, Dwarf, Slice};
use super::unit::{Unit, root_attributes};

/// Units that are indexed at most; Chromium has about 30,000.
const UNITS_MAX: usize = 1 << 20;
/// Ranges that are indexed at most.
const RANGES_MAX: usize = 1 << 23;

/// The units of a module and of its supplementary file.
pub(super) struct UnitIndex {
    /// Invariant: sorted by offset.
    main: Vec<Unit>,
    supplementary: Vec<Unit>,
    /// Indexes into `main`.
    ranges: Intervals<u32>,
}

impl UnitIndex {
    pub(super) fn build(borrowed: &Borrowed<'_>, code: &Code) -> Self {
        let (main, ranges) = main_units(&borrowed.main, code);
        let supplementary = borrowed.supplementary.as_ref().map(supplementary_units).unwrap_or_default();
        Self { main, supplementary, ranges: Intervals::new(ranges) }
    }

    /// The units whose ranges hold `address`, the narrowest first.
    pub(super) fn units_at(&self, address: u64) -> impl Iterator<Item = &Unit> {
        self.ranges.at(address).filter_map(|index| self.main.get(index as usize))
    }

    /// The unit that an entry is in.
    pub(super) fn unit_of(&self, die: Die) -> Option<&Unit> {
        let units = if die.is_supplementary { &self.supplementary } else { &self.main };
        let after = units.partition_point(|unit| unit.offset <= die.offset);
        units.get(after.checked_sub(1)?)
    }
}

fn headers<'a>(dwarf: &Dwarf<'a>) -> impl Iterator<Item = (usize, UnitHeader<Slice<'a>>)> {
    let mut units = dwarf.units();
    // The first malformed header ends the list: where the next one begins is not known.
    std::iter::from_fn(move || units.next().ok().flatten())
        .take(UNITS_MAX)
        .filter(|header| !matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }))
        .map(|header| (header.offset().0, header))
}

fn supplementary_units(dwarf: &Dwarf<'_>) -> Vec<Unit> {
    headers(dwarf).map(|(offset, _)| Unit::new(offset, true)).collect()
}

fn main_units(dwarf: &Dwarf<'_>, code: &Code) -> (Vec<Unit>, Vec<(Range<u64>, u32)>) {
    let (mut units, mut ranges) = (Vec::new(), Vec::new());
    let mut shared = SharedAbbreviations::default();
    let mut without_ranges = HashMap::new();
    for (offset, header) in headers(dwarf) {
        let index = u32::try_from(units.len()).unwrap_or(u32::MAX);
        units.push(Unit::new(offset, false));
        let root = shared.of(dwarf, &header).and_then(|shared| root_attributes(dwarf, header, shared));
        let Some((context, root)) = root else { continue };
        if root.ranges.is_empty() {
            without_ranges.insert(offset, index);
        } else if ranges.len() < RANGES_MAX {
            ranges.extend(root.ranges.resolve(dwarf, &context, code).into_iter().map(|range| (range, index)));
        }
    }
    ranges.extend(from_aranges(dwarf, &without_ranges, code));
    (units, ranges)
}

/// Ranges that `.debug_aranges` has of units whose root entry has none.
fn from_aranges(dwarf: &Dwarf<'_>, wanted: &HashMap<usize, u32>, code: &Code) -> Vec<(Range<u64>, u32)> {
    let mut ranges = Vec::new();
    let mut headers = dwarf.debug_aranges.headers();
    while let (Ok(Some(header)), false) = (headers.next(), wanted.is_empty()) {
        let Some(unit) = wanted.get(&header.debug_info_offset().0) else { continue };
        let mut entries = header.entries();
        while let (Ok(Some(entry)), true) = (entries.next(), ranges.len() < RANGES_MAX) {
            let range = entry.range();
            if code.contains(range.begin) && range.begin < range.end {
                ranges.push((range.begin..range.end, *unit));
            }
        }
    }
    ranges
}

/// The last table of abbreviations: compilers that share one do so in sequence, linkers keep one per unit.
#[derive(Default)]
struct SharedAbbreviations(Option<(DebugAbbrevOffset, Arc<Abbreviations>)>);

impl SharedAbbreviations {
    fn of(&mut self, dwarf: &Dwarf<'_>, header: &UnitHeader<Slice<'_>>) -> Option<Arc<Abbreviations>> {
        let offset = header.debug_abbrev_offset();
        if let Some((_, last)) = self.0.as_ref().filter(|(at, _)| *at == offset) {
            return Some(Arc::clone(last));
        }
        let parsed = dwarf.abbreviations(header).ok()?;
        self.0 = Some((offset, Arc::clone(&parsed)));
        Some(parsed)
    }
}
