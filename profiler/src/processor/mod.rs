//! From deliveries to rows: the fixed list of stages that every record passes, in order.
//!
//! ```text
//! Delivery ─ order ─▶ Unit ─▶ losses ─ tracking ─ code (unwind images, names) ─ samples (walk, annotate) ─▶ rows
//! ```
//! No stage holds another's state. The processor makes no system call of its own: files and memory are asked
//! through [`Files`], whose answers a raw log can keep, so a replay makes the same rows.

mod code;
mod duplicates;
mod kernel;
mod losses;
mod rows;
mod samples;
mod unnamable;

use std::num::NonZeroUsize;
use std::sync::Arc;

use microscope_capture::{
    Builder, DutyChange, Invalid, LossKind, Measure, MeasureId, MeasureSource, ModuleId, RateChange, Spool,
    SpoolError, Unit as MeasureUnit,
};
use thiserror::Error;

use crate::collector::{CollectorReport, Delivery, EventLayout, KernelCoverage, PeriodUnit, Plan, Topology};
use crate::files::{FileProblem, Files};
use crate::naming::Naming;
use crate::order::{Order, Unit};
use crate::records::{BadLayout, Body};
use crate::tracking::{Limits, Scope, Tracker, TrackerOptions};
use code::Code;
use kernel::KernelNames;
use losses::Losses;
use rows::Rows;
use samples::{Measuring, Samples};

/// Why a recording cannot be processed.
#[derive(Debug, Error)]
pub enum ProcessorError {
    /// The spool could not be made, written or read back.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// A process to attach to cannot be read.
    #[error("cannot read process {pid}: {problem}")]
    Attach {
        /// The process.
        pid: u32,
        /// Why.
        problem: FileProblem,
    },
    /// The events' layouts cannot be decoded.
    #[error(transparent)]
    Layout(#[from] BadLayout),
    /// The collector ended without its report: a defect.
    #[error("the collector ended without a report")]
    NoReport,
    /// The rows break a rule of the format: a defect of the recorder.
    #[error("the recording broke a rule of its own format: {0}")]
    Invalid(#[from] Invalid),
}

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
    /// Outside help.
    pub files: Arc<dyn Files>,
    /// Where rows are spooled.
    pub spool: Spool,
    /// Threads that look up names.
    pub namers: NonZeroUsize,
}

/// Turns deliveries into rows.
pub struct Processor {
    order: Order,
    stages: Stages,
    /// Records before this time were all handed over.
    complete_to_ns: u64,
}

struct Stages {
    start_ns: u64,
    losses: Losses,
    tracker: Tracker,
    code: Code,
    samples: Samples,
    naming: Naming,
    rows: Rows,
    kernel: Option<(ModuleId, Arc<KernelNames>)>,
}

impl Processor {
    /// Starts the namers and reads the processes that already run.
    pub fn new(setup: Setup) -> Result<Self, ProcessorError> {
        let mut order = Order::new();
        order.add_events(&setup.layouts)?;
        let complete_to_ns = setup.start_ns;
        Ok(Self { order, stages: Stages::new(setup)?, complete_to_ns })
    }

    /// Takes the next delivery. Gives the report that ends the recording.
    pub fn on(&mut self, delivery: Delivery) -> Result<Option<Box<CollectorReport>>, ProcessorError> {
        match delivery {
            Delivery::Events(layouts) => self.order.add_events(&layouts)?,
            Delivery::Batch(batch) => self.order.push(batch),
            Delivery::Round { complete_to_ns } => self.on_round(complete_to_ns),
            Delivery::Finished(report) => return Ok(Some(report)),
        }
        Ok(None)
    }

    fn on_round(&mut self, complete_to_ns: u64) {
        let stages = &mut self.stages;
        self.order.release(complete_to_ns, |unit| stages.on(&unit));
        stages.on_round(complete_to_ns);
        self.complete_to_ns = complete_to_ns;
    }

    /// Samples that became rows so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.stages.samples.counts().rows
    }

    /// Why the recording must end: rows cannot be kept any more.
    #[must_use]
    pub fn failure(&self) -> Option<&SpoolError> {
        self.stages.rows.failure()
    }

    /// Ends the recording: every row in one builder, complete in its addresses.
    pub fn seal(mut self, report: &CollectorReport) -> Result<Sealed, ProcessorError> {
        let stages = &mut self.stages;
        self.order.finish(|unit| stages.on(&unit));
        stages.tracker.finish(&mut stages.rows.builder);
        stages.on_round(report.ended_ns.max(self.complete_to_ns));
        self.note_losses(report);
        let Stages { losses, naming, mut rows, kernel, .. } = self.stages;
        losses.write(&mut rows.builder);
        let (mut builder, spool) = rows.seal()?;
        if let Some((module, names)) = &kernel {
            names.make_relative(*module, &mut builder);
        }
        Ok(Sealed { builder, spool, naming, kernel: kernel.map(|(_, names)| names) })
    }

    fn note_losses(&mut self, report: &CollectorReport) {
        let losses = &mut self.stages.losses;
        losses.on_report(report);
        for late in self.order.late().rings() {
            losses.add_in_ring(LossKind::Late, late.count, late.ring, (late.from_ns, late.until_ns));
        }
        let counts = self.stages.tracker.counts();
        let bounds = counts.processes_refused + counts.threads_refused + counts.mappings_refused;
        let samples = self.stages.samples.counts();
        for (kind, count) in [
            (LossKind::Malformed, self.order.problems().count() + counts.mappings_malformed),
            (LossKind::UnknownThread, counts.unknown_threads),
            (LossKind::Bound, bounds + samples.without_room),
            (LossKind::Duplicate, samples.duplicates),
        ] {
            losses.add(kind, count, report.ended_ns);
        }
    }
}

impl Stages {
    fn new(setup: Setup) -> Result<Self, ProcessorError> {
        let mut naming = Naming::start(setup.namers).map_err(ProcessorError::Thread)?;
        let mut tracker = Tracker::new(tracker_options(&setup), Arc::clone(&setup.files));
        begin_targets(&mut tracker, &setup.targets)?;
        let mut builder = Builder::new();
        let mut samples = Samples::new(begin_measure(&setup, &mut builder));
        let kernel = (setup.plan.kernel == KernelCoverage::Stacks).then(|| {
            let module = tracker.kernel(&mut builder).id;
            let names = Arc::new(KernelNames::new(Arc::clone(&setup.files)));
            samples.set_kernel(module);
            naming.add_module(module, Arc::<KernelNames>::clone(&names));
            (module, names)
        });
        let losses = Losses::new(setup.start_ns);
        let code = Code::new(Arc::clone(&setup.files));
        let rows = Rows::new(builder, setup.spool);
        Ok(Self { start_ns: setup.start_ns, losses, tracker, code, samples, naming, rows, kernel })
    }

    /// One record's way.
    fn on(&mut self, unit: &Unit<'_>) {
        let builder = &mut self.rows.builder;
        self.losses.on(unit);
        self.tracker.on(unit.ring, &unit.record, builder);
        self.code.advance(self.tracker.modules(), &mut self.naming);
        if let Body::Sample(sample) = &unit.record.body {
            self.samples.on(unit.record.stamp, sample, &mut self.tracker, &self.code, builder);
        }
    }

    fn on_round(&mut self, complete_to_ns: u64) {
        self.tracker.advance(complete_to_ns, &mut self.rows.builder);
        self.code.advance(self.tracker.modules(), &mut self.naming);
        for thread in self.tracker.take_forgotten() {
            self.samples.forget(thread);
        }
        self.naming.advance(&self.rows.builder);
        self.rows.advance(complete_to_ns.saturating_sub(self.start_ns));
    }
}

/// A recording whose addresses are complete.
pub struct Sealed {
    /// Every row.
    pub builder: Builder,
    /// Where they were spooled; to discard once they are published.
    pub spool: Spool,
    naming: Naming,
    kernel: Option<Arc<KernelNames>>,
}

/// A recording whose names are in.
pub struct NamedRows {
    /// Every row.
    pub builder: Builder,
    /// Where they were spooled; to discard once they are published.
    pub spool: Spool,
    /// Why kernel frames have no names, when they have none.
    pub kernel_refusal: Option<String>,
}

impl Sealed {
    /// How many frames wait for a name.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.naming.waiting()
    }

    /// Waits for the names and writes them as rows. `progress` is told how many frames still wait.
    #[must_use]
    pub fn name(self, progress: impl FnMut(usize)) -> NamedRows {
        let Self { mut builder, spool, naming, kernel } = self;
        naming.finish(&mut builder, progress);
        let kernel_refusal = kernel.and_then(|names| names.refusal().map(str::to_owned));
        NamedRows { builder, spool, kernel_refusal }
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
fn begin_measure(setup: &Setup, builder: &mut Builder) -> Measuring {
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
