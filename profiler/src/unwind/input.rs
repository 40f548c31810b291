//! What a walk takes and what it gives.

use microscope_capture::EndReason;

use crate::registers::Registers;

/// What the kernel recorded of one thread at one moment. Nothing here can reach live memory.
#[derive(Debug, Clone, Copy)]
pub struct SampledInput<'a> {
    /// The user registers.
    pub registers: Registers,
    /// The copied bytes, from the stack pointer upward.
    pub stack: &'a [u8],
    /// Whether the copy ended because it reached its size, not because the stack's mapping ended.
    pub stack_is_cut: bool,
    /// The kernel's user call chain, the instruction pointer first, without context markers; may be empty.
    pub user_chain: &'a [u64],
}

/// One frame's address and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawFrame {
    /// The absolute address.
    pub address: u64,
    /// What the address means.
    pub kind: RawFrameKind,
}

/// What a frame's address means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RawFrameKind {
    /// The instruction that runs next: the innermost frame, or one that a signal interrupted.
    Exact,
    /// Where a call returns to; names and rules are looked up at the address before.
    ReturnAddress,
}

impl RawFrame {
    /// The innermost frame, or one that a signal interrupted.
    #[must_use]
    pub const fn exact(address: u64) -> Self {
        Self { address, kind: RawFrameKind::Exact }
    }

    /// A caller.
    #[must_use]
    pub const fn return_address(address: u64) -> Self {
        Self { address, kind: RawFrameKind::ReturnAddress }
    }

    /// The address inside the instruction that this frame executes: the call, for a caller.
    #[must_use]
    pub const fn lookup_address(self) -> u64 {
        match self.kind {
            RawFrameKind::Exact => self.address,
            RawFrameKind::ReturnAddress => self.address.wrapping_sub(1),
        }
    }
}

/// Why and where a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkEnd {
    /// Why.
    pub reason: EndReason,
    /// The code address whose step ended the walk: the outermost frame's, or a refused return address.
    pub at_address: u64,
    /// The first frame that came from the frame-pointer chain, when call-frame information ended before.
    pub seam: Option<u32>,
}
