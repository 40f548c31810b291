//! Rules that were used before, by address space and address.
//!
//! ```text
//! slot   key = epoch << 48 | is caller << 47 | address      rule: a `PackedRule`
//! ```
//!
//! A slot is 16 bytes, so that four share a cache line and none straddles two.

use rustc_hash::FxHashMap;

use super::apply::GeneralRule;
use super::packed::PackedRule;
use super::{RawFrame, RawFrameKind};

/// Slots of the table: 256 KiB, of which a recording touches what its hot code needs.
const SLOTS_LOG2: u32 = 14;
/// General rules kept at once. Each may hold a copy of two entries: 70 MB when a hostile file makes all large.
const GENERAL_MAX: usize = 1024;
/// User addresses fit, but for the rare mapping that asks for five-level paging: those are looked up each time.
const ADDRESS_BITS: u32 = 47;
/// Where the epoch begins in a key.
const EPOCH_SHIFT: u32 = 48;

/// The rules one unwinder has used.
#[derive(Debug)]
pub(super) struct Cache {
    slots: Box<[Slot]>,
    general: Vec<GeneralRule>,
    epochs: Epochs,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: u64,
    rule: PackedRule,
}

/// No address space has epoch 0.
const EMPTY: Slot = Slot { key: 0, rule: PackedRule::ZERO };

/// Small numbers for the generations of code maps, so that a slot's key is one word.
#[derive(Debug, Default)]
struct Epochs {
    of: FxHashMap<u64, u16>,
    last: Option<(u64, u16)>,
}

impl Default for Cache {
    fn default() -> Self {
        let slots = vec![EMPTY; 1 << SLOTS_LOG2].into_boxed_slice();
        Self { slots, general: Vec::new(), epochs: Epochs::default() }
    }
}

/// The part of a key that names an address space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epoch(u64);

impl Cache {
    /// The epoch of a code map's generation. Empties the cache when the numbers run out: a number that came
    /// round again would find another address space's rules.
    pub(super) fn epoch(&mut self, generation: u64) -> Epoch {
        if let Some((last, epoch)) = self.epochs.last
            && last == generation
        {
            return Epoch(u64::from(epoch) << EPOCH_SHIFT);
        }
        if self.epochs.of.len() == usize::from(u16::MAX) {
            self.clear();
        }
        let next = u16::try_from(self.epochs.of.len() + 1).unwrap_or(u16::MAX);
        let epoch = *self.epochs.of.entry(generation).or_insert(next);
        self.epochs.last = Some((generation, epoch));
        Epoch(u64::from(epoch) << EPOCH_SHIFT)
    }

    /// The rule of a frame, if it was used before and not displaced.
    #[inline]
    pub(super) fn get(&self, epoch: Epoch, frame: RawFrame) -> Option<PackedRule> {
        let key = key(epoch, frame);
        let slot = self.slots.get(slot_of(key))?;
        (slot.key == key && is_kept(frame)).then_some(slot.rule)
    }

    /// Keeps a rule, or the lasting failure to find one.
    pub(super) fn insert(&mut self, epoch: Epoch, frame: RawFrame, rule: PackedRule) {
        let key = key(epoch, frame);
        if let Some(slot) = self.slots.get_mut(slot_of(key))
            && is_kept(frame)
        {
            *slot = Slot { key, rule };
        }
    }

    /// Keeps a rule of no common form.
    pub(super) fn add_general(&mut self, rule: GeneralRule) -> PackedRule {
        if self.general.len() == GENERAL_MAX {
            self.slots.fill(EMPTY);
            self.general.clear();
        }
        let index = i32::try_from(self.general.len()).unwrap_or(i32::MAX);
        self.general.push(rule);
        PackedRule::general(index)
    }

    /// A general rule by the offset of its packed form.
    pub(super) fn general(&self, rule: PackedRule) -> Option<&GeneralRule> {
        self.general.get(usize::try_from(rule.offset()).ok()?)
    }

    fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.general.clear();
        self.epochs = Epochs::default();
    }
}

#[inline]
fn key(epoch: Epoch, frame: RawFrame) -> u64 {
    epoch.0 | u64::from(frame.kind == RawFrameKind::ReturnAddress) << ADDRESS_BITS | frame.address
}

/// Addresses that do not fit would disturb the rest of the key.
#[inline]
fn is_kept(frame: RawFrame) -> bool {
    frame.address >> ADDRESS_BITS == 0
}

/// Fibonacci hashing: neighboring addresses and equal addresses of two epochs spread out.
#[inline]
fn slot_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS_LOG2)) as usize
}
