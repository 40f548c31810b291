//! One round: every ring is drained to the queue, and space is made where the processor is slow.

use super::Drain;
use crate::collector::rings::OwnedRing;
use crate::collector::{Batch, Delivery, RingKind};

/// A record's time is read a moment before it is written; one that old has been written.
const SETTLE_NS: u64 = 1_000_000;
/// How often rounds are told while nothing happens.
const IDLE_ROUND_NS: u64 = 200_000_000;
/// Memory that copies of sample rings, and of side-band rings, may take.
const COPIED_SAMPLES_MAX: usize = 64 << 20;
const COPIED_SIDE_BAND_MAX: usize = 16 << 20;
/// Rounds that bytes call for: their own, and one by which the time of all of them has passed.
const ROUNDS_OWED: u8 = 2;

impl Drain {
    /// Drains every ring, and tells up to when that was everything.
    pub(super) fn round(&mut self) {
        let now_ns = self.kernel.now_ns();
        self.outbox.flush();
        let mut complete = true;
        let mut spare = self.spare_copies();
        for owned in self.rings.iter_mut() {
            owned.ring.reclaim();
            if self.outbox.is_behind() && !is_half_full(owned) {
                complete &= !owned.ring.has_pending();
                continue;
            }
            if let Some(span) = owned.ring.take() {
                self.progress.rounds_owed = ROUNDS_OWED;
                self.outbox.push(Delivery::Batch(Batch::lent(owned.id, span)));
            }
            self.progress.copied_bytes += make_room(owned, spare.of(owned.id.kind));
        }
        // Told to a processor that is behind, rounds would only pile up.
        if complete && !self.outbox.is_behind() {
            self.tell_round(now_ns);
        }
    }

    fn tell_round(&mut self, now_ns: u64) {
        let idle_ns = now_ns.saturating_sub(self.progress.last_round_ns);
        if self.progress.rounds_owed == 0 && idle_ns < IDLE_ROUND_NS {
            return;
        }
        self.progress.rounds_owed = self.progress.rounds_owed.saturating_sub(1);
        self.progress.last_round_ns = now_ns;
        self.outbox.push(Delivery::Round { complete_to_ns: now_ns.saturating_sub(SETTLE_NS) });
    }

    fn spare_copies(&self) -> SpareCopies {
        let mut spare = SpareCopies { samples: COPIED_SAMPLES_MAX, side_band: COPIED_SIDE_BAND_MAX };
        for owned in self.rings.iter() {
            let left = spare.of(owned.id.kind);
            *left = left.saturating_sub(owned.ring.copied_bytes());
        }
        spare
    }
}

/// How many more bytes may be copied.
struct SpareCopies {
    samples: usize,
    side_band: usize,
}

impl SpareCopies {
    fn of(&mut self, kind: RingKind) -> &mut usize {
        match kind {
            RingKind::Samples => &mut self.samples,
            RingKind::SideBand => &mut self.side_band,
        }
    }
}

fn is_half_full(owned: &OwnedRing) -> bool {
    owned.ring.used_bytes() > owned.ring.data_bytes() as u64 / 2
}

/// Copies what is out of a ring that runs full, so that the kernel can go on. Returns how many bytes that were.
fn make_room(owned: &mut OwnedRing, spare: &mut usize) -> u64 {
    let mut copied = 0;
    while is_half_full(owned) && owned.ring.is_lent() {
        let Some(length) = owned.ring.copy_oldest(*spare) else { break };
        *spare = spare.saturating_sub(length);
        copied += length as u64;
    }
    copied
}
