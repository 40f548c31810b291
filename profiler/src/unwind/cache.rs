//! Rules that were used before, by address space and address.
//!
//! ```text
//! slot   key  = epoch << 48 | is caller << 47 | address    rule = form << 48 | rbp slot << 32 | frame offset
//! ```
//!
//! A slot is 16 bytes, so that four share a cache line and none straddles two. The rules of nearly all code
//! fit: the frame address is the stack or frame pointer plus a constant, the return address lies just
//! below it, and rbp is unchanged or saved near it. Everything else is an index into a side table.

use microscope_capture::EndReason;
use rustc_hash::FxHashMap;

use super::apply::GeneralRule;
use super::rule::{FrameAddress, Rule, Where};
use super::{RawFrame, RawFrameKind};
use crate::registers::{RBP, RIP, RSP};

/// Slots of the table: 256 KiB, of which a recording touches what its hot code needs.
const SLOTS_LOG2: u32 = 14;
/// General rules kept at once. Each may hold a copy of two entries: 70 MB when a hostile file makes all large.
const GENERAL_MAX: usize = 1024;
/// User addresses fit, but for the rare mapping that asks for five-level paging: those are looked up each time.
const ADDRESS_BITS: u32 = 47;
/// Where the epoch begins in a key.
const EPOCH_SHIFT: u32 = 48;

/// A rule in the form the hot loop runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedRule(u64);

/// What a packed rule says to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Form {
    /// The frame address is the stack pointer plus the offset.
    OnStackPointer = 0,
    /// The frame address is rbp plus the offset.
    OnFramePointer = 1,
    /// There is no caller.
    Outermost = 2,
    /// The offset is the index of a general rule.
    General = 3,
    /// No rule covers the address.
    NoRule = 4,
    /// The rule is malformed or of a form that is not evaluated.
    BadRule = 5,
}

impl PackedRule {
    fn new(form: Form, offset: i32, bp_offset: i16) -> Self {
        let bits = u64::from(offset.cast_unsigned()) | u64::from(bp_offset.cast_unsigned()) << 32;
        Self(bits | (form as u64) << 48)
    }

    /// What is kept of a failed search; `None` for reasons that may not last.
    pub(super) fn failed(reason: EndReason) -> Option<Self> {
        match reason {
            EndReason::NoRule => Some(Self::new(Form::NoRule, 0, 0)),
            EndReason::BadRule => Some(Self::new(Form::BadRule, 0, 0)),
            _ => None,
        }
    }

    /// Packs a rule, if it is one of the common forms.
    pub(super) fn pack(rule: &Rule) -> Option<Self> {
        let at = |register: u8| rule.registers[usize::from(register)];
        if at(RIP) == Where::Undefined {
            return Some(Self::new(Form::Outermost, 0, 0));
        }
        let FrameAddress::Offset { register, offset } = rule.frame else { return None };
        let form = match register {
            RSP => Form::OnStackPointer,
            RBP => Form::OnFramePointer,
            _ => return None,
        };
        let is_plain = at(RIP) == Where::At(-8) && at(RSP) == Where::Unspecified && !rule.is_signal;
        let bp_offset = match at(RBP) {
            Where::Unspecified | Where::Same => 0,
            Where::At(offset) => i16::try_from(offset).ok().filter(|offset| *offset != 0)?,
            _ => return None,
        };
        is_plain.then(|| Self::new(form, offset, bp_offset))
    }

    /// What to do.
    #[inline]
    pub(super) fn form(self) -> Form {
        match self.0 >> 48 {
            0 => Form::OnStackPointer,
            1 => Form::OnFramePointer,
            2 => Form::Outermost,
            3 => Form::General,
            4 => Form::NoRule,
            _ => Form::BadRule,
        }
    }

    /// Whether the caller is in the record that rbp points to: its rbp, then the return address.
    pub(super) fn is_frame_record(self) -> bool {
        self == Self::new(Form::OnFramePointer, 16, -16)
    }

    /// Whether it is one of the first two forms.
    #[inline]
    pub(super) fn is_plain(self) -> bool {
        self.0 >> 48 <= Form::OnFramePointer as u64
    }

    /// Whether a plain rule counts from rbp.
    #[inline]
    pub(super) fn is_on_frame_pointer(self) -> bool {
        self.0 >> 48 == Form::OnFramePointer as u64
    }

    /// The offset, or what the form says it is.
    #[inline]
    pub(super) fn offset(self) -> i32 {
        self.0 as u32 as i32
    }

    /// Where rbp is saved, from the frame address; 0 when it is unchanged.
    #[inline]
    pub(super) fn bp_offset(self) -> i16 {
        (self.0 >> 32) as u16 as i16
    }
}

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
const EMPTY: Slot = Slot { key: 0, rule: PackedRule(0) };

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
        PackedRule::new(Form::General, index, 0)
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

/// Fibonacci hashing: neighbouring addresses and equal addresses of two epochs spread out.
#[inline]
fn slot_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS_LOG2)) as usize
}
