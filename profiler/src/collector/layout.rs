//! How the records of each event are laid out: what a decoder needs besides the bytes. Every record names its
//! event by identifier, samples in their first field, all others in their trailer.

pub use crate::sys::perf::SampleFields;

/// What an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventRole {
    /// Writes samples, to the sample rings.
    Sampler,
    /// Writes mappings, names, forks and exits, to the side-band rings.
    SideBand,
}

/// One event and the layout of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventLayout {
    /// The identifier its records carry, also those of threads that inherited the event.
    pub id: u64,
    /// What it is for.
    pub role: EventRole,
    /// The only processor it counts on.
    pub cpu: u32,
    /// The thread it was opened on; absent when it counts every thread of the processor.
    pub opened_on: Option<u32>,
    /// What its samples hold; of no meaning for side-band events, which write none.
    pub fields: SampleFields,
}

impl EventLayout {
    /// The kernel's `sample_type` of the event.
    pub fn sample_type(&self) -> u64 {
        self.fields.sample_type()
    }
}
