//! DWARF: inline chains, files and lines of one module, versions 2 to 5.
//!
//! [`index`] tells which compile units an address may be in; a unit's functions and lines are parsed when one of its
//! addresses is first asked for, a function's inlined calls when one of its own is. What is parsed holds offsets, not
//! borrowed bytes, so it is shared between threads and dropped when there is too much of it.

mod cache;
mod files;
mod functions;
mod index;
mod inlines;
mod intervals;
mod lines;
mod naming;
mod ranges;
mod scopes;
mod sections;
mod unit;

use std::sync::Arc;

use crate::image::{Image, ImageError};

use super::{Level, SourceFile};

use cache::FactsCache;
use functions::Function;
use index::UnitIndex;
use inlines::Call;
use naming::Names;
use sections::{Borrowed, Sections};
use unit::Unit;

pub(super) use naming::Die;
pub(super) use ranges::Code;

/// Units that are tried for one address; more than one only where ranges overlap.
const UNITS_PER_ADDRESS_MAX: usize = 8;
/// Levels of one inline chain at most.
const DEPTH_MAX: usize = 256;

/// One module's DWARF sections and what was parsed of them.
pub(super) struct DwarfInfo {
    sections: Sections,
    code: Code,
    index: UnitIndex,
    names: Names,
    facts: FactsCache,
}

/// What DWARF says of an address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Innermost inlined function first, the physical one last; empty when no function holds the address.
    pub(super) levels: Vec<Level>,
    /// The physical function's entry, and its first address.
    pub(super) function: Option<Die>,
    pub(super) entry: u64,
    /// The file and line of the instruction itself; 0 when it belongs to no line.
    pub(super) file: Option<Arc<SourceFile>>,
    pub(super) line: u32,
}

impl DwarfInfo {
    /// Reads the sections of `image` and of its supplementary file; `None` when there is no debug information.
    /// Ranges outside `code` are of functions that the linker threw away.
    pub(super) fn load(
        image: &Image,
        supplementary: Option<&Image>,
        code: Code,
    ) -> Result<Option<Self>, ImageError> {
        let sections = Sections::load(image, supplementary)?;
        if sections.is_empty() {
            return Ok(None);
        }
        let index = UnitIndex::build(&sections.borrow(), &code);
        Ok(Some(Self { sections, code, index, names: Names::default(), facts: FactsCache::default() }))
    }

    /// What is known of the instruction at `address`; `None` when no unit holds it.
    pub(super) fn find(&self, address: u64) -> Option<Place> {
        let dwarf = self.sections.borrow();
        let mut lines_only = None;
        for unit in self.index.units_at(address).take(UNITS_PER_ADDRESS_MAX) {
            let place = self.find_in_unit(&dwarf, unit, address);
            match place {
                Some(place) if !place.levels.is_empty() => return Some(place),
                other => lines_only = lines_only.or(other),
            }
        }
        lines_only
    }

    fn find_in_unit(&self, dwarf: &Borrowed<'_>, unit: &Unit, address: u64) -> Option<Place> {
        let facts = self.facts.of(unit, dwarf, &self.code)?;
        let (file, line) =
            facts.lines.find(address).map_or((None, 0), |(index, line)| (unit.files(dwarf).get(index), line));
        let function = facts.functions.find(address);
        if function.is_none() && file.is_none() {
            return None;
        }
        let mut place = Place { levels: Vec::new(), function: None, entry: 0, file, line };
        if let Some(function) = function {
            place.function = Some(unit.die(function.offset));
            place.entry = function.entry;
            place.levels = self.chain(dwarf, unit, function, address, &place);
        }
        Some(place)
    }

    /// The levels of `function` at `address`, innermost first.
    fn chain(
        &self,
        dwarf: &Borrowed<'_>,
        unit: &Unit,
        function: &Function,
        address: u64,
        place: &Place,
    ) -> Vec<Level> {
        let inlines = function.inlines(dwarf, unit, &self.code);
        let calls: Vec<&Call> = inlines.chain(address).take(DEPTH_MAX).collect();
        let name = |die| self.names.of(dwarf, &self.index, die);
        // Outermost first: each call's place is where the function before it stands.
        let functions =
            [unit.die(function.offset)].into_iter().chain(calls.iter().filter_map(|call| call.origin));
        let call_places = calls.iter().map(|call| (unit.files(dwarf).get(call.file), call.line));
        let places = call_places.chain([(place.file.clone(), place.line)]);
        let mut levels: Vec<Level> = functions
            .zip(places)
            .map(|(die, (file, line))| Level { function: name(die), file, line })
            .collect();
        levels.reverse();
        levels
    }
}
