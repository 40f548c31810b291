//! The calls that were inlined into one function, as a tree over addresses.

use std::ops::Range;

use gimli::constants as dw;
use gimli::{Abbreviation, AttributeValue, EntriesRaw, UnitOffset};

use super::naming::Die;
use super::ranges::{Code, RangeAttributes};
use super::sections::{Dwarf, GimliUnit, Slice};
use super::unit::Unit;

/// Ranges of one parent that are tried for an address; more than one only where siblings overlap.
const TRIED_MAX: usize = 16;
/// The parent of calls inlined into the function itself.
const FUNCTION: u32 = u32::MAX;

/// The inlined calls of one function.
#[derive(Default)]
pub(super) struct Inlines {
    calls: Vec<Call>,
    /// Invariant: sorted by parent, then address.
    ranges: Vec<CallRange>,
}

/// One inlined call.
pub(super) struct Call {
    /// The inlined function.
    pub(super) origin: Option<Die>,
    /// Where it is called: a file of the unit, and a line.
    pub(super) file: u64,
    pub(super) line: u32,
}

struct CallRange {
    parent: u32,
    range: Range<u64>,
    call: u32,
}

impl Inlines {
    /// Walks the entries below the function at `offset`. A malformed entry ends the walk.
    pub(super) fn parse<'a>(
        dwarf: &Dwarf<'a>,
        unit: &Unit,
        context: &GimliUnit<'a>,
        offset: UnitOffset,
        code: &Code,
    ) -> Self {
        let mut walk = Walk { dwarf, unit, context, code, open: Vec::new(), found: Self::default() };
        // What was found before a malformed entry stays.
        let _ = walk.run(offset);
        let mut found = walk.found;
        found.ranges.sort_by_key(|r| (r.parent, r.range.start, r.call));
        found
    }

    /// The calls that hold `address`, outermost first.
    pub(super) fn chain(&self, address: u64) -> impl Iterator<Item = &Call> {
        let mut parent = FUNCTION;
        std::iter::from_fn(move || {
            parent = self.child(parent, address)?;
            self.calls.get(parent as usize)
        })
    }

    fn child(&self, parent: u32, address: u64) -> Option<u32> {
        let after = self.ranges.partition_point(|r| (r.parent, r.range.start) <= (parent, address));
        let before = self.ranges.get(..after)?.iter().rev().take(TRIED_MAX);
        let mut siblings = before.take_while(|r| r.parent == parent);
        siblings.find(|r| r.range.contains(&address)).map(|r| r.call)
    }
}

/// A walk over the entries below a function.
struct Walk<'w, 'a> {
    dwarf: &'w Dwarf<'a>,
    unit: &'w Unit,
    context: &'w GimliUnit<'a>,
    code: &'w Code,
    /// The inlined calls around the current entry, with the depth of each.
    open: Vec<(isize, u32)>,
    found: Inlines,
}

impl<'a> Walk<'_, 'a> {
    fn run(&mut self, offset: UnitOffset) -> gimli::Result<()> {
        let mut entries = self.context.entries_raw(Some(offset))?;
        let function = entries.read_abbreviation()?;
        if let Some(function) = function {
            entries.skip_attributes(function.attributes())?;
        }
        while entries.next_depth() > 0 && !entries.is_empty() {
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while self.open.last().is_some_and(|(at, _)| *at >= depth) {
                self.open.pop();
            }
            match abbreviation.tag() {
                dw::DW_TAG_inlined_subroutine => self.add_call(&mut entries, abbreviation, depth)?,
                dw::DW_TAG_subprogram => skip_below(&mut entries, abbreviation, depth)?,
                _ => entries.skip_attributes(abbreviation.attributes())?,
            }
        }
        Ok(())
    }

    fn add_call(
        &mut self,
        entries: &mut EntriesRaw<'_, Slice<'a>>,
        abbreviation: &Abbreviation,
        depth: isize,
    ) -> gimli::Result<()> {
        let mut ranges = RangeAttributes::default();
        let mut call = Call { origin: None, file: 0, line: 0 };
        for spec in abbreviation.attributes() {
            let attribute = entries.read_attribute(*spec)?;
            ranges.see(&attribute);
            match attribute.name() {
                dw::DW_AT_abstract_origin => call.origin = Die::referred(self.unit, attribute.value()),
                dw::DW_AT_call_file => call.file = file_index(&attribute.value()),
                dw::DW_AT_call_line => {
                    call.line = attribute.udata_value().and_then(|line| line.try_into().ok()).unwrap_or(0);
                }
                _ => {}
            }
        }
        let parent = self.open.last().map_or(FUNCTION, |(_, call)| *call);
        let index = u32::try_from(self.found.calls.len()).unwrap_or(u32::MAX);
        let covered = ranges.resolve(self.dwarf, self.context, self.code);
        let range = |range| CallRange { parent, range, call: index };
        self.found.ranges.extend(covered.into_iter().map(range));
        self.found.calls.push(call);
        if abbreviation.has_children() {
            self.open.push((depth, index));
        }
        Ok(())
    }
}

fn file_index(value: &AttributeValue<Slice<'_>>) -> u64 {
    match value {
        AttributeValue::FileIndex(index) => *index,
        other => other.udata_value().unwrap_or(0),
    }
}

/// Skips a nested function with all entries below it: its inlined calls are its own.
fn skip_below(
    entries: &mut EntriesRaw<'_, Slice<'_>>,
    abbreviation: &Abbreviation,
    depth: isize,
) -> gimli::Result<()> {
    entries.skip_attributes(abbreviation.attributes())?;
    while entries.next_depth() > depth && !entries.is_empty() {
        if let Some(below) = entries.read_abbreviation()? {
            entries.skip_attributes(below.attributes())?;
        }
    }
    Ok(())
}
