//! Merges the rings' records by time.
//!
//! [`Order::push`] takes batches and keeps a small key for each record; [`Order::release`] visits, in the order
//! of (time, ring, position), everything up to the time that a round is complete to. A batch is dropped, and
//! its ring memory returned, once its last record was visited. Nothing is allocated per record.
//!
//! A sample and what a program attached to it right before it in its ring are one [`Unit`]: they are paired by
//! place, never by time. What arrives after its time was released is visited at the next release, marked late.

mod key;
mod late;
mod slots;
#[cfg(test)]
mod tests;
mod visit;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::collector::{Batch, EventLayout, RingId};
use crate::records::{
    BadLayout, Glance, GlanceKind, Layout, Layouts, Pieces, Problem, Problems, Record, glance,
};
use key::{Key, Place};
use slots::Slots;

pub use late::{Late, LateRecords};

/// Rounds a record may wait for its time to come; one that waits longer states a time that cannot be.
const ROUNDS_WAITED_MAX: u32 = 500;

/// What is visited at once.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    /// The ring it came from.
    pub ring: RingId,
    /// Where it began there.
    pub position: u64,
    /// Whether its time had already been released when it arrived.
    pub is_late: bool,
    /// What a program wrote for the sample that [`Self::record`] is.
    pub attached: Option<Record<'a>>,
    /// The record.
    pub record: Record<'a>,
}

/// Batches that wait for their time.
#[derive(Debug, Default)]
pub struct Order {
    layouts: Layouts,
    slots: Slots,
    keys: Vec<Key>,
    /// An output whose sample is not there yet, by ring.
    unpaired: FxHashMap<RingId, Unpaired>,
    scratch: [Vec<u8>; 2],
    released_to_ns: u64,
    rounds: u32,
    late: LateRecords,
    problems: Problems,
}

#[derive(Debug, Clone, Copy)]
struct Unpaired {
    key: Key,
    pid: u32,
    tid: u32,
}

impl Order {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns how the records of further events are laid out.
    pub fn add_events<'e>(
        &mut self,
        events: impl IntoIterator<Item = &'e EventLayout>,
    ) -> Result<(), BadLayout> {
        self.add_layouts(events.into_iter().map(Layout::from))
    }

    /// The same for layouts that no collector made.
    pub fn add_layouts(&mut self, layouts: impl IntoIterator<Item = Layout>) -> Result<(), BadLayout> {
        layouts.into_iter().try_for_each(|layout| self.layouts.add(layout))
    }

    /// The layouts learned.
    #[must_use]
    pub const fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Takes a batch: notes the time of each record.
    pub fn push(&mut self, batch: Batch) {
        let (ring, position) = (batch.ring(), batch.position());
        let slot = self.slots.insert(batch);
        // The batch is out of the slots while its records are noted, since noting them changes the slots.
        let Some(batch) = self.slots.take(slot) else { return };
        {
            let hold = batch.read();
            let (first, second) = hold.parts();
            let pieces = Pieces::new(first, second);
            let mut done = 0;
            for cut in pieces.cuts() {
                let left = (pieces.len() - done) as u64;
                let at = position.saturating_add(done as u64);
                match cut {
                    Ok(range) => {
                        done = range.end;
                        self.note(ring, at, slot, range, pieces);
                    }
                    Err(kind) => self.problems.note(Problem { kind, ring, position: at, bytes: left }),
                }
            }
        }
        self.slots.put_back(slot, batch);
    }

    fn note(&mut self, ring: RingId, position: u64, slot: u32, range: Range<usize>, pieces: Pieces<'_>) {
        let place = Place::new(slot, &range);
        let bytes = range.len() as u64;
        match glance(pieces.slice(range, &mut self.scratch[0]), &self.layouts) {
            Ok(seen) => {
                let is_late = seen.time_ns < self.released_to_ns;
                let is_sample = seen.kind == GlanceKind::Sample;
                let mut key = Key::new(seen.time_ns, ring, position, place, self.rounds);
                (key.is_sample, key.is_late) = (is_sample, is_late);
                self.slots.retain(slot);
                self.pair(seen, key);
            }
            Err(kind) => self.problems.note(Problem { kind, ring, position, bytes }),
        }
    }

    /// Joins a sample with the output right before it in its ring.
    fn pair(&mut self, seen: Glance, mut key: Key) {
        let ring = key.ring();
        if let Some(before) = self.unpaired.remove(&ring) {
            let is_pair = seen.kind == GlanceKind::Sample && (before.pid, before.tid) == (seen.pid, seen.tid);
            if is_pair {
                key.attach(before.key.place);
            } else {
                self.add(before.key);
            }
        }
        if seen.kind == GlanceKind::Output {
            self.unpaired.insert(ring, Unpaired { key, pid: seen.pid, tid: seen.tid });
        } else {
            self.add(key);
        }
    }

    fn add(&mut self, key: Key) {
        if key.is_late {
            self.late.note(key.ring(), key.time_ns);
        }
        self.keys.push(key);
    }

    /// Visits, in order, every record up to `complete_to_ns`.
    pub fn release(&mut self, complete_to_ns: u64, visit: impl FnMut(Unit<'_>)) {
        self.rounds = self.rounds.wrapping_add(1);
        self.visit_to(complete_to_ns, visit);
        self.drop_impossible();
        self.released_to_ns = self.released_to_ns.max(complete_to_ns);
    }

    /// Visits everything that is left: nothing more will come.
    pub fn finish(&mut self, visit: impl FnMut(Unit<'_>)) {
        let unpaired: Vec<Key> = self.unpaired.drain().map(|(_, output)| output.key).collect();
        for key in unpaired {
            self.add(key);
        }
        self.visit_to(u64::MAX, visit);
    }

    /// Records that arrived after their time had been released, by ring.
    #[must_use]
    pub const fn late(&self) -> &LateRecords {
        &self.late
    }

    /// Bytes that were no records.
    #[must_use]
    pub const fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Batches held.
    #[must_use]
    pub fn batches_held(&self) -> usize {
        self.slots.held()
    }
}
