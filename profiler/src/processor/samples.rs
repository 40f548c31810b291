//! A sample → its row: whose it is, what its stack is, how much it stands for.

use microscope_capture::{
    Builder, CpuMode, EndReason, MeasureId, ModuleId, Sample as SampleRow, StackId, ThreadId,
};

use crate::annotate::{ROWS_MAX, Stacks};
use crate::records::{Sample, Stamp};
use crate::tracking::{Space, ThreadRef, Tracker};
use crate::unwind::{RawFrame, SampledInput, StackPolicy, Unwinder};

use super::code::Code;
use super::duplicates::Duplicates;
use super::frames::{innermost_alone, push_kernel, row_of};

/// What samples measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measuring {
    pub(super) start_ns: u64,
    pub(super) measure: MeasureId,
    /// What each sample stands for; absent when the kernel says it with each.
    pub(super) period: Option<u64>,
    pub(super) policy: StackPolicy,
}

/// The stage that makes sample rows. Owns the buffers that every sample uses again.
pub(super) struct Samples {
    measuring: Measuring,
    unwinder: Unwinder,
    stacks: Stacks,
    duplicates: Duplicates,
    kernel: Option<ModuleId>,
    user_frames: Vec<RawFrame>,
    frames: Vec<RawFrame>,
    user_chain: Vec<u64>,
    counts: SampleCounts,
}

/// What became of samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SampleCounts {
    /// Rows made.
    pub(super) rows: u64,
    /// Taken by a second event of their thread and processor.
    pub(super) duplicates: u64,
    /// Without their stack, since the tree is full.
    pub(super) without_room: u64,
}

impl Samples {
    pub(super) fn new(measuring: Measuring) -> Self {
        Self {
            measuring,
            unwinder: Unwinder::new(),
            stacks: Stacks::new(ROWS_MAX),
            duplicates: Duplicates::default(),
            kernel: None,
            user_frames: Vec::new(),
            frames: Vec::new(),
            user_chain: Vec::new(),
            counts: SampleCounts::default(),
        }
    }

    pub(super) const fn counts(&self) -> &SampleCounts {
        &self.counts
    }

    /// The row that frames of the kernel belong to.
    pub(super) fn set_kernel(&mut self, module: ModuleId) {
        self.kernel = Some(module);
    }

    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.stacks.forget(thread);
        self.duplicates.forget(thread);
    }

    /// Makes a sample's row. Gives its stack, when there is a row with one.
    pub(super) fn on(
        &mut self,
        stamp: Stamp,
        sample: &Sample<'_>,
        tracker: &mut Tracker,
        code: &Code,
        builder: &mut Builder,
    ) -> Option<StackId> {
        let owner = tracker.resolve(stamp.pid, stamp.tid, stamp.time_ns, builder)?;
        if self.duplicates.is_second(owner.thread, stamp.cpu, stamp.event) {
            self.counts.duplicates += 1;
            return None;
        }
        let (stack, end) = match tracker.space(owner.process, stamp.time_ns) {
            Some(space) => self.stack(owner, sample, space, code, builder),
            None => (None, EndReason::NoModule),
        };
        self.push(stamp, sample, owner.thread, (stack, end), builder);
        stack
    }

    fn push(
        &mut self,
        stamp: Stamp,
        sample: &Sample<'_>,
        thread: ThreadId,
        (stack, end): (Option<StackId>, EndReason),
        builder: &mut Builder,
    ) {
        self.counts.rows += 1;
        builder.sample(SampleRow {
            time_ns: stamp.time_ns.saturating_sub(self.measuring.start_ns),
            thread,
            stack,
            weight: self.measuring.period.unwrap_or(sample.period),
            measure: self.measuring.measure,
            cpu: u16::try_from(stamp.cpu).unwrap_or(u16::MAX),
            mode: sample.mode,
            end,
        });
    }

    fn stack(
        &mut self,
        owner: ThreadRef,
        sample: &Sample<'_>,
        space: Space<'_>,
        code: &Code,
        builder: &mut Builder,
    ) -> (Option<StackId>, EndReason) {
        let end = self.walk(sample, space, code);
        self.join(sample);
        let kernel = self.kernel;
        let row_of = |frame| row_of(frame, kernel, space);
        let stack = self.stacks.intern(builder, owner.thread, space.generation(), &self.frames, row_of);
        if stack.is_none() && !self.frames.is_empty() {
            self.counts.without_room += 1;
            return (None, EndReason::NoRoom);
        }
        (stack, end)
    }

    /// The user part, innermost first, into `user_frames`.
    fn walk(&mut self, sample: &Sample<'_>, space: Space<'_>, code: &Code) -> EndReason {
        self.user_frames.clear();
        let Some(user) = sample.user else { return self.without_registers(sample) };
        self.user_chain.clear();
        self.user_chain.extend(sample.user_chain.iter());
        let input = SampledInput {
            registers: user.registers,
            stack: user.stack,
            stack_is_cut: user.stack_is_cut,
            user_chain: &self.user_chain,
        };
        if user.is_32_bit {
            return innermost_alone(&user.registers, &mut self.user_frames);
        }
        self.unwinder.walk(&input, &code.of(space), self.measuring.policy, &mut self.user_frames).reason
    }

    /// No register was wanted, or there is no user side.
    fn without_registers(&mut self, sample: &Sample<'_>) -> EndReason {
        let mut chain = sample.user_chain.iter();
        let innermost = chain.next().or((sample.mode == CpuMode::User).then_some(sample.ip));
        let Some(innermost) = innermost else { return EndReason::NoRegisters };
        self.user_frames.push(RawFrame::exact(innermost));
        if self.measuring.policy == StackPolicy::None {
            return EndReason::NotWanted;
        }
        self.user_frames.extend(chain.map(RawFrame::return_address));
        EndReason::FramePointers
    }

    /// Kernel frames, then user frames: all of the stack, innermost first.
    fn join(&mut self, sample: &Sample<'_>) {
        self.frames.clear();
        push_kernel(sample.kernel_chain, &mut self.frames);
        self.frames.extend_from_slice(&self.user_frames);
    }
}
