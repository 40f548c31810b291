//! Records that arrived after their time had been released: counted and located, by ring.

use crate::collector::RingId;

/// Late records of one ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// The ring.
    pub ring: RingId,
    /// How many.
    pub count: u64,
    /// The earliest of their times.
    pub from_ns: u64,
    /// The latest.
    pub until_ns: u64,
}

/// Late records of a recording.
#[derive(Debug, Clone, Default)]
pub struct LateRecords {
    /// Sorted by ring.
    rings: Vec<Late>,
}

impl LateRecords {
    pub(super) fn note(&mut self, ring: RingId, time_ns: u64) {
        match self.rings.binary_search_by_key(&ring, |late| late.ring) {
            Ok(index) => {
                if let Some(late) = self.rings.get_mut(index) {
                    late.count += 1;
                    late.from_ns = late.from_ns.min(time_ns);
                    late.until_ns = late.until_ns.max(time_ns);
                }
            }
            Err(index) => {
                self.rings.insert(index, Late { ring, count: 1, from_ns: time_ns, until_ns: time_ns });
            }
        }
    }

    /// How many in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.rings.iter().map(|late| late.count).sum()
    }

    /// By ring, in order.
    #[must_use]
    pub fn rings(&self) -> &[Late] {
        &self.rings
    }
}
