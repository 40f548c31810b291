//! The attributes of a recording's events: what each choice means to the kernel.

use super::planning::Occasion;
use super::sizing::Demand;
use super::{KernelCoverage, PeriodUnit, Topology};
use crate::options::{EventChoice, RecordOptions};
use crate::registers::PERF_REGISTER_MASK;
use crate::sys::perf::{EventAttributes, EventSource, Inherit, SampleFields, Start, Subject};

/// Bytes of a sample's header and fixed fields.
const SAMPLE_HEAD_BYTES: u32 = 8 + 6 * 8;
/// Call chains are mostly shorter than this, for the kernel and for users each.
const CHAIN_BYTES_USUAL: u32 = 32 * 8;

/// Attributes of the three kinds of events of a recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Templates {
    pub(super) sampler: EventAttributes,
    pub(super) side_band: EventAttributes,
    /// Of an event that owns a ring. It must not be a target's: a target's event reports a hang-up for ever once
    /// the target has ended.
    pub(super) owner: EventAttributes,
    /// Whom owners watch.
    pub(super) owner_subject: Subject,
}

/// What this kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub(super) count_lost: bool,
    pub(super) build_ids: bool,
    pub(super) inherit_thread: bool,
}

/// How far events reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) topology: Topology,
    pub(super) occasion: Occasion,
    /// Whether threads hand events on to processes they start.
    pub(super) children: bool,
    /// Whether events may watch every process.
    pub(super) everyone: bool,
}

impl Templates {
    pub(super) fn new(features: Features, scope: Scope, sampler: EventAttributes) -> Self {
        let inherit = match scope.topology {
            Topology::SystemWide => Inherit::Nothing,
            Topology::PerThread if scope.children || !features.inherit_thread => Inherit::Everything,
            Topology::PerThread => Inherit::Threads,
        };
        let start = match (scope.occasion, scope.topology) {
            (Occasion::Launch, Topology::PerThread) => Start::OnExec,
            _ => Start::Disabled,
        };
        let (count_lost, build_ids) = (features.count_lost, features.build_ids);
        Self {
            sampler: EventAttributes { inherit, start, count_lost, ..sampler },
            side_band: EventAttributes { side_band: true, build_ids, count_lost, inherit, ..owner() },
            owner: owner(),
            owner_subject: if scope.everyone { Subject::Everyone } else { own_process() },
        }
    }
}

/// Where everything is tried first, and whose events own rings when nobody else's may.
pub(super) fn own_process() -> Subject {
    Subject::Thread(std::process::id())
}

/// An event that counts and reports nothing. It leaves the kernel out, which every user may ask for.
pub(super) fn owner() -> EventAttributes {
    EventAttributes { exclude_kernel: true, ..EventAttributes::dummy() }
}

pub(super) fn sampler(
    source: EventSource,
    rate_hz: u32,
    options: &RecordOptions,
    kernel: KernelCoverage,
) -> EventAttributes {
    let kernel_chain = kernel == KernelCoverage::Stacks;
    let user_chain = options.stack().follows_frame_pointers();
    EventAttributes {
        source,
        rate_hz,
        fields: SampleFields {
            callchain: kernel_chain || user_chain,
            user_registers: PERF_REGISTER_MASK,
            stack_bytes: options.stack_bytes(),
        },
        start: Start::Disabled,
        exclude_kernel: kernel == KernelCoverage::Excluded,
        exclude_kernel_chain: !kernel_chain,
        exclude_user_chain: !user_chain,
        ..EventAttributes::dummy()
    }
}

pub(super) fn source_of(event: EventChoice) -> EventSource {
    match event {
        EventChoice::Auto | EventChoice::CpuClock => EventSource::CpuClock,
        EventChoice::TaskClock => EventSource::TaskClock,
        EventChoice::Cycles => EventSource::Cycles,
        EventChoice::Instructions => EventSource::Instructions,
        EventChoice::CacheMisses => EventSource::CacheMisses,
        EventChoice::BranchMisses => EventSource::BranchMisses,
        EventChoice::PageFaults => EventSource::PageFaults,
    }
}

pub(super) fn unit_of(event: EventChoice) -> PeriodUnit {
    match event {
        EventChoice::Auto | EventChoice::CpuClock | EventChoice::TaskClock => PeriodUnit::Nanoseconds,
        EventChoice::Cycles => PeriodUnit::Cycles,
        EventChoice::Instructions => PeriodUnit::Instructions,
        EventChoice::CacheMisses | EventChoice::BranchMisses | EventChoice::PageFaults => {
            PeriodUnit::Occurrences
        }
    }
}

/// The kernel's clocks turn a rate into a fixed period, as this does.
pub(super) fn period_ns(event: EventChoice, rate_hz: u32) -> Option<u64> {
    (unit_of(event) == PeriodUnit::Nanoseconds).then(|| 1_000_000_000 / u64::from(rate_hz.max(1)))
}

pub(super) fn demand(sampler: &EventAttributes) -> Demand {
    let chains = u32::from(!sampler.exclude_kernel_chain) + u32::from(!sampler.exclude_user_chain);
    let registers = 8 + 8 * sampler.fields.user_registers.count_ones();
    let stack_words = if sampler.fields.stack_bytes == 0 { 0 } else { 16 };
    Demand {
        rate_hz: sampler.rate_hz,
        fixed_bytes: SAMPLE_HEAD_BYTES + 8 + chains * CHAIN_BYTES_USUAL + registers + stack_words,
        stack_bytes: sampler.fields.stack_bytes,
    }
}
