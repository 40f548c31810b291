//! Turns options and what this machine allows into a [`Plan`] and the attributes of its events. What is allowed
//! is found by opening events on this process and closing them again: a level or a capability alone does not say.

use nix::errno::Errno;

use super::error::first_refusal;
use super::sizing::{Allowance, BUFFER_MS_WANTED, Demand, Sizing, size_rings};
use super::{ChosenEvent, KernelCoverage, PeriodUnit, Plan, PlanNote, RingSizes, StartError, Topology};
use crate::options::{EventChoice, KernelChoice, RecordOptions, StackPolicy};
use crate::sys;
use crate::sys::machine::{Lockable, Machine};
use crate::sys::perf::{
    EventAttributes, EventSource, Inherit, Kernel, SampleFields, Start, Subject, USER_REGISTERS,
    USER_REGISTERS_MASK,
};

/// Descriptors that a session needs for everything but events.
const DESCRIPTORS_KEPT: u64 = 64;
/// The part of the machine's memory that rings take at most, and how much that may be.
const MEMORY_SHARE: u64 = 16;
const MEMORY_BYTES_MAX: u64 = 1 << 30;
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

/// What a recording is to be made of.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) templates: Templates,
    /// What rings were sized for.
    pub(super) allowance: Allowance,
    demand: Demand,
}

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A program that waits at its gate.
    Launch,
    /// Processes that run, with so many threads.
    Attach { threads: usize },
}

impl Occasion {
    fn threads(self) -> u64 {
        match self {
            Self::Launch => 1,
            Self::Attach { threads } => threads as u64,
        }
    }
}

/// What this kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features {
    count_lost: bool,
    build_ids: bool,
    inherit_thread: bool,
}

/// How far events reach.
#[derive(Clone, Copy, Debug)]
struct Scope {
    topology: Topology,
    occasion: Occasion,
    /// Whether events may watch every process.
    everyone: bool,
}

/// The event that was found to work, and how much of the kernel with it.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    event: EventChoice,
    source: EventSource,
    kernel: KernelCoverage,
}

impl Sampled {
    fn chosen(self, rate_hz: u32) -> ChosenEvent {
        ChosenEvent {
            event: self.event,
            unit: unit_of(self.event),
            period_ns: period_ns(self.event, rate_hz),
        }
    }
}

struct Planner<'a> {
    kernel: &'a dyn Kernel,
    machine: &'a Machine,
    options: &'a RecordOptions,
    cpu: u32,
    notes: Vec<PlanNote>,
}

/// Decides everything that can be decided before the first event of the target is open.
pub(super) fn plan(
    kernel: &dyn Kernel,
    machine: &Machine,
    options: &RecordOptions,
    occasion: Occasion,
) -> Result<Planned, StartError> {
    let cpu = machine.cpus.first().copied().unwrap_or(0);
    Planner { kernel, machine, options, cpu, notes: Vec::new() }.plan(occasion)
}

impl Planner<'_> {
    fn plan(mut self, occasion: Occasion) -> Result<Planned, StartError> {
        let features = self.probe_features()?;
        let everyone = self.may_open(&owner(), Subject::Everyone);
        let topology = self.choose_topology(occasion, everyone)?;
        let rate_hz = self.choose_rate();
        let sampled = self.choose_event(rate_hz)?;
        let sampler = sampler(sampled.source, rate_hz, self.options, sampled.kernel);
        let templates = self.templates(features, Scope { topology, occasion, everyone }, sampler);
        let plan = Plan {
            topology,
            cpus: self.machine.cpus.clone(),
            event: sampled.chosen(rate_hz),
            rate_hz,
            stack: self.options.stack(),
            stack_bytes: self.options.stack_bytes(),
            kernel: sampled.kernel,
            children: self.options.children(),
            rings: RingSizes { sample_bytes: 0, side_band_bytes: 0, buffer_ms: 0 },
            notes: self.notes,
        };
        let allowance = allowance(self.machine);
        Planned { plan, templates, allowance, demand: demand(&sampler) }.sized(allowance)
    }

    /// The first events that are opened at all: their refusal is the refusal of everything.
    fn probe_features(&mut self) -> Result<Features, StartError> {
        let plain = EventAttributes { side_band: true, inherit: Inherit::Everything, ..owner() };
        let own = self.own_process();
        self.kernel
            .open(&plain, own, self.cpu)
            .map_err(|errno| first_refusal(errno, self.machine.paranoid))?;
        let features = Features {
            count_lost: self.may_open(&EventAttributes { count_lost: true, ..plain }, own),
            build_ids: self.may_open(&EventAttributes { build_ids: true, ..plain }, own),
            inherit_thread: self.may_open(&EventAttributes { inherit: Inherit::Threads, ..plain }, own),
        };
        self.note_if(!features.count_lost, PlanNote::NoLostCounts);
        self.note_if(!features.build_ids, PlanNote::NoBuildIds);
        self.note_if(!features.inherit_thread && !self.options.children(), PlanNote::ChildrenNotExcluded);
        Ok(features)
    }

    fn choose_topology(&mut self, occasion: Occasion, everyone: bool) -> Result<Topology, StartError> {
        let cpus = self.machine.cpus.len() as u64;
        let needed = 2 * cpus * (occasion.threads() + 1) + DESCRIPTORS_KEPT;
        let left = self.machine.descriptors.left();
        if needed <= left {
            Ok(Topology::PerThread)
        } else if everyone && 4 * cpus + DESCRIPTORS_KEPT <= left {
            self.notes.push(PlanNote::SystemWide { needed, limit: left });
            Ok(Topology::SystemWide)
        } else {
            Err(StartError::Descriptors { threads: occasion.threads(), needed, left })
        }
    }

    fn choose_rate(&mut self) -> u32 {
        let wanted_hz = self.options.rate_hz();
        match self.machine.rate_limit_hz {
            Some(limit_hz) if (1..wanted_hz).contains(&limit_hz) => {
                self.notes.push(PlanNote::RateLimited { wanted_hz, limit_hz });
                limit_hz
            }
            _ => wanted_hz,
        }
    }

    fn choose_event(&mut self, rate_hz: u32) -> Result<Sampled, StartError> {
        let wanted = self.options.event();
        if wanted != EventChoice::Auto {
            return self.require_event(wanted, rate_hz);
        }
        match self.try_event(EventSource::Cycles, rate_hz)? {
            Ok(kernel) => Ok(Sampled { event: EventChoice::Cycles, source: EventSource::Cycles, kernel }),
            Err(errno) => {
                self.notes.push(PlanNote::NoCycles { errno });
                self.require_event(EventChoice::CpuClock, rate_hz)
            }
        }
    }

    fn require_event(&mut self, event: EventChoice, rate_hz: u32) -> Result<Sampled, StartError> {
        let source = source_of(event);
        match self.try_event(source, rate_hz)? {
            Ok(kernel) => Ok(Sampled { event, source, kernel }),
            Err(errno) => Err(StartError::EventUnavailable { event, errno }),
        }
    }

    /// Whether an event can be sampled here, and then how much of the kernel with it. The inner error says that it
    /// cannot be had at all.
    fn try_event(
        &mut self,
        source: EventSource,
        rate_hz: u32,
    ) -> Result<Result<KernelCoverage, Errno>, StartError> {
        let wanted = wanted_coverage(self.options);
        let sampler = |kernel| sampler(source, rate_hz, self.options, kernel);
        let refused = match self.kernel.open(&sampler(wanted), self.own_process(), self.cpu) {
            Ok(_) => return Ok(Ok(wanted)),
            Err(errno @ (Errno::EACCES | Errno::EPERM)) => errno,
            Err(errno) => return Ok(Err(errno)),
        };
        let paranoid = self.machine.paranoid;
        if let Err(errno) = self.kernel.open(&sampler(KernelCoverage::Excluded), self.own_process(), self.cpu)
        {
            return Ok(Err(if errno == Errno::EACCES { refused } else { errno }));
        }
        if self.options.kernel() == KernelChoice::On {
            return Err(StartError::KernelNotPermitted { paranoid });
        }
        self.notes.push(PlanNote::KernelRefused { paranoid });
        Ok(Ok(KernelCoverage::Excluded))
    }

    fn templates(&self, features: Features, scope: Scope, sampler: EventAttributes) -> Templates {
        let inherit = match scope.topology {
            Topology::SystemWide => Inherit::Nothing,
            Topology::PerThread if self.options.children() || !features.inherit_thread => Inherit::Everything,
            Topology::PerThread => Inherit::Threads,
        };
        let start = match (scope.occasion, scope.topology) {
            (Occasion::Launch, Topology::PerThread) => Start::OnExec,
            _ => Start::Disabled,
        };
        let (count_lost, build_ids) = (features.count_lost, features.build_ids);
        Templates {
            sampler: EventAttributes { inherit, start, count_lost, ..sampler },
            side_band: EventAttributes { side_band: true, build_ids, count_lost, inherit, ..owner() },
            owner: owner(),
            owner_subject: if scope.everyone { Subject::Everyone } else { self.own_process() },
        }
    }

    fn own_process(&self) -> Subject {
        Subject::Thread(std::process::id())
    }

    fn may_open(&self, attributes: &EventAttributes, subject: Subject) -> bool {
        self.kernel.open(attributes, subject, self.cpu).is_ok()
    }

    fn note_if(&mut self, holds: bool, note: PlanNote) {
        if holds {
            self.notes.push(note);
        }
    }
}

impl Planned {
    /// The same with rings within `allowance`, and with as many stack bytes as those permit.
    pub(super) fn sized(mut self, allowance: Allowance) -> Result<Self, StartError> {
        let Some(Sizing { rings, stack_bytes }) = size_rings(self.demand, allowance) else {
            let needed_bytes = allowance.least_bytes();
            return Err(StartError::LockedMemory { needed_bytes, lockable_bytes: allowance.bytes });
        };
        self.allowance = allowance;
        self.plan.rings = rings;
        self.plan.stack_bytes = stack_bytes;
        self.templates.sampler.fields.stack_bytes = stack_bytes;
        self.note_sizes(stack_bytes);
        Ok(self)
    }

    /// What the rings of this plan lock, with their control pages.
    pub(super) fn ring_bytes(&self) -> u64 {
        let rings = self.plan.rings;
        let per_cpu = rings.sample_bytes + rings.side_band_bytes + 2 * self.allowance.page_bytes;
        (per_cpu * self.allowance.cpus) as u64
    }

    fn note_sizes(&mut self, given: u32) {
        let lockable_bytes = self.allowance.bytes;
        self.plan.notes.retain(|note| {
            !matches!(note, PlanNote::StackBytesReduced { .. } | PlanNote::ShortBuffer { .. })
        });
        let wanted = self.demand.stack_bytes;
        if given < wanted {
            self.plan.notes.push(PlanNote::StackBytesReduced { wanted, given, lockable_bytes });
        }
        let buffer_ms = self.plan.rings.buffer_ms;
        if buffer_ms < BUFFER_MS_WANTED {
            self.plan.notes.push(PlanNote::ShortBuffer { buffer_ms, lockable_bytes });
        }
    }
}

/// An event that counts and reports nothing. It leaves the kernel out, which every user may ask for.
fn owner() -> EventAttributes {
    EventAttributes { exclude_kernel: true, ..EventAttributes::dummy() }
}

fn sampler(
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
            user_registers: USER_REGISTERS_MASK,
            stack_bytes: options.stack_bytes(),
        },
        start: Start::Disabled,
        exclude_kernel: kernel == KernelCoverage::Excluded,
        exclude_kernel_chain: !kernel_chain,
        exclude_user_chain: !user_chain,
        ..EventAttributes::dummy()
    }
}

fn wanted_coverage(options: &RecordOptions) -> KernelCoverage {
    match (options.kernel(), options.stack()) {
        (KernelChoice::Off, _) | (_, StackPolicy::None) => KernelCoverage::Counted,
        _ => KernelCoverage::Stacks,
    }
}

fn source_of(event: EventChoice) -> EventSource {
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

fn unit_of(event: EventChoice) -> PeriodUnit {
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
fn period_ns(event: EventChoice, rate_hz: u32) -> Option<u64> {
    (unit_of(event) == PeriodUnit::Nanoseconds).then(|| 1_000_000_000 / u64::from(rate_hz.max(1)))
}

fn demand(sampler: &EventAttributes) -> Demand {
    let chains = u32::from(!sampler.exclude_kernel_chain) + u32::from(!sampler.exclude_user_chain);
    let registers = 8 + 8 * USER_REGISTERS as u32;
    let stack_words = if sampler.fields.stack_bytes == 0 { 0 } else { 16 };
    Demand {
        rate_hz: sampler.rate_hz,
        fixed_bytes: SAMPLE_HEAD_BYTES + 8 + chains * CHAIN_BYTES_USUAL + registers + stack_words,
        stack_bytes: sampler.fields.stack_bytes,
    }
}

fn allowance(machine: &Machine) -> Allowance {
    let share = (machine.memory_bytes / MEMORY_SHARE).min(MEMORY_BYTES_MAX);
    let bytes = match machine.lockable {
        Lockable::Unlimited => share,
        Lockable::Bytes(bytes) => bytes.min(share),
    };
    Allowance { bytes, cpus: machine.cpus.len(), page_bytes: sys::page_bytes() }
}
