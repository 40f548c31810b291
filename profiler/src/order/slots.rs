//! Batches whose records are not all visited, each with how many are left. Slots are used again.

use super::key::Place;
use crate::collector::Batch;
use crate::records::Pieces;

#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Slot {
    batch: Option<Batch>,
    records_left: u32,
}

impl Slots {
    pub(super) fn insert(&mut self, batch: Batch) -> u32 {
        let slot = Slot { batch: Some(batch), records_left: 0 };
        if let Some(index) = self.free.pop() {
            if let Some(free) = self.slots.get_mut(index as usize) {
                *free = slot;
            }
            return index;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn take(&mut self, slot: u32) -> Option<Batch> {
        self.slots.get_mut(slot as usize)?.batch.take()
    }

    /// Puts a taken batch back, or drops it when no record of it waits.
    pub(super) fn put_back(&mut self, slot: u32, batch: Batch) {
        let Some(place) = self.slots.get_mut(slot as usize) else { return };
        if place.records_left > 0 {
            place.batch = Some(batch);
        } else {
            self.free.push(slot);
        }
    }

    /// One more record waits.
    pub(super) fn retain(&mut self, slot: u32) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            place.records_left += 1;
        }
    }

    /// One record less waits; the last one takes the batch with it.
    pub(super) fn release(&mut self, slot: u32) {
        let Some(place) = self.slots.get_mut(slot as usize) else { return };
        place.records_left = place.records_left.saturating_sub(1);
        if place.records_left == 0 {
            place.batch = None;
            self.free.push(slot);
        }
    }

    /// Reads a record's bytes while they are held in place.
    pub(super) fn with<R>(
        &self,
        place: Place,
        scratch: &mut Vec<u8>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        let hold = self.slots.get(place.slot as usize)?.batch.as_ref()?.read();
        let (first, second) = hold.parts();
        Some(read(Pieces::new(first, second).slice(place.range(), scratch)))
    }

    /// Copies a record's bytes, so that they need not be held.
    pub(super) fn copy(&self, place: Place, into: &mut Vec<u8>) -> Option<()> {
        let hold = self.slots.get(place.slot as usize)?.batch.as_ref()?.read();
        let (first, second) = hold.parts();
        Pieces::new(first, second).copy(place.range(), into);
        Some(())
    }

    pub(super) fn held(&self) -> usize {
        self.slots.iter().filter(|slot| slot.batch.is_some()).count()
    }
}
