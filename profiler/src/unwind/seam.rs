//! Walks by both kinds of evidence: call-frame information, continued by the frame-pointer chain over what
//! it cannot cross, where the chain proves the caller.

use microscope_capture::EndReason;

use super::frame_pointers::Chain;
use super::packed::Form;
use super::reader::SampledStack;
use super::step::{Stop, push};
use super::{CodeMap, DEPTH_LIMIT, RawFrame, Unwinder, WalkEnd};
use crate::registers::{RBP, RIP, RSP, Registers};

impl Unwinder {
    /// Call-frame information, and the frame-pointer chain over what it cannot cross.
    pub(super) fn walk_both(
        &mut self,
        mut registers: Registers,
        memory: &SampledStack<'_>,
        chain: &Chain<'_, SampledStack<'_>>,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> WalkEnd {
        let mut seam = None;
        loop {
            let end = self.walk_rules(&mut registers, memory, map, frames);
            let place = (registers.sp(), registers.bp(), frames.len());
            let (Some(sp), Some(bp), 1..DEPTH_LIMIT) = place else { return WalkEnd { seam, ..end } };
            let proved = match end.reason {
                EndReason::StackBytes => return self.walk_beyond(chain, bp, seam, end, map, frames),
                EndReason::NoRule | EndReason::NoFile | EndReason::NotIndexed => {
                    chain.proved_caller(sp, bp, map)
                }
                _ => None,
            };
            let Some(caller) = proved else { return WalkEnd { seam, ..end } };
            seam = seam.or(u32::try_from(frames.len()).ok());
            frames.push(RawFrame::return_address(caller.return_address));
            registers = Registers::default();
            registers.set(RIP, caller.return_address);
            registers.set(RSP, caller.sp);
            registers.set(RBP, caller.bp);
        }
    }

    /// The stack beyond the copied bytes, as far as rules ask for exactly the words the kernel's chain read.
    fn walk_beyond(
        &mut self,
        chain: &Chain<'_, SampledStack<'_>>,
        bp: u64,
        seam: Option<u32>,
        end: WalkEnd,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> WalkEnd {
        let epoch = self.cache.epoch(map.generation());
        let mut end = WalkEnd { seam, ..end };
        let mut words = chain.words_from(bp).iter();
        loop {
            let Some(frame) = frames.last().copied() else { return end };
            end.at_address = frame.address;
            let rule = self.rule(epoch, frame, map);
            match (rule, words.next()) {
                (Ok(rule), Some(word)) if rule.is_frame_record() => {
                    end.seam = end.seam.or(u32::try_from(frames.len()).ok());
                    match push(frames, RawFrame::return_address(*word)) {
                        Err(Stop::End(reason)) => return WalkEnd { reason, ..end },
                        _ => continue,
                    }
                }
                (Ok(rule), _) if rule.form() == Form::Outermost => end.reason = EndReason::Complete,
                (Err(Stop::NotCode), _) => {
                    frames.pop();
                    end.reason = EndReason::BadReturnAddress;
                }
                _ => {}
            }
            return end;
        }
    }
}
