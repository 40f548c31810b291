//! From deliveries to rows: the fixed list of stages that every record passes, in order.
//!
//! ```text
//! Delivery ─ order ─▶ Unit ─▶ losses ─ tracking ─ code (unwind images, names) ─ samples (walk, annotate) ─▶ rows
//! ```
//! No stage holds another's state. The processor makes no system call of its own: files and memory are asked
//! through [`Files`](crate::files::Files), whose answers a raw log can keep, so a replay makes the same rows.

mod code;
mod duplicates;
mod error;
mod frames;
mod kernel;
mod losses;
mod rows;
mod samples;
mod sealed;
mod setup;
mod stages;
mod unnamable;

use microscope_capture::SpoolError;

use crate::collector::{CollectorReport, Delivery};
use crate::order::Order;
use stages::Stages;

pub use error::ProcessorError;
pub use sealed::{NamedRows, Sealed};
pub use setup::{Setup, Targets};

/// Turns deliveries into rows.
pub struct Processor {
    order: Order,
    stages: Stages,
    /// Records before this time were all handed over.
    complete_to_ns: u64,
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
        self.stages.failure()
    }

    /// Ends the recording: every row in one builder, complete in its addresses.
    pub fn seal(mut self, report: &CollectorReport) -> Result<Sealed, ProcessorError> {
        let stages = &mut self.stages;
        self.order.finish(|unit| stages.on(&unit));
        stages.on_end(report.ended_ns.max(self.complete_to_ns));
        stages.note_losses(&self.order, report);
        self.stages.seal()
    }
}
