//! Addresses of a sample → frames of the walk → rows of the capture.

use microscope_capture::{CodeRole, EndReason, Frame, FrameKind, ModuleId};

use crate::records::Words;
use crate::registers::Registers;
use crate::tracking::Space;
use crate::unwind::{RawFrame, RawFrameKind};

/// There are no rules for 32-bit code: only the sampled instruction is known.
pub(super) fn innermost_alone(registers: &Registers, frames: &mut Vec<RawFrame>) -> EndReason {
    frames.extend(registers.ip().map(RawFrame::exact));
    EndReason::NoRule
}

/// Appends the kernel's frames of a sample.
pub(super) fn push_kernel(chain: Words<'_>, frames: &mut Vec<RawFrame>) {
    let mut chain = chain.iter();
    frames.extend(chain.next().map(RawFrame::exact));
    frames.extend(chain.map(RawFrame::return_address));
}

/// Where the kernel's half of the address space begins, on every architecture with one.
const KERNEL_HALF: u64 = 1 << 63;

/// The capture's row of a frame: relative to its module, where one is known.
pub(super) fn row_of(frame: RawFrame, kernel: Option<ModuleId>, space: Space<'_>) -> Frame {
    let is_caller = frame.kind == RawFrameKind::ReturnAddress;
    if let Some(kernel) = kernel.filter(|_| frame.address >= KERNEL_HALF) {
        let kind = if is_caller { FrameKind::KernelCaller } else { FrameKind::Kernel };
        return Frame { kind, role: CodeRole::Plain, module: Some(kernel), address: frame.address };
    }
    let kind = if is_caller { FrameKind::NativeCaller } else { FrameKind::Native };
    let view = space.find(frame.lookup_address()).filter(|_| !space.is_uncertain());
    let (module, address) = view
        .map_or((None, frame.address), |view| (Some(view.module.id), view.relative_address(frame.address)));
    Frame { kind, role: CodeRole::Plain, module, address }
}
