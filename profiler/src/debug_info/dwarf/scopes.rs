//! The namespaces and types of a unit, for functions that have no linkage name to tell them.

use gimli::UnitOffset;
use gimli::constants as dw;

use super::sections::GimliUnit;

/// Scopes around one entry at most.
const DEPTH_MAX: usize = 64;

/// The scopes of a unit.
#[derive(Default)]
pub(super) struct Scopes {
    /// Invariant: sorted by beginning; a scope lies inside its parent, which comes before it.
    scopes: Vec<Scope>,
}

struct Scope {
    begin: usize,
    end: usize,
    parent: Option<u32>,
}

impl Scopes {
    /// Walks all entries of a unit. A malformed entry ends the walk and every open scope.
    pub(super) fn parse(unit: &GimliUnit<'_>) -> Self {
        let mut walk = Walk::default();
        // What was found before a malformed entry stays.
        let _ = walk.run(unit);
        walk.close_from(isize::MIN, usize::MAX);
        walk.found
    }

    /// The scopes around the entry at `offset`, outermost first.
    pub(super) fn around(&self, offset: UnitOffset) -> Vec<UnitOffset> {
        let after = self.scopes.partition_point(|scope| scope.begin < offset.0);
        let mut next = after.checked_sub(1);
        let mut around = Vec::new();
        while let Some(scope) = next.and_then(|index| self.scopes.get(index)) {
            if scope.end > offset.0 {
                around.push(UnitOffset(scope.begin));
            }
            next = scope.parent.map(|parent| parent as usize).filter(|_| around.len() < DEPTH_MAX);
        }
        around.reverse();
        around
    }
}

#[derive(Default)]
struct Walk {
    found: Scopes,
    /// The scopes around the current entry, with the depth of each.
    open: Vec<(isize, u32)>,
}

impl Walk {
    fn run(&mut self, unit: &GimliUnit<'_>) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            self.close_from(depth, offset.0);
            if abbreviation.has_children() && is_scope(abbreviation.tag()) {
                self.open_at(depth, offset.0);
            }
            entries.skip_attributes(abbreviation.attributes())?;
        }
        Ok(())
    }

    fn open_at(&mut self, depth: isize, begin: usize) {
        let index = u32::try_from(self.found.scopes.len()).unwrap_or(u32::MAX);
        let parent = self.open.last().map(|(_, parent)| *parent);
        self.found.scopes.push(Scope { begin, end: begin, parent });
        self.open.push((depth, index));
    }

    /// Ends the open scopes at `depth` and below it.
    fn close_from(&mut self, depth: isize, end: usize) {
        while let Some((_, index)) = self.open.pop_if(|(at, _)| *at >= depth) {
            if let Some(scope) = self.found.scopes.get_mut(index as usize) {
                scope.end = end;
            }
        }
    }
}

fn is_scope(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_namespace
            | dw::DW_TAG_class_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
    )
}
