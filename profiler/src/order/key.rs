//! What is sorted: one small key for each unit.

use std::ops::Range;

use super::Unit;
use crate::collector::{RingId, RingKind};
use crate::records::Record;

/// Where a record's bytes are. Records are at most 64 KiB, batches less than 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slot: u32,
    pub(super) offset: u32,
    pub(super) size: u16,
}

impl Place {
    /// In no slot.
    const NOWHERE: Self = Self { slot: u32::MAX, offset: 0, size: 0 };

    pub(super) fn new(slot: u32, range: &Range<usize>) -> Self {
        let offset = u32::try_from(range.start).unwrap_or(u32::MAX);
        Self { slot, offset, size: u16::try_from(range.len()).unwrap_or(u16::MAX) }
    }

    pub(super) const fn range(self) -> Range<usize> {
        let start = self.offset as usize;
        start..start + self.size as usize
    }
}

/// A unit's time, origin and places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) time_ns: u64,
    pub(super) position: u64,
    /// The ring's kind in the highest bit, its processor below.
    ring: u32,
    /// How many rounds had been released when it arrived.
    pub(super) round: u32,
    pub(super) place: Place,
    attached: Place,
    pub(super) is_sample: bool,
    pub(super) is_late: bool,
}

const SAMPLES: u32 = 1 << 31;

impl Key {
    pub(super) const fn new(time_ns: u64, ring: RingId, position: u64, place: Place, round: u32) -> Self {
        let ring = match ring.kind {
            RingKind::SideBand => ring.cpu,
            RingKind::Samples => ring.cpu | SAMPLES,
        };
        Self {
            time_ns,
            position,
            ring,
            round,
            place,
            attached: Place::NOWHERE,
            is_sample: false,
            is_late: false,
        }
    }

    /// At equal times mappings, names and tasks come before the samples that need them.
    pub(super) const fn rank(&self) -> (u64, u32, u64) {
        (self.time_ns, self.ring, self.position)
    }

    pub(super) const fn ring(self) -> RingId {
        let kind = if self.ring & SAMPLES == 0 { RingKind::SideBand } else { RingKind::Samples };
        RingId { cpu: self.ring & !SAMPLES, kind }
    }

    pub(super) fn attach(&mut self, place: Place) {
        self.attached = place;
    }

    pub(super) fn attached(self) -> Option<Place> {
        (self.attached != Place::NOWHERE).then_some(self.attached)
    }

    pub(super) const fn unit<'a>(self, record: Record<'a>, attached: Option<Record<'a>>) -> Unit<'a> {
        Unit { ring: self.ring(), position: self.position, is_late: self.is_late, attached, record }
    }
}
