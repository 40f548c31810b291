//! What is parsed of whole units, bounded: beyond the limit the unit parsed first is dropped, and parsed again when an
//! address of it is asked for. Dropping changes how long a lookup takes, never its answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::functions::Functions;
use super::lines::Lines;
use super::ranges::Code;
use super::sections::Borrowed;
use super::unit::Unit;

/// Memory of one module's parsed units, about.
const BYTES_MAX: usize = 512 << 20;

/// A unit's functions and lines.
pub(super) struct UnitFacts {
    pub(super) functions: Functions,
    pub(super) lines: Lines,
}

/// Where a unit's facts are while they are kept.
pub(super) type FactsSlot = Arc<Mutex<Option<Arc<UnitFacts>>>>;

/// The units whose facts are kept, in the order they were parsed.
#[derive(Default)]
pub(super) struct FactsCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    slots: VecDeque<(FactsSlot, usize)>,
    bytes: usize,
}

impl FactsCache {
    /// The facts of `unit`, parsed now if they are not kept; `None` when the unit is malformed.
    pub(super) fn of<'a>(
        &self,
        unit: &'a Unit,
        borrowed: &Borrowed<'a>,
        code: &Code,
    ) -> Option<Arc<UnitFacts>> {
        let mut slot = lock(&unit.facts);
        if let Some(kept) = &*slot {
            return Some(Arc::clone(kept));
        }
        // Others who want the same unit wait here instead of parsing it too.
        let context = unit.context(borrowed)?;
        let functions = Functions::parse(unit.dwarf(borrowed)?, &context, code);
        let facts = Arc::new(UnitFacts { functions, lines: Lines::parse(borrowed, unit, &context, code) });
        *slot = Some(Arc::clone(&facts));
        drop(slot);
        self.keep(Arc::clone(&unit.facts), facts.bytes(context.header.length_including_self()));
        Some(facts)
    }

    fn keep(&self, slot: FactsSlot, bytes: usize) {
        let mut kept = lock(&self.0);
        kept.slots.push_back((slot, bytes));
        kept.bytes += bytes;
        while kept.bytes > BYTES_MAX && kept.slots.len() > 1 {
            let Some((dropped, bytes)) = kept.slots.pop_front() else { break };
            kept.bytes -= bytes;
            lock(&dropped).take();
        }
    }
}

impl UnitFacts {
    /// The memory it takes, about. The inlined calls, parsed later, take no more than their entries.
    fn bytes(&self, entries_bytes: usize) -> usize {
        self.functions.bytes() + self.lines.bytes() + entries_bytes
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
