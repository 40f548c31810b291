//! Turns options and what this machine allows into a [`Plan`] and the attributes of its events. What is allowed
//! is found by opening events on this process and closing them again: a level or a capability alone does not say.

use nix::errno::Errno;

use super::error::first_refusal;
use super::planned::{Planned, allowance};
use super::templates::{
    Features, Scope, Templates, demand, own_process, owner, period_ns, sampler, source_of, unit_of,
};
use super::{ChosenEvent, KernelCoverage, Plan, PlanNote, RingSizes, StartError, Topology};
use crate::options::{EventChoice, KernelChoice, RecordOptions, StackPolicy};
use crate::sys::machine::Machine;
use crate::sys::perf::{EventAttributes, EventSource, Inherit, Kernel, Subject};

/// Descriptors that a session needs for everything but events.
const DESCRIPTORS_KEPT: u64 = 64;

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
        let scope = Scope { topology, occasion, children: self.options.children(), everyone };
        let templates = Templates::new(features, scope, sampler);
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
        Planned::new(plan, templates, demand(&sampler), allowance(self.machine))
    }

    /// The first events that are opened at all: their refusal is the refusal of everything.
    fn probe_features(&mut self) -> Result<Features, StartError> {
        let plain = EventAttributes { side_band: true, inherit: Inherit::Everything, ..owner() };
        let own = own_process();
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
        let refused = match self.kernel.open(&sampler(wanted), own_process(), self.cpu) {
            Ok(_) => return Ok(Ok(wanted)),
            Err(errno @ (Errno::EACCES | Errno::EPERM)) => errno,
            Err(errno) => return Ok(Err(errno)),
        };
        let paranoid = self.machine.paranoid;
        if let Err(errno) = self.kernel.open(&sampler(KernelCoverage::Excluded), own_process(), self.cpu) {
            return Ok(Err(if errno == Errno::EACCES { refused } else { errno }));
        }
        if self.options.kernel() == KernelChoice::On {
            return Err(StartError::KernelNotPermitted { paranoid });
        }
        self.notes.push(PlanNote::KernelRefused { paranoid });
        Ok(Ok(KernelCoverage::Excluded))
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

fn wanted_coverage(options: &RecordOptions) -> KernelCoverage {
    match (options.kernel(), options.stack()) {
        (KernelChoice::Off, _) | (_, StackPolicy::None) => KernelCoverage::Counted,
        _ => KernelCoverage::Stacks,
    }
}
