//! Applies a rule to a frame's registers: the caller's registers.
//!
//! This is the general step, used for rules the packed form cannot hold and where more registers
//! than three are needed; it is also what the packed step is tested against.

use microscope_capture::EndReason;

use super::expression::evaluate;
use super::rule::{Expression, FrameAddress, Rule, Where, callee_keeps};
use super::{RawFrameKind, StackReader};
use crate::registers::{REGISTER_COUNT, RIP, RSP, Registers};

/// A rule that owns the entries its expressions lie in.
#[derive(Debug)]
pub(super) struct GeneralRule {
    /// The rule.
    pub rule: Rule,
    common: Box<[u8]>,
    description: Box<[u8]>,
}

/// What a frame is called from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// The rule says there is none.
    None,
    /// A frame with these registers, its address in the instruction pointer.
    Frame(Registers),
}

impl GeneralRule {
    /// A rule and the bytes of the entries its expressions lie in.
    pub(super) fn new(rule: Rule, common: &[u8], description: &[u8]) -> Self {
        Self { rule, common: common.into(), description: description.into() }
    }

    /// The caller's registers; those the rule cannot recover become unknown.
    pub(super) fn caller(
        &self,
        frame: &Registers,
        kind: RawFrameKind,
        memory: &impl StackReader,
    ) -> Result<Caller, EndReason> {
        if self.rule.registers[usize::from(RIP)] == Where::Undefined {
            return Ok(Caller::None);
        }
        let step = Step { rule: self, frame, address: self.frame_address(frame, memory)?, kind, memory };
        let mut caller = Registers::default();
        for number in (0..).take(REGISTER_COUNT - 1) {
            if let Ok(value) = step.value(number) {
                caller.set(number, value);
            }
        }
        caller.set(RIP, step.value(RIP)?);
        Ok(Caller::Frame(caller))
    }

    fn frame_address(&self, frame: &Registers, memory: &impl StackReader) -> Result<u64, EndReason> {
        match self.rule.frame {
            FrameAddress::Offset { register, offset } => {
                let base = frame.get(register).ok_or(EndReason::NoRegister)?;
                Ok(base.wrapping_add_signed(i64::from(offset)))
            }
            FrameAddress::Expression(place) => evaluate(self.bytes(place)?, None, frame, memory),
            FrameAddress::Missing => Err(EndReason::BadRule),
        }
    }

    fn bytes(&self, place: Expression) -> Result<&[u8], EndReason> {
        place.bytes(&self.common, &self.description).ok_or(EndReason::BadRule)
    }
}

/// One step from a frame to its caller, its frame address known.
struct Step<'a, M> {
    rule: &'a GeneralRule,
    frame: &'a Registers,
    address: u64,
    kind: RawFrameKind,
    memory: &'a M,
}

impl<M: StackReader> Step<'_, M> {
    fn value(&self, number: u8) -> Result<u64, EndReason> {
        let own = self.frame.get(number).ok_or(EndReason::NoRegister);
        match self.rule.rule.registers[usize::from(number)] {
            Where::Unspecified if number == RSP => Ok(self.address),
            Where::Unspecified if number == RIP => Err(EndReason::BadRule),
            Where::Unspecified if !callee_keeps(number) => Err(EndReason::NoRegister),
            Where::Unspecified | Where::Same => own,
            Where::Undefined => Err(EndReason::NoRegister),
            Where::At(offset) => self.memory.word(self.frame_plus(offset)),
            Where::Is(offset) => Ok(self.frame_plus(offset)),
            Where::Register(other) => self.frame.get(other).ok_or(EndReason::NoRegister),
            Where::AtExpression(place) => match self.evaluate(place)? {
                slot if self.was_restored(slot) => own,
                slot => self.memory.word(slot),
            },
            Where::IsExpression(place) => self.evaluate(place),
        }
    }

    fn frame_plus(&self, offset: i32) -> u64 {
        self.address.wrapping_add_signed(i64::from(offset))
    }

    fn evaluate(&self, place: Expression) -> Result<u64, EndReason> {
        evaluate(self.rule.bytes(place)?, Some(self.address), self.frame, self.memory)
    }

    /// gcc saves the registers of over-aligned frames "at rbp plus a constant" and leaves that standing in
    /// the epilogue after rbp itself was popped. The slot it then names lies outside the frame, where no
    /// function saves: the register holds its caller's value again.
    fn was_restored(&self, slot: u64) -> bool {
        let frame = self.frame.sp().unwrap_or(0)..self.address;
        self.kind == RawFrameKind::Exact && !self.rule.rule.is_signal && !frame.contains(&slot)
    }
}
