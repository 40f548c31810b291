//! The collector's thread. It owns the events, the rings and the targets; waits for a watermark, a tick, a
//! command or a target's end; and ends when it is told to, when every target is gone and the rings are dry, or
//! when nobody receives any more.

mod finish;
mod requests;
mod rounds;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use nix::errno::Errno;

use super::commands::Request;
use super::events::Events;
use super::outbox::Outbox;
use super::rings::Rings;
use super::targets::Target;
use super::templates::Templates;
use super::{EndCause, StartError, Topology};
use crate::sys::perf::{Kernel, Start};
use crate::sys::poller::Poller;

/// The longest a record waits in a ring.
pub(super) const DRAIN_PERIOD: Duration = Duration::from_millis(20);
/// How often the targets' times are read, in case they end unseen: about every half second.
const WAKEUPS_PER_REFRESH: u64 = 25;

/// Everything a collector owns.
pub(super) struct Drain {
    pub(super) kernel: Box<dyn Kernel>,
    pub(super) templates: Templates,
    pub(super) topology: Topology,
    pub(super) rings: Rings,
    pub(super) events: Events,
    pub(super) targets: Vec<Target>,
    pub(super) poller: Poller,
    pub(super) requests: Receiver<Request>,
    pub(super) outbox: Outbox,
    pub(super) progress: Progress,
}

/// What a collector keeps count of.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) started_ns: u64,
    wakeups: u64,
    copied_bytes: u64,
    last_round_ns: u64,
    /// Rounds that are to be told though nothing new comes.
    rounds_owed: u8,
    stop: bool,
}

impl Drain {
    /// Drains once and starts sampling, tells when, then goes on to the end.
    pub(super) fn run(mut self, running: &SyncSender<Result<u64, StartError>>) {
        let begun = self.begin().map_err(|errno| StartError::System { doing: "watch the targets", errno });
        let failed = begun.is_err();
        if running.send(begun).is_err() || failed {
            return;
        }
        let cause = loop {
            if let Some(cause) = self.end_cause() {
                break cause;
            }
            self.wait();
            self.answer_requests();
            self.round();
        };
        self.finish(cause);
    }

    fn watch(&self) -> Result<(), Errno> {
        for owned in self.rings.iter() {
            self.poller.add(&owned.owner, u32::MAX)?;
        }
        self.watch_targets(0)
    }

    /// Targets are named by their place in the list.
    fn watch_targets(&self, first: usize) -> Result<(), Errno> {
        for (token, target) in (0_u32..).zip(&self.targets).skip(first) {
            self.poller.add(target.handle.as_fd(), token)?;
        }
        Ok(())
    }

    /// Launched programs start sampling by their exec, all others now.
    fn begin(&mut self) -> Result<u64, Errno> {
        self.watch()?;
        self.round();
        self.progress.started_ns = self.kernel.now_ns();
        for target in &mut self.targets {
            target.begin(self.kernel.as_ref());
        }
        if self.templates.sampler.start == Start::Disabled {
            self.events.set_sampling(self.kernel.as_ref(), 0, true);
        }
        Ok(self.progress.started_ns)
    }

    fn end_cause(&self) -> Option<EndCause> {
        if self.progress.stop {
            Some(EndCause::Stopped)
        } else if self.outbox.is_receiver_gone() {
            Some(EndCause::ReceiverGone)
        } else if self.targets.iter().all(Target::has_ended) {
            Some(EndCause::TargetsGone)
        } else {
            None
        }
    }

    fn wait(&mut self) {
        self.progress.wakeups += 1;
        let Ok(ready) = self.poller.wait() else {
            // Without a wait there is nothing left to do but to end in order.
            self.progress.stop = true;
            return;
        };
        let mut ended = Vec::new();
        for token in ready {
            let target = usize::try_from(token).ok().and_then(|place| self.targets.get_mut(place));
            if let Some(target) = target.filter(|target| !target.has_ended()) {
                target.end(self.kernel.as_ref());
                ended.push(Arc::clone(&target.handle));
            }
        }
        for handle in ended {
            // Were it to fail, the only harm is a wait that ends early.
            let _ = self.poller.remove(handle.as_fd());
        }
        if self.progress.wakeups.is_multiple_of(WAKEUPS_PER_REFRESH) {
            for target in self.targets.iter_mut().filter(|target| !target.has_ended()) {
                target.refresh(self.kernel.as_ref());
            }
        }
    }
}
