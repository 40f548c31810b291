//! What the capture's codes mean to a person, and what would help.

use microscope_analysis::views::Remedy;
use microscope_capture::{EndReason, LossKind};

/// Why stacks end early, as the rest of "12 stacks …".
#[must_use]
pub fn end_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Complete => "are whole",
        EndReason::StackBytes => "are deeper than the copied stack bytes",
        EndReason::NoRule => "end in code without an unwind rule",
        EndReason::NoModule => "end at an address where nothing was mapped",
        EndReason::NoFile => "end in a file that could not be read",
        EndReason::NoRegister => "need a register whose value is not known there",
        EndReason::NoMemory => "need memory that was not copied",
        EndReason::BadRule => "end at an unwind rule that is malformed or not supported",
        EndReason::NoProgress => "end where unwinding would go in circles",
        EndReason::DepthLimit => "are deeper than the frame limit",
        EndReason::BadReturnAddress => "end at a return address that is no code",
        EndReason::NoRegisters => "have no user registers",
        EndReason::NotWanted => "were not wanted",
        EndReason::FramePointers => "end with their chain of frame pointers, which proves nothing",
        EndReason::UncertainMapping => "end where records of mappings were lost",
        EndReason::NotIndexed => "end in a module whose unwind tables were not ready in time",
        EndReason::Unknown => "end for a reason the imported profile does not say",
        EndReason::InterpretedUnknown => "have interpreted frames that could not be read",
        EndReason::InterpretedUnplaced => "have interpreted frames that could not be placed",
        EndReason::NoRoom => "were one too many different ones to be kept",
    }
}

/// What a person can do so that stacks become whole.
#[must_use]
pub fn end_remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::MoreStackBytes => {
            "record with more bytes of stack: --preset high copies 32 KiB, --stack-bytes 65528 the most"
        }
        Remedy::FramePointers => {
            "build that module with -fno-omit-frame-pointer and record with --stack both"
        }
        Remedy::UnwindTables => {
            "build that module with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer and --stack both"
        }
        Remedy::ReadableFile => "keep the module's file readable while recording",
        Remedy::DescribeGeneratedCode => {
            "run the program without its just-in-time compiler, whose code nothing describes"
        }
        Remedy::CopyStack => "record with --stack both",
        Remedy::LoseFewerRecords => "record at a lower --rate, so that no records of mappings are lost",
    }
}

/// What was lost, as the rest of "12 …".
#[must_use]
pub fn loss(kind: LossKind) -> &'static str {
    match kind {
        LossKind::RingFull => "samples found no room in a ring",
        LossKind::SideBandFull => "records of mappings, names and threads found no room in a ring",
        LossKind::Malformed => "records could not be decoded",
        LossKind::UnknownThread => "samples belong to no known thread",
        LossKind::Late => "records arrived late; they are kept",
        LossKind::Duplicate => "records came twice; one of each is kept",
        LossKind::Throttled => "times the kernel throttled the event",
        LossKind::Bound => "items were beyond a bound of the recorder",
        LossKind::BeforeArming => "of CPU time passed before recording began",
        LossKind::Unspooled => "rows of a killed recording were not on disk yet",
        LossKind::Imported => "facts of the imported profile could not be kept",
    }
}

/// What a person can do about a loss.
#[must_use]
pub fn loss_remedy(kind: LossKind) -> Option<&'static str> {
    Some(match kind {
        LossKind::RingFull => "record at a lower --rate or with fewer --stack-bytes",
        LossKind::SideBandFull => "record at a lower --rate",
        LossKind::Throttled => "record at a lower --rate, or raise kernel.perf_cpu_time_max_percent",
        _ => return None,
    })
}
