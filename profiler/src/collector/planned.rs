//! A plan with its rings: sized once within what may be locked, and again when the kernel refuses that much.

use super::sizing::{Allowance, BUFFER_MS_WANTED, Demand, Sizing, size_rings};
use super::templates::Templates;
use super::{Plan, PlanNote, StartError};
use crate::sys;
use crate::sys::machine::{Lockable, Machine};

/// The part of the machine's memory that rings take at most, and how much that may be.
const MEMORY_SHARE: u64 = 16;
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// What a recording is to be made of.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) templates: Templates,
    /// What rings were sized for.
    pub(super) allowance: Allowance,
    demand: Demand,
}

impl Planned {
    /// Gives a plan its rings.
    pub(super) fn new(
        plan: Plan,
        templates: Templates,
        demand: Demand,
        allowance: Allowance,
    ) -> Result<Self, StartError> {
        Self { plan, templates, allowance, demand }.sized(allowance)
    }

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

/// What rings may take on this machine, as far as its limits tell.
pub(super) fn allowance(machine: &Machine) -> Allowance {
    let share = (machine.memory_bytes / MEMORY_SHARE).min(MEMORY_BYTES_MAX);
    let bytes = match machine.lockable {
        Lockable::Unlimited => share,
        Lockable::Bytes(bytes) => bytes.min(share),
    };
    Allowance { bytes, cpus: machine.cpus.len(), page_bytes: sys::page_bytes() }
}
