//! Rules in one word.
//!
//! ```text
//! form << 48 | rbp's slot << 32 | offset of the frame address
//! ```
//!
//! The rules of nearly all code fit: the frame address is the stack or frame pointer plus a constant, the
//! return address lies just below it, and rbp is unchanged or saved near it. Everything else is an index
//! into a side table of general rules.

use microscope_capture::EndReason;

use super::rule::{FrameAddress, Rule, Where};
use crate::registers::{RBP, RIP, RSP};

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
    /// All bits zero: what an unused slot holds.
    pub(super) const ZERO: Self = Self(0);

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

    /// The general rule at an index of a side table.
    pub(super) fn general(index: i32) -> Self {
        Self::new(Form::General, index, 0)
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
