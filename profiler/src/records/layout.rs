//! Which fields the records of an event have: the table from event identifier to layout.

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::collector::{EventLayout, EventRole};

/// `PERF_SAMPLE_*` bits, by the names of `linux/perf_event.h`.
pub mod sample_type {
    #![allow(missing_docs, reason = "the names are the kernel's")]
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const BRANCH_STACK: u64 = 1 << 11;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
    pub const IDENTIFIER: u64 = 1 << 16;
}
use sample_type as bit;

/// Without these no record could be ascribed or ordered.
const REQUIRED: u64 = bit::IDENTIFIER | bit::TID | bit::TIME | bit::CPU;
/// Fields of a length that depends on more than the record.
const REFUSED: u64 = bit::READ | bit::BRANCH_STACK;

/// What an event's samples mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// They measure the thread.
    Sampler,
    /// It has none; it is there for the records of mappings, names and tasks.
    SideBand,
    /// They are what a BPF program wrote; each belongs to the sample right after it in its ring.
    Output,
}

/// The fields of one event's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The identifier that its records carry.
    pub event: u64,
    /// What its samples mean.
    pub role: Role,
    /// `PERF_SAMPLE_*`.
    pub sample_type: u64,
    /// `sample_regs_user`.
    pub user_registers: u64,
}

impl From<&EventLayout> for Layout {
    fn from(event: &EventLayout) -> Self {
        let role = match event.role {
            EventRole::Sampler => Role::Sampler,
            EventRole::SideBand => Role::SideBand,
        };
        Self {
            event: event.id,
            role,
            sample_type: event.sample_type(),
            user_registers: event.fields.user_registers,
        }
    }
}

impl Layout {
    pub(crate) const fn has(&self, field: u64) -> bool {
        self.sample_type & field != 0
    }

    /// How far behind the header a sample's thread stands; its time follows.
    pub(crate) const fn task_offset(&self) -> usize {
        if self.has(bit::IP) { 16 } else { 8 }
    }

    /// The length of the identification that ends records other than samples.
    pub(crate) const fn trailer_bytes(&self) -> usize {
        let fields = bit::TID | bit::TIME | bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER;
        (self.sample_type & fields).count_ones() as usize * 8
    }
}

/// A layout that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadLayout {
    /// A field that every record needs is not asked for.
    #[error("event {event} lacks the fields {missing:#x} of its sample type")]
    Missing {
        /// The event.
        event: u64,
        /// `PERF_SAMPLE_*`.
        missing: u64,
    },
    /// A field is asked for that is not decoded.
    #[error("event {event} has the fields {refused:#x} in its sample type, which are not decoded")]
    Refused {
        /// The event.
        event: u64,
        /// `PERF_SAMPLE_*`.
        refused: u64,
    },
}

/// From event identifier to layout.
#[derive(Debug, Clone, Default)]
pub struct Layouts {
    layouts: Vec<Layout>,
    of_event: FxHashMap<u64, u32>,
}

impl Layouts {
    /// Checks and indexes layouts.
    pub fn new(layouts: impl IntoIterator<Item = Layout>) -> Result<Self, BadLayout> {
        let mut all = Self::default();
        layouts.into_iter().try_for_each(|layout| all.add(layout))?;
        Ok(all)
    }

    /// Adds an event's layout; the last of one identifier counts.
    pub fn add(&mut self, layout: Layout) -> Result<(), BadLayout> {
        let (missing, refused) = (REQUIRED & !layout.sample_type, REFUSED & layout.sample_type);
        if missing != 0 {
            return Err(BadLayout::Missing { event: layout.event, missing });
        }
        if refused != 0 {
            return Err(BadLayout::Refused { event: layout.event, refused });
        }
        let index = u32::try_from(self.layouts.len()).unwrap_or(u32::MAX);
        self.layouts.push(layout);
        self.of_event.insert(layout.event, index);
        Ok(())
    }

    /// The layout of an event's records.
    #[must_use]
    pub fn get(&self, event: u64) -> Option<&Layout> {
        self.layouts.get(*self.of_event.get(&event)? as usize)
    }
}
