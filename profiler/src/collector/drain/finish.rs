//! The end of a recording: sampling stops, the rings run dry, and the accounts are closed.

use std::sync::mpsc;

use super::Drain;
use crate::collector::rings::OwnedRing;
use crate::collector::targets::Target;
use crate::collector::{CollectorReport, Delivery, EndCause, RingReport};
use crate::sys::usage::OwnUsage;

/// Rounds after the end of sampling, until the rings are dry.
const LAST_ROUNDS_MAX: usize = 16;

impl Drain {
    pub(super) fn finish(mut self, cause: EndCause) {
        // Whoever asks from now on learns at once that it is over.
        self.requests = mpsc::channel().1;
        self.events.set_sampling(self.kernel.as_ref(), 0, false);
        let ended_ns = self.kernel.now_ns();
        for target in self.targets.iter_mut().filter(|target| !target.has_ended()) {
            target.conclude(self.kernel.as_ref());
        }
        for _ in 0..LAST_ROUNDS_MAX {
            self.outbox.flush_waiting();
            self.round();
            if !self.rings.iter().any(|owned| owned.ring.has_pending()) {
                break;
            }
        }
        let report = Box::new(self.report(cause, ended_ns));
        self.outbox.push(Delivery::Finished(report));
        self.outbox.flush_waiting();
    }

    fn report(&self, cause: EndCause, ended_ns: u64) -> CollectorReport {
        CollectorReport {
            cause,
            started_ns: self.progress.started_ns,
            ended_ns,
            rings: self.rings.iter().map(|owned| self.ring_report(owned)).collect(),
            targets: self.targets.iter().map(Target::report).collect(),
            exit: self.targets.iter().find_map(Target::exit),
            own: OwnUsage::of_thread().times,
            wakeups: self.progress.wakeups,
            copied_bytes: self.progress.copied_bytes,
        }
    }

    fn ring_report(&self, owned: &OwnedRing) -> RingReport {
        let lost_records = self.events.lost_in(self.kernel.as_ref(), owned.id);
        RingReport { ring: owned.id, bytes: owned.ring.taken_bytes(), lost_records }
    }
}
