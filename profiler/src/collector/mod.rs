//! Owns perf resources: plans a recording, opens its events and rings, and drains them to the processor. What
//! goes in is [`RecordOptions`](crate::options::RecordOptions) and a target, what comes out is a queue of
//! [`Delivery`]. It never decodes, sorts, symbolizes or ptraces.

mod delivery;
mod layout;
mod plan;
mod report;

pub use delivery::{Batch, BatchBytes, Delivery, RingId, RingKind};
pub use layout::{EventLayout, EventRole, SampleFields, TRAILER_BYTES, USER_REGISTERS, USER_REGISTERS_MASK};
pub use plan::{ChosenEvent, KernelCoverage, PeriodUnit, Plan, PlanNote, RingSizes, Topology};
pub use report::{CollectorReport, EndCause, RingReport, TargetReport};
