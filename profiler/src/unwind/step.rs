//! One step of a walk: from a frame and its rule to the caller, or to why there is none.

use microscope_capture::EndReason;

use super::apply::{Caller, GeneralRule};
use super::packed::PackedRule;
use super::{DEPTH_LIMIT, RawFrame, RawFrameKind, StackReader};
use crate::registers::{RBP, RIP, RSP, Registers};

/// Why a walk stops.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// The stack ends at the current frame.
    End(EndReason),
    /// The current frame's address is not executable: it is no frame.
    NotCode,
    /// A rule needs a register the hot loop does not carry.
    NeedsAllRegisters,
}

impl From<EndReason> for Stop {
    fn from(reason: EndReason) -> Self {
        Self::End(reason)
    }
}

/// A frame as the hot loop knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub address: RawFrame,
    pub sp: u64,
    pub bp: u64,
}

impl Frame {
    pub(super) fn of(registers: &Registers, kind: RawFrameKind) -> Option<Self> {
        let address = RawFrame { address: registers.ip()?, kind };
        Some(Self { address, sp: registers.sp()?, bp: registers.bp()? })
    }

    pub(super) fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        registers.set(RIP, self.address.address);
        registers.set(RSP, self.sp);
        registers.set(RBP, self.bp);
        registers
    }
}

/// A step by a plain rule. Written without branches on the rule's form: which one comes next cannot be
/// predicted, and a wrong guess costs more than the step.
#[inline]
pub(super) fn plain_step(rule: PackedRule, frame: Frame, memory: &impl StackReader) -> Result<Frame, Stop> {
    let base = if rule.is_on_frame_pointer() { frame.bp } else { frame.sp };
    let frame_address = base.wrapping_add_signed(i64::from(rule.offset()));
    let return_address = memory.word(frame_address.wrapping_sub(8))?;
    // An unchanged rbp reads the return address again, and drops it.
    let slot = if rule.bp_offset() == 0 { -8 } else { rule.bp_offset() };
    let saved = memory.word(frame_address.wrapping_add_signed(i64::from(slot)))?;
    let bp = if rule.bp_offset() == 0 { frame.bp } else { saved };
    if frame_address <= frame.sp {
        return Err(Stop::End(EndReason::NoProgress));
    }
    Ok(Frame { address: RawFrame::return_address(return_address), sp: frame_address, bp })
}

/// A step by a general rule: the caller's registers and what its address means.
pub(super) fn general_step(
    rule: &GeneralRule,
    frame: &Registers,
    kind: RawFrameKind,
    memory: &impl StackReader,
) -> Result<(Registers, RawFrameKind), Stop> {
    let Caller::Frame(caller) = rule.caller(frame, kind, memory)? else {
        return Err(Stop::End(EndReason::Complete));
    };
    if rule.rule.is_signal {
        // The handler may have run on a stack of its own: no order between the two.
        return Ok((caller, RawFrameKind::Exact));
    }
    // A frame whose return address is in a register may have no stack at all.
    if caller.sp() < frame.sp() || (caller.sp() == frame.sp() && caller.ip() == frame.ip()) {
        return Err(Stop::End(EndReason::NoProgress));
    }
    Ok((caller, RawFrameKind::ReturnAddress))
}

/// Adds a caller. No code lies at address 0: whoever made the stack ended it so.
#[inline]
pub(super) fn push(frames: &mut Vec<RawFrame>, frame: RawFrame) -> Result<(), Stop> {
    if frame.address == 0 {
        return Err(Stop::End(EndReason::Complete));
    }
    if frames.len() >= DEPTH_LIMIT {
        return Err(Stop::End(EndReason::DepthLimit));
    }
    frames.push(frame);
    Ok(())
}
