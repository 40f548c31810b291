//! The open events of a recording, and which ring each writes to.

use nix::errno::Errno;

use super::rings::Rings;
use super::templates::Templates;
use super::{EventLayout, EventRole, RingId, RingKind};
use crate::sys::perf::{Event, Kernel, Subject};

#[derive(Debug)]
struct OpenEvent {
    event: Event,
    layout: EventLayout,
}

/// Every event that was opened on targets.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<OpenEvent>);

impl EventRole {
    fn ring(self) -> RingKind {
        match self {
            Self::Sampler => RingKind::Samples,
            Self::SideBand => RingKind::SideBand,
        }
    }
}

impl Events {
    /// Opens one event on every processor and lets it write to that processor's ring.
    pub(super) fn open(
        &mut self,
        kernel: &dyn Kernel,
        templates: &Templates,
        rings: &Rings,
        subject: Subject,
        role: EventRole,
    ) -> Result<(), Errno> {
        let attributes = match role {
            EventRole::Sampler => &templates.sampler,
            EventRole::SideBand => &templates.side_band,
        };
        for owned in rings.iter().filter(|owned| owned.id.kind == role.ring()) {
            let event = kernel.open(attributes, subject, owned.id.cpu)?;
            kernel.redirect(&event, &owned.owner)?;
            let opened_on = match subject {
                Subject::Thread(tid) => Some(tid),
                Subject::Everyone => None,
            };
            let (id, fields) = (kernel.id(&event)?, attributes.fields);
            self.0.push(OpenEvent {
                event,
                layout: EventLayout { id, role, cpu: owned.id.cpu, opened_on, fields },
            });
        }
        Ok(())
    }

    /// Layouts of the events from the one numbered `first` on, in the order they were opened.
    pub(super) fn layouts_from(&self, first: usize) -> Vec<EventLayout> {
        self.0[first.min(self.0.len())..].iter().map(|open| open.layout).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Starts or ends sampling of the events from the one numbered `first` on. An event whose thread has ended
    /// takes no more samples in any case.
    pub(super) fn set_sampling(&self, kernel: &dyn Kernel, first: usize, on: bool) {
        for open in self.0.iter().skip(first).filter(|open| open.layout.role == EventRole::Sampler) {
            let _ = if on { kernel.enable(&open.event) } else { kernel.disable(&open.event) };
        }
    }

    /// Records lost on the way to a ring, as the events count them.
    pub(super) fn lost_in(&self, kernel: &dyn Kernel, ring: RingId) -> Option<u64> {
        let mine =
            self.0.iter().filter(|open| open.layout.cpu == ring.cpu && open.layout.role.ring() == ring.kind);
        let mut lost = None;
        for count in mine.filter_map(|open| kernel.lost(&open.event).ok()) {
            lost = Some(lost.unwrap_or(0) + count);
        }
        lost
    }
}
