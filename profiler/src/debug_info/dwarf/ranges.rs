//! Which addresses an entry covers, out of its `low_pc`, `high_pc` and `ranges` attributes.

use std::ops::Range;

use gimli::constants as dw;
use gimli::{Attribute, AttributeValue};

use crate::image::Image;

use super::sections::{Dwarf, GimliUnit, Slice};

/// Ranges of one entry at most; a unit of a link-time optimized program has one per function.
const RANGES_MAX: usize = 1 << 20;

/// Where a module has code.
pub(in super::super) struct Code(Vec<Range<u64>>);

impl Code {
    /// The executable sections of `image`, or its executable segments when it has no section headers.
    pub(in super::super) fn of(image: &Image) -> Self {
        let sections = image.sections().iter().filter(|section| section.executable && section.loaded);
        let mut ranges: Vec<_> = sections.map(|s| s.svma..s.svma.saturating_add(s.size)).collect();
        if ranges.is_empty() {
            let segments = image.loaded_segments().filter(|segment| segment.executable);
            ranges.extend(segments.map(|s| s.svma..s.svma.saturating_add(s.memory_bytes)));
        }
        Self(ranges)
    }

    /// Whether code lies at `address`. Linkers leave functions they threw away at 0, 1, or the highest addresses.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.0.iter().any(|range| range.contains(&address))
    }
}

/// The attributes that say which addresses an entry covers.
#[derive(Default)]
pub(super) struct RangeAttributes<'a> {
    low: Option<AttributeValue<Slice<'a>>>,
    high: Option<AttributeValue<Slice<'a>>>,
    list: Option<AttributeValue<Slice<'a>>>,
    entry: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> RangeAttributes<'a> {
    /// Keeps the attribute if it is one of them.
    pub(super) fn see(&mut self, attribute: &Attribute<Slice<'a>>) {
        let kept = match attribute.name() {
            dw::DW_AT_low_pc => &mut self.low,
            dw::DW_AT_high_pc => &mut self.high,
            dw::DW_AT_ranges => &mut self.list,
            dw::DW_AT_entry_pc => &mut self.entry,
            _ => return,
        };
        *kept = Some(attribute.value());
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_none() && self.high.is_none()
    }

    /// The value of `low_pc`.
    pub(super) fn low_pc(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Option<u64> {
        dwarf.attr_address(unit, self.low?).ok().flatten()
    }

    /// The address at which the entry is entered, if it says so.
    pub(super) fn entry(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Option<u64> {
        match self.entry? {
            AttributeValue::Udata(offset) => self.low_pc(dwarf, unit)?.checked_add(offset),
            value => dwarf.attr_address(unit, value).ok().flatten(),
        }
    }

    /// The ranges that lie in `code`, in the order they are written.
    pub(super) fn resolve(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, code: &Code) -> Vec<Range<u64>> {
        let mut ranges = match self.list {
            Some(_) => self.listed(dwarf, unit).unwrap_or_default(),
            None => self.single(dwarf, unit).into_iter().collect(),
        };
        ranges.retain(|range| range.start < range.end && code.contains(range.start));
        ranges
    }

    fn single(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Option<Range<u64>> {
        let low = self.low_pc(dwarf, unit)?;
        let high = match self.high? {
            AttributeValue::Udata(size) => low.checked_add(size)?,
            value => dwarf.attr_address(unit, value).ok().flatten()?,
        };
        Some(low..high)
    }

    fn listed(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Option<Vec<Range<u64>>> {
        let mut list = dwarf.attr_ranges(unit, self.list?).ok().flatten()?;
        let mut ranges = Vec::new();
        while let (Ok(Some(range)), true) = (list.next(), ranges.len() < RANGES_MAX) {
            ranges.push(range.begin..range.end);
        }
        Some(ranges)
    }
}
