//! What a processor begins with, and the rows and stages that follow from it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use microscope_capture::{
    Builder, DutyChange, Measure, MeasureId, MeasureSource, RateChange, Spool, Unit as MeasureUnit,
};

use super::ProcessorError;
use super::samples::Measuring;
use crate::collector::{EventLayout, KernelCoverage, PeriodUnit, Plan, Topology};
use crate::files::Files;
use crate::tracking::{Limits, Scope, Tracker, TrackerOptions};

/// Who is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targets {
    /// A child that waits at its gate.
    Launched(u32),
    /// Processes that already run.
    Attached(Vec<u32>),
}

/// What a processor is made with.
pub struct Setup {
    /// What was decided before the first sample.
    pub plan: Plan,
    /// The events' layouts.
    pub layouts: Vec<EventLayout>,
    /// Who is recorded.
    pub targets: Targets,
    /// The recording's start, by CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// What the capture says of its making: setting and value.
    pub settings: Vec<(&'static str, String)>,
    /// Outside help.
    pub files: Arc<dyn Files>,
    /// Where rows are spooled.
    pub spool: Spool,
    /// Threads that look up names.
    pub namers: NonZeroUsize,
}

impl Setup {
    /// The tracker, knowing who is recorded.
    pub(super) fn tracker(&self) -> Result<Tracker, ProcessorError> {
        let mut tracker = Tracker::new(tracker_options(self), Arc::clone(&self.files));
        begin_targets(&mut tracker, &self.targets)?;
        Ok(tracker)
    }
}

fn tracker_options(setup: &Setup) -> TrackerOptions {
    let scope = match setup.plan.topology {
        Topology::PerThread if setup.plan.children => Scope::Everything,
        Topology::PerThread | Topology::SystemWide => Scope::Targets,
    };
    TrackerOptions {
        start_ns: setup.start_ns,
        scope,
        children: setup.plan.children,
        limits: Limits::default(),
    }
}

fn begin_targets(tracker: &mut Tracker, targets: &Targets) -> Result<(), ProcessorError> {
    match targets {
        Targets::Launched(pid) => tracker.launch(*pid),
        Targets::Attached(pids) => {
            for pid in pids {
                let attach = tracker.attach(*pid);
                attach.map_err(|problem| ProcessorError::Attach { pid: *pid, problem })?;
            }
        }
    }
    Ok(())
}

/// The first rows: what is measured, how often.
pub(super) fn begin_measure(setup: &Setup, builder: &mut Builder) -> Measuring {
    let plan = &setup.plan;
    let (period, rate_hz, stack_bytes) = (plan.event.period_ns, plan.rate_hz, plan.stack_bytes);
    let name = builder.string(plan.event.event.name());
    let row = Measure { name, source: source(plan), unit: unit(plan), period };
    let measure: MeasureId = builder.tables.measures.push(row);
    builder.tables.rate_changes.push(RateChange { time_ns: 0, measure, rate_hz, stack_bytes });
    builder.tables.duty_changes.push(DutyChange { time_ns: 0, duty_ppm: 1_000_000 });
    Measuring { start_ns: setup.start_ns, measure, period, policy: plan.stack }
}

fn source(plan: &Plan) -> MeasureSource {
    match (plan.event.unit, plan.kernel) {
        (PeriodUnit::Nanoseconds, KernelCoverage::Excluded) => MeasureSource::UserCpuSamples,
        (PeriodUnit::Nanoseconds, _) => MeasureSource::CpuSamples,
        _ => MeasureSource::EventSamples,
    }
}

fn unit(plan: &Plan) -> MeasureUnit {
    match plan.event.unit {
        PeriodUnit::Nanoseconds => MeasureUnit::Nanoseconds,
        _ => MeasureUnit::Count,
    }
}
