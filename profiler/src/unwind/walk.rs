//! The walk: one generic loop from frame to caller.

use microscope_capture::EndReason;

use super::{CodeMap, RawFrame, SampledInput, StackPolicy, WalkEnd};

/// The most frames a stack may have. Deeper stacks keep their innermost frames and end with
/// `EndReason::DepthLimit`; 64 KiB of copied bytes hold fewer frames of any but the smallest functions.
pub const DEPTH_LIMIT: usize = 2048;

/// What an unwinder has done, for the recording's closing paragraph and the bench.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Stacks walked.
    pub walks: u64,
    /// Frames written.
    pub frames: u64,
    /// Rules found in the cache.
    pub cache_hits: u64,
    /// Rules looked up in an image.
    pub cache_misses: u64,
    /// Frame descriptions compiled.
    pub compiled: u64,
}

/// Walks stacks. Owns the cache of rules; one for all processes of a recording.
#[derive(Debug, Default)]
pub struct Unwinder {
    counters: Counters,
}

impl Unwinder {
    /// An unwinder with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Writes a sample's stack, innermost first, over whatever `frames` held.
    pub fn walk(
        &mut self,
        input: &SampledInput<'_>,
        _map: &impl CodeMap,
        _policy: StackPolicy,
        frames: &mut Vec<RawFrame>,
    ) -> WalkEnd {
        frames.clear();
        self.counters.walks += 1;
        let Some(ip) = input.registers.ip() else {
            return WalkEnd { reason: EndReason::NoRegisters, at_address: 0, seam: None };
        };
        frames.push(RawFrame::exact(ip));
        WalkEnd { reason: EndReason::NotWanted, at_address: ip, seam: None }
    }
}
