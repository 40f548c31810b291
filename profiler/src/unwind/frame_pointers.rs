//! The frame-pointer chain: separate evidence, by the kernel's user call chain and by the copied bytes.
//!
//! ```text
//! rbp ──▶ record: caller's rbp, return address      Code without frame pointers leaves rbp alone or uses
//!            └──▶ record: …                          it for anything: a chain may skip callers or be none.
//! ```
//!
//! A chain alone therefore proves no caller. What does is said at [`Chain::proved_caller`] and
//! [`Chain::words_from`].

use super::{CodeAt, CodeMap, RawFrame, StackReader};

/// Records followed at most; the kernel stops at 127 unless told otherwise.
const RECORDS_MAX: usize = 1024;

/// The most words between a stack pointer and a record that are searched for return addresses.
const SEARCHED_WORDS_MAX: u64 = 1024;

/// The chain of one sample.
pub(super) struct Chain<'a, R> {
    /// The first record's address: the sampled rbp.
    pub first: u64,
    /// The kernel's chain: the instruction pointer, then each record's return address. May be empty.
    pub kernel: &'a [u64],
    /// The copied bytes.
    pub memory: &'a R,
}

/// A caller that the chain proves, with the registers a walk goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProvedCaller {
    pub return_address: u64,
    pub sp: u64,
    pub bp: u64,
}

impl<'a, R: StackReader> Chain<'a, R> {
    /// Appends the whole chain, unproved as it is, up to the first address that is no code.
    pub(super) fn append_all(&self, map: &impl CodeMap, frames: &mut Vec<RawFrame>, limit: usize) {
        let is_code = |address: &u64| !matches!(map.at(address.wrapping_sub(1)), CodeAt::Unmapped);
        let room = limit.saturating_sub(frames.len());
        let of = RawFrame::return_address;
        match self.kernel {
            [] => frames.extend(self.copied().map(|(_, word)| word).take_while(is_code).take(room).map(of)),
            [_, callers @ ..] => {
                frames.extend(callers.iter().copied().take_while(is_code).take(room).map(of))
            }
        }
    }

    /// Where a frame pointer stands in the chain: the number of records before it. `None` when the chain
    /// never comes to it, or the kernel read other words than were copied.
    fn position(&self, frame_pointer: u64) -> Option<usize> {
        if self.first == frame_pointer {
            return Some(0);
        }
        let mut at = 0;
        for (record, return_address) in self.copied() {
            at += 1;
            if self.kernel.get(at).is_some_and(|word| *word != return_address) {
                return None;
            }
            let next = self.memory.word(record).ok()?;
            if next >= frame_pointer {
                return (next == frame_pointer).then_some(at);
            }
        }
        None
    }

    /// The records that were copied: address and return address.
    fn copied(&self) -> impl Iterator<Item = (u64, u64)> {
        let records = std::iter::successors(Some(self.first), |record| {
            self.memory.word(*record).ok().filter(|next| next > record)
        });
        records
            .map_while(|record| Some((record, self.memory.word(record.wrapping_add(8)).ok()?)))
            .take(RECORDS_MAX)
    }

    /// The return addresses the kernel read from the record at `frame_pointer` on, beyond the copied bytes.
    ///
    /// They are no guess for a frame whose rule says that its caller is in the record its rbp points to: then
    /// each is the very word the rule asks for.
    pub(super) fn words_from(&self, frame_pointer: u64) -> &'a [u64] {
        let read = self.position(frame_pointer).and_then(|records| self.kernel.get(records + 1..));
        read.unwrap_or_default()
    }

    /// The caller of a frame that no rule describes.
    ///
    /// Proved when the chain comes to the frame's rbp and, of all words between its stack pointer and that
    /// record's end, the record's return address alone is one: the address after a call instruction. Code
    /// that left rbp to its caller has its own return address below and is refused.
    pub(super) fn proved_caller(&self, sp: u64, bp: u64, map: &impl CodeMap) -> Option<ProvedCaller> {
        self.position(bp)?;
        let words = bp.checked_sub(sp)? / 8;
        if !bp.wrapping_sub(sp).is_multiple_of(8) || words > SEARCHED_WORDS_MAX {
            return None;
        }
        for word in 0..words {
            if follows_a_call(self.memory.word(sp + word * 8).ok()?, map) {
                return None;
            }
        }
        let caller = ProvedCaller {
            bp: self.memory.word(bp).ok()?,
            return_address: self.memory.word(bp.checked_add(8)?).ok()?,
            sp: bp.checked_add(16)?,
        };
        follows_a_call(caller.return_address, map).then_some(caller)
    }
}

/// Whether an address may be a return address: in code, behind a call instruction as far as code is at hand.
fn follows_a_call(address: u64, map: &impl CodeMap) -> bool {
    match map.at(address.wrapping_sub(1)) {
        CodeAt::Unmapped => false,
        CodeAt::NoImage(_) => true,
        CodeAt::Image { image, relative_address } => {
            let before = relative_address.wrapping_sub(CALL_BYTES_MAX as u64 - 1);
            image.code(before, CALL_BYTES_MAX).is_none_or(|code| ends_with_call(&code))
        }
    }
}

/// A call by register with prefix, index and displacement.
const CALL_BYTES_MAX: usize = 8;

/// Whether the bytes end as a near call does: `e8` and a distance, or `ff /2` with any operand.
fn ends_with_call(code: &[u8]) -> bool {
    let from_end = |len: usize| code.len().checked_sub(len).and_then(|at| code.get(at));
    let is_direct = from_end(5) == Some(&0xe8);
    let is_indirect = |len: usize| {
        from_end(len) == Some(&0xff) && from_end(len - 1).is_some_and(|operand| operand & 0x38 == 0x10)
    };
    is_direct || (2..=7).any(is_indirect)
}
