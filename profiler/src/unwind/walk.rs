//! The walk: one loop from frame to caller.
//!
//! The hot loop carries the three registers that nearly every rule needs and runs packed rules from
//! the cache. A rule that needs another register starts the stack over with all of them.

use std::convert::Infallible;

use microscope_capture::EndReason;

use super::cache::{Cache, Epoch};
use super::finder::{Finder, Source};
use super::frame_pointers::Chain;
use super::packed::{Form, PackedRule};
use super::reader::SampledStack;
use super::step::{Frame, Stop, general_step, plain_step, push};
use super::{
    CodeAt, CodeMap, RawFrame, RawFrameKind, SampledInput, StackPolicy, StackReader, UnwindImage, WalkEnd,
};
use crate::registers::Registers;

/// The most frames a stack may have. Deeper stacks keep their innermost frames and end with
/// [`EndReason::DepthLimit`]; 64 KiB of copied bytes hold fewer frames of any but the smallest functions.
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
    /// Stacks started over because a rule needed more than three registers.
    pub full_walks: u64,
}

/// Walks stacks. Owns the cache of rules; one for all processes of a recording.
#[derive(Debug, Default)]
pub struct Unwinder {
    pub(super) cache: Cache,
    finder: Finder,
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
        map: &impl CodeMap,
        policy: StackPolicy,
        frames: &mut Vec<RawFrame>,
    ) -> WalkEnd {
        frames.clear();
        self.counters.walks += 1;
        let Some(ip) = input.registers.ip() else {
            return WalkEnd { reason: EndReason::NoRegisters, at_address: 0, seam: None };
        };
        frames.push(RawFrame::exact(ip));
        let memory = SampledStack::new(input);
        memory.read_ahead();
        let chain =
            Chain { first: input.registers.bp().unwrap_or(0), kernel: input.user_chain, memory: &memory };
        let end = match policy {
            StackPolicy::None => WalkEnd { reason: EndReason::NotWanted, at_address: ip, seam: None },
            StackPolicy::Copy => self.walk_rules(&mut input.registers.clone(), &memory, map, frames),
            StackPolicy::Both => self.walk_both(input.registers, &memory, &chain, map, frames),
            StackPolicy::FramePointers => {
                chain.append_all(map, frames, DEPTH_LIMIT);
                let at_address = frames.last().map_or(ip, |frame| frame.address);
                WalkEnd { reason: EndReason::FramePointers, at_address, seam: Some(1) }
            }
        };
        self.counters.frames += frames.len() as u64;
        end
    }

    /// The stack by call-frame information from the last frame on. Leaves the registers of the frame it
    /// ended at.
    pub(super) fn walk_rules(
        &mut self,
        registers: &mut Registers,
        memory: &impl StackReader,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> WalkEnd {
        let (start, frames_before) = (*registers, frames.len());
        let Err(mut stop) = self.run(registers, memory, map, frames);
        if let Stop::NeedsAllRegisters = stop {
            frames.truncate(frames_before);
            *registers = start;
            self.counters.full_walks += 1;
            Err(stop) = self.run_with_all(registers, memory, map, frames);
        }
        let at_address = frames.last().map_or(0, |frame| frame.address);
        let reason = match stop {
            Stop::End(reason) => reason,
            Stop::NeedsAllRegisters => EndReason::NoRegister,
            Stop::NotCode if frames.len() == 1 => EndReason::NoModule,
            Stop::NotCode => {
                frames.pop();
                EndReason::BadReturnAddress
            }
        };
        WalkEnd { reason, at_address, seam: None }
    }

    /// The hot loop. `registers` begin as those of the last frame and end as those of the frame it stops at.
    fn run(
        &mut self,
        registers: &mut Registers,
        memory: &impl StackReader,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> Result<Infallible, Stop> {
        let kind = frames.last().map_or(RawFrameKind::Exact, |frame| frame.kind);
        let start = *registers;
        let mut frame = Frame::of(&start, kind).ok_or(Stop::NeedsAllRegisters)?;
        let stop = self.run_frames(&start, &mut frame, memory, map, frames);
        *registers = frame.registers();
        stop
    }

    #[inline]
    fn run_frames(
        &mut self,
        start: &Registers,
        at: &mut Frame,
        memory: &impl StackReader,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> Result<Infallible, Stop> {
        let epoch = self.cache.epoch(map.generation());
        let frames_before = frames.len();
        loop {
            let frame = *at;
            let rule = self.rule(epoch, frame.address, map)?;
            *at = if rule.is_plain() {
                plain_step(rule, frame, memory)?
            } else {
                // Only the first frame's other registers are at hand.
                let is_first = frames.len() == frames_before;
                self.special_step(rule, frame, is_first.then_some(start), memory)?
            };
            push(frames, at.address)?;
        }
    }

    /// A step by a rule of no plain form, if there is a step.
    #[cold]
    fn special_step(
        &self,
        rule: PackedRule,
        frame: Frame,
        start: Option<&Registers>,
        memory: &impl StackReader,
    ) -> Result<Frame, Stop> {
        let general = match rule.form() {
            Form::General => self.cache.general(rule).ok_or(EndReason::BadRule)?,
            Form::Outermost => return Err(Stop::End(EndReason::Complete)),
            Form::NoRule => return Err(Stop::End(EndReason::NoRule)),
            Form::OnStackPointer | Form::OnFramePointer | Form::BadRule => {
                return Err(Stop::End(EndReason::BadRule));
            }
        };
        let registers = start.copied().unwrap_or_else(|| frame.registers());
        let (caller, kind) = match general_step(general, &registers, frame.address.kind, memory) {
            Err(Stop::End(EndReason::NoRegister)) => return Err(Stop::NeedsAllRegisters),
            step => step?,
        };
        Frame::of(&caller, kind).ok_or(Stop::NeedsAllRegisters)
    }

    /// The same walk with every register, by rules fresh from the image.
    fn run_with_all(
        &mut self,
        registers: &mut Registers,
        memory: &impl StackReader,
        map: &impl CodeMap,
        frames: &mut Vec<RawFrame>,
    ) -> Result<Infallible, Stop> {
        let kind = frames.last().map_or(RawFrameKind::Exact, |frame| frame.kind);
        let mut address = RawFrame { address: registers.ip().ok_or(EndReason::NoRegisters)?, kind };
        loop {
            let (image, source) = self.find(address, map)?;
            let rule = self.finder.general(image, source)?;
            let (caller, kind) = general_step(&rule, registers, address.kind, memory)?;
            *registers = caller;
            address = RawFrame { address: registers.ip().ok_or(EndReason::NoRegister)?, kind };
            push(frames, address)?;
        }
    }

    /// The rule of a frame, from the cache or the image.
    #[inline]
    pub(super) fn rule(
        &mut self,
        epoch: Epoch,
        frame: RawFrame,
        map: &impl CodeMap,
    ) -> Result<PackedRule, Stop> {
        match self.cache.get(epoch, frame) {
            Some(rule) => {
                self.counters.cache_hits += 1;
                Ok(rule)
            }
            None => self.look_up(epoch, frame, map),
        }
    }

    #[cold]
    fn look_up(&mut self, epoch: Epoch, frame: RawFrame, map: &impl CodeMap) -> Result<PackedRule, Stop> {
        self.counters.cache_misses += 1;
        let rule = match self.find(frame, map) {
            Ok((image, source)) => match PackedRule::pack(self.finder.rule()) {
                Some(packed) => packed,
                None => {
                    let general = self.finder.general(image, source)?;
                    self.cache.add_general(general)
                }
            },
            Err(Stop::End(reason)) => PackedRule::failed(reason).ok_or(reason)?,
            Err(stop) => return Err(stop),
        };
        self.cache.insert(epoch, frame, rule);
        Ok(rule)
    }

    fn find<'m>(
        &mut self,
        frame: RawFrame,
        map: &'m impl CodeMap,
    ) -> Result<(&'m UnwindImage, Source), Stop> {
        let is_caller = frame.kind == RawFrameKind::ReturnAddress;
        match map.at(frame.lookup_address()) {
            CodeAt::Image { image, relative_address } => {
                Ok((image, self.finder.find(image, relative_address, is_caller)?))
            }
            CodeAt::NoImage(reason) => Err(Stop::End(reason)),
            CodeAt::Unmapped => Err(Stop::NotCode),
        }
    }
}
