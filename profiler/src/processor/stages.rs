//! The fixed list of stages that a record passes, in order. No stage holds another's state.

use std::sync::Arc;

use microscope_capture::{Builder, LossKind, ModuleId, SpoolError, StackId};

use super::code::Code;
use super::kernel::KernelNames;
use super::losses::Losses;
use super::rows::Rows;
use super::samples::Samples;
use super::setup::begin_measure;
use super::{ProcessorError, Sealed, Setup};
use crate::collector::{CollectorReport, KernelCoverage};
use crate::naming::Naming;
use crate::order::{Order, Unit};
use crate::records::Body;
use crate::tracking::Tracker;

/// The stages of one recording, and the rows they make.
pub(super) struct Stages {
    start_ns: u64,
    losses: Losses,
    tracker: Tracker,
    code: Code,
    pub(super) samples: Samples,
    naming: Naming,
    rows: Rows,
    kernel: Option<(ModuleId, Arc<KernelNames>)>,
}

impl Stages {
    pub(super) fn new(setup: Setup) -> Result<Self, ProcessorError> {
        let mut naming = Naming::start(setup.namers).map_err(ProcessorError::Thread)?;
        let mut tracker = setup.tracker()?;
        let mut builder = Builder::new();
        for (name, value) in &setup.settings {
            builder.set(None, name, value);
        }
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
    pub(super) fn on(&mut self, unit: &Unit<'_>) {
        let builder = &mut self.rows.builder;
        self.losses.on(unit);
        self.tracker.on(unit.ring, &unit.record, builder);
        self.code.advance(self.tracker.modules(), &mut self.naming);
        if let Body::Sample(sample) = &unit.record.body {
            let stack = self.samples.on(unit.record.stamp, sample, &mut self.tracker, &self.code, builder);
            if let Some(module) = stack.and_then(|stack| module_of(builder, stack)) {
                self.naming.note_sample(module);
            }
        }
    }

    pub(super) fn on_round(&mut self, complete_to_ns: u64) {
        self.tracker.advance(complete_to_ns, &mut self.rows.builder);
        self.code.advance(self.tracker.modules(), &mut self.naming);
        for thread in self.tracker.take_forgotten() {
            self.samples.forget(thread);
        }
        self.naming.advance(&self.rows.builder);
        self.rows.advance(complete_to_ns.saturating_sub(self.start_ns));
    }

    /// Nothing more comes.
    pub(super) fn on_end(&mut self, ended_ns: u64) {
        self.tracker.finish(&mut self.rows.builder);
        self.on_round(ended_ns);
    }

    /// What the order and every stage could not keep.
    pub(super) fn note_losses(&mut self, order: &Order, report: &CollectorReport) {
        self.losses.on_report(report);
        for late in order.late().rings() {
            self.losses.add_in_ring(LossKind::Late, late.count, late.ring, (late.from_ns, late.until_ns));
        }
        let (counts, samples) = (self.tracker.counts(), self.samples.counts());
        let bounds = counts.processes_refused + counts.threads_refused + counts.mappings_refused;
        for (kind, count) in [
            (LossKind::Malformed, order.problems().count() + counts.mappings_malformed),
            (LossKind::UnknownThread, counts.unknown_threads),
            (LossKind::Bound, bounds + samples.without_room),
            (LossKind::Duplicate, samples.duplicates),
        ] {
            self.losses.add(kind, count, report.ended_ns);
        }
    }

    /// Every row in one builder.
    pub(super) fn seal(self) -> Result<Sealed, ProcessorError> {
        let Self { losses, naming, mut rows, kernel, .. } = self;
        losses.write(&mut rows.builder);
        let (mut builder, spool) = rows.seal()?;
        if let Some((module, names)) = &kernel {
            names.make_relative(*module, &mut builder);
        }
        Ok(Sealed { builder, spool, naming, kernel: kernel.map(|(_, names)| names) })
    }

    /// Why rows cannot be kept any more.
    pub(super) fn failure(&self) -> Option<&SpoolError> {
        self.rows.failure()
    }
}

/// The module of a stack's innermost frame.
fn module_of(builder: &Builder, stack: StackId) -> Option<ModuleId> {
    let frame = builder.tables.stacks.frame.get(stack.index())?;
    *builder.tables.frames.module.get(frame.index())?
}
