//! Visits the units whose time has come, and gives their batches back.

use super::key::{Key, Place};
use super::{Order, ROUNDS_WAITED_MAX, Unit};
use crate::records::{Problem, ProblemKind, decode};

impl Order {
    pub(super) fn visit_to(&mut self, complete_to_ns: u64, mut visit: impl FnMut(Unit<'_>)) {
        self.keys.sort_unstable_by_key(Key::rank);
        let count = self.keys.partition_point(|key| key.time_ns <= complete_to_ns);
        for index in 0..count {
            if let Some(key) = self.keys.get(index).copied() {
                self.visit_one(key, &mut visit);
            }
        }
        self.keys.drain(..count);
    }

    fn visit_one(&mut self, key: Key, visit: &mut impl FnMut(Unit<'_>)) {
        let decoded = match (key.is_sample, key.attached()) {
            (true, None) => self.visit_sample(key, visit),
            (true, Some(place)) => self.visit_pair(key, place, visit),
            (false, _) => self.visit_copy(key, visit),
        };
        if let Some(Err(kind)) = decoded {
            self.problem_at(key, kind);
        }
        self.release_key(key);
    }

    /// Samples are long and quickly done: they are read where the kernel wrote them.
    fn visit_sample(
        &mut self,
        key: Key,
        visit: &mut impl FnMut(Unit<'_>),
    ) -> Option<Result<(), ProblemKind>> {
        let [scratch, _] = &mut self.scratch;
        self.slots.with(key.place, scratch, |bytes| {
            decode(bytes, &self.layouts).map(|record| visit(key.unit(record, None)))
        })
    }

    /// What was attached is short and copied first: both mostly lie in one batch, which must not be held twice.
    fn visit_pair(
        &mut self,
        key: Key,
        place: Place,
        visit: &mut impl FnMut(Unit<'_>),
    ) -> Option<Result<(), ProblemKind>> {
        let [scratch, other] = &mut self.scratch;
        self.slots.copy(place, other)?;
        let attached = decode(other, &self.layouts);
        let decoded = self.slots.with(key.place, scratch, |bytes| {
            decode(bytes, &self.layouts).map(|record| visit(key.unit(record, attached.ok())))
        });
        if let Some(kind) = attached.err() {
            let bytes = u64::from(place.size);
            self.problems.note(Problem { kind, ring: key.ring(), position: key.position, bytes });
        }
        decoded
    }

    /// Other records are short, and a visit may open files: the collector must not wait for that.
    fn visit_copy(&mut self, key: Key, visit: &mut impl FnMut(Unit<'_>)) -> Option<Result<(), ProblemKind>> {
        let [scratch, _] = &mut self.scratch;
        self.slots.copy(key.place, scratch)?;
        Some(decode(scratch, &self.layouts).map(|record| visit(key.unit(record, None))))
    }

    fn release_key(&mut self, key: Key) {
        self.slots.release(key.place.slot);
        if let Some(place) = key.attached() {
            self.slots.release(place.slot);
        }
    }

    fn problem_at(&mut self, key: Key, kind: ProblemKind) {
        let bytes = u64::from(key.place.size);
        self.problems.note(Problem { kind, ring: key.ring(), position: key.position, bytes });
    }

    /// A record that states a time far ahead would hold its batch, and with it ring memory, for ever.
    pub(super) fn drop_impossible(&mut self) {
        let rounds = self.rounds;
        let waits = |key: &mut Key| rounds.wrapping_sub(key.round) > ROUNDS_WAITED_MAX;
        let dropped: Vec<Key> = self.keys.extract_if(.., waits).collect();
        for key in dropped {
            self.problem_at(key, ProblemKind::FutureTime { time_ns: key.time_ns });
            self.release_key(key);
        }
    }
}
