//! Owns perf resources: plans a recording, opens its events and rings, and drains them to the processor. What goes
//! in is [`RecordOptions`](crate::options::RecordOptions) and a target, what comes out is a queue of [`Delivery`].
//! It never decodes, sorts, symbolizes or ptraces.
//!
//! [`launch`] and [`attach`] give an [`Armed`] recording: everything is open, nothing is sampled. Its
//! [`start`](Armed::start) runs the collector's thread and only then lets a launched program begin.

mod arming;
mod commands;
mod delivery;
mod drain;
mod error;
mod events;
mod forks;
mod layout;
mod outbox;
mod plan;
mod planned;
mod planning;
mod report;
mod rings;
mod sizing;
mod start;
mod targets;
mod templates;

pub use commands::{CollectorControl, CollectorHandle, CommandError};
pub use delivery::{Batch, BatchBytes, Delivery, RingId, RingKind};
pub use error::StartError;
pub use layout::{EventLayout, EventRole, SampleFields};
pub use plan::{ChosenEvent, KernelCoverage, PeriodUnit, Plan, PlanNote, RingSizes, Topology};
pub use report::{CollectorReport, EndCause, RingReport, TargetReport};
pub use start::{Armed, ChildProcess, attach, launch};

#[cfg(test)]
mod tests;
