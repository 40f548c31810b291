//! What a walk may read: the state of one thread, as it was sampled or as it stands.

use microscope_capture::EndReason;

use super::SampledInput;

/// A processor's cache line.
const LINE_BYTES: usize = 64;
/// Lines asked for ahead: 4 KiB, which holds the frames of most stacks.
const LINES_AHEAD: usize = 64;

/// Memory of the thread whose stack is walked.
pub trait StackReader {
    /// The eight bytes at an address, or why the stack must end here.
    fn word(&self, address: u64) -> Result<u64, EndReason>;
}

/// Bytes that were copied when the sample was taken. It holds nothing else, so a walk over it can never take
/// memory of a later time for the sample's.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampledStack<'a> {
    bytes: &'a [u8],
    from: u64,
    is_cut: bool,
}

impl<'a> SampledStack<'a> {
    /// The copied bytes of a sample. Without a stack pointer nobody can say where they lie.
    pub(super) fn new(input: &SampledInput<'a>) -> Self {
        match input.registers.sp() {
            Some(from) => Self { bytes: input.stack, from, is_cut: input.stack_is_cut },
            None => Self { bytes: &[], from: 0, is_cut: false },
        }
    }

    /// Asks for the bytes that most walks need, all at once. The copy was written by another processor; a
    /// walk alone would wait for one line after the other, since each frame says where the next one lies.
    pub(super) fn read_ahead(&self) {
        let lines = self.bytes.iter().step_by(LINE_BYTES).take(LINES_AHEAD);
        std::hint::black_box(lines.fold(0, |all, byte| all ^ byte));
    }

    #[cold]
    fn missing(&self, address: u64) -> EndReason {
        if self.is_cut && address >= self.from { EndReason::StackBytes } else { EndReason::NoMemory }
    }
}

impl StackReader for SampledStack<'_> {
    #[inline]
    fn word(&self, address: u64) -> Result<u64, EndReason> {
        let offset = usize::try_from(address.wrapping_sub(self.from)).unwrap_or(usize::MAX);
        match self.bytes.get(offset..).and_then(|rest| rest.first_chunk()) {
            Some(word) => Ok(u64::from_le_bytes(*word)),
            None => Err(self.missing(address)),
        }
    }
}
