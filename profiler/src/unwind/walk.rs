//! The walk: one loop from frame to caller.
//!
//! The hot loop carries the three registers that nearly every rule needs and runs packed rules from
//! the cache. A rule that needs another register starts the stack over with all of them.

use std::convert::Infallible;

use microscope_capture::EndReason;

use super::apply::{Caller, GeneralRule};
use super::cache::{Cache, Epoch, Form, PackedRule};
use super::finder::{Finder, Source};
use super::frame_pointers::Chain;
use super::reader::SampledStack;
use super::{
    CodeAt, CodeMap, RawFrame, RawFrameKind, SampledInput, StackPolicy, StackReader, UnwindImage, WalkEnd,
};
use crate::registers::{RBP, RIP, RSP, Registers};

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
    cache: Cache,
    finder: Finder,
    counters: Counters,
}

/// Why a walk stops.
#[derive(Debug, Clone, Copy)]
enum Stop {
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
struct Frame {
    address: RawFrame,
    sp: u64,
    bp: u64,
}

impl Frame {
    fn of(registers: &Registers, kind: RawFrameKind) -> Option<Self> {
        let address = RawFrame { address: registers.ip()?, kind };
        Some(Self { address, sp: registers.sp()?, bp: registers.bp()? })
    }

    fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        registers.set(RIP, self.address.address);
        registers.set(RSP, self.sp);
        registers.set(RBP, self.bp);
        registers
    }
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
    fn walk_rules(
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

    /// Call-frame information, and the frame-pointer chain over what it cannot cross.
    fn walk_both(
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
    fn rule(&mut self, epoch: Epoch, frame: RawFrame, map: &impl CodeMap) -> Result<PackedRule, Stop> {
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

/// A step by a plain rule. Written without branches on the rule's form: which one comes next cannot be
/// predicted, and a wrong guess costs more than the step.
#[inline]
fn plain_step(rule: PackedRule, frame: Frame, memory: &impl StackReader) -> Result<Frame, Stop> {
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
fn general_step(
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
fn push(frames: &mut Vec<RawFrame>, frame: RawFrame) -> Result<(), Stop> {
    if frame.address == 0 {
        return Err(Stop::End(EndReason::Complete));
    }
    if frames.len() >= DEPTH_LIMIT {
        return Err(Stop::End(EndReason::DepthLimit));
    }
    frames.push(frame);
    Ok(())
}
