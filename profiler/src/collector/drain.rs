//! The collector's thread. It owns the events, the rings and the targets; waits for a watermark, a tick, a
//! command or a target's end; and ends when it is told to, when every target is gone and the rings are dry, or
//! when nobody receives any more.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, never};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::arming::Arming;
use super::commands::{Command, Request};
use super::events::Events;
use super::outbox::Outbox;
use super::planning::Templates;
use super::rings::{OwnedRing, Rings};
use super::targets::Target;
use super::{Batch, CollectorReport, Delivery, EndCause, RingKind, RingReport, StartError, Topology};
use crate::sys::perf::{Kernel, Start};
use crate::sys::poller::Poller;
use crate::sys::process::CpuTimes;

/// The longest a record waits in a ring.
pub(super) const DRAIN_PERIOD: Duration = Duration::from_millis(20);
/// A record's time is read a moment before it is written; one that old has been written.
const SETTLE_NS: u64 = 1_000_000;
/// How often rounds are told while nothing happens.
const IDLE_ROUND_NS: u64 = 200_000_000;
/// How often the targets' times are read, in case they end unseen: every half second.
const TICKS_PER_REFRESH: u64 = 25;
/// Memory that copies of sample rings, and of side-band rings, may take.
const COPIED_SAMPLES_MAX: usize = 64 << 20;
const COPIED_SIDE_BAND_MAX: usize = 16 << 20;
/// Rounds after the end of sampling, until the rings are dry.
const LAST_ROUNDS_MAX: usize = 16;

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
    /// Whether bytes were handed over since the round before the last one was told.
    unsettled: bool,
    stop: bool,
}

impl Drain {
    /// Drains once and starts sampling, tells when, then goes on to the end.
    pub(super) fn run(mut self, running: &Sender<Result<u64, StartError>>) {
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
        if self.progress.wakeups.is_multiple_of(TICKS_PER_REFRESH) {
            for target in self.targets.iter_mut().filter(|target| !target.has_ended()) {
                target.refresh(self.kernel.as_ref());
            }
        }
    }

    fn answer_requests(&mut self) {
        while let Ok((command, answer)) = self.requests.try_recv() {
            let done = self.execute(command);
            // Whoever asked may have stopped waiting.
            let _ = answer.try_send(done);
        }
    }

    fn execute(&mut self, command: Command) -> Result<usize, StartError> {
        match command {
            Command::Stop => self.progress.stop = true,
            Command::SetSampling(on) => self.events.set_sampling(self.kernel.as_ref(), 0, on),
            Command::Attach(pids) => return self.attach(&pids),
            Command::Rescan { pid, known } => return self.arm(pid, &known),
        }
        Ok(0)
    }

    fn attach(&mut self, pids: &[u32]) -> Result<usize, StartError> {
        let mut threads = 0;
        for pid in pids {
            let mut target = Target::attach(*pid)?;
            threads += self.arm(*pid, &[])?;
            target.begin(self.kernel.as_ref());
            self.targets.push(target);
            let watched = self.watch_targets(self.targets.len() - 1);
            watched.map_err(|errno| StartError::System { doing: "watch the target", errno })?;
        }
        Ok(threads)
    }

    /// Events that watch everyone need nothing more for one more process.
    fn arm(&mut self, pid: u32, covered: &[u32]) -> Result<usize, StartError> {
        if self.topology == Topology::SystemWide {
            return Ok(0);
        }
        let kernel = self.kernel.as_ref();
        let first = self.events.len();
        let mut arming =
            Arming { kernel, templates: &self.templates, rings: &self.rings, events: &mut self.events };
        let armed = arming.process(pid, covered);
        self.outbox.push(Delivery::Events(self.events.layouts_from(first)));
        self.events.set_sampling(kernel, first, true);
        armed
    }

    /// Drains every ring, and tells up to when that was everything.
    fn round(&mut self) {
        let now_ns = self.kernel.now_ns();
        self.outbox.flush();
        let (mut handed_over, mut complete) = (false, true);
        let mut spare = self.spare_copies();
        for owned in self.rings.iter_mut() {
            owned.ring.reclaim();
            if self.outbox.is_behind() && !is_half_full(owned) {
                complete &= !owned.ring.has_pending();
                continue;
            }
            if let Some(span) = owned.ring.take() {
                handed_over = true;
                self.outbox.push(Delivery::Batch(Batch::lent(owned.id, span)));
            }
            self.progress.copied_bytes += make_room(owned, spare.of(owned.id.kind));
        }
        // Told to a processor that is behind, rounds would only pile up.
        if complete && !self.outbox.is_behind() {
            self.tell_round(now_ns, handed_over);
        }
    }

    fn tell_round(&mut self, now_ns: u64, handed_over: bool) {
        let idle = !handed_over && !self.progress.unsettled;
        self.progress.unsettled = handed_over;
        if idle && now_ns.saturating_sub(self.progress.last_round_ns) < IDLE_ROUND_NS {
            return;
        }
        self.progress.last_round_ns = now_ns;
        self.outbox.push(Delivery::Round { complete_to_ns: now_ns.saturating_sub(SETTLE_NS) });
    }

    fn spare_copies(&self) -> SpareCopies {
        let mut spare = SpareCopies { samples: COPIED_SAMPLES_MAX, side_band: COPIED_SIDE_BAND_MAX };
        for owned in self.rings.iter() {
            let left = spare.of(owned.id.kind);
            *left = left.saturating_sub(owned.ring.copied_bytes());
        }
        spare
    }

    fn finish(mut self, cause: EndCause) {
        // Whoever asks from now on learns at once that it is over.
        self.requests = never();
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
            own: own_times(),
            wakeups: self.progress.wakeups,
            copied_bytes: self.progress.copied_bytes,
        }
    }

    fn ring_report(&self, owned: &OwnedRing) -> RingReport {
        let lost_records = self.events.lost_in(self.kernel.as_ref(), owned.id);
        RingReport { ring: owned.id, bytes: owned.ring.taken_bytes(), lost_records }
    }
}

/// How many more bytes may be copied.
struct SpareCopies {
    samples: usize,
    side_band: usize,
}

impl SpareCopies {
    fn of(&mut self, kind: RingKind) -> &mut usize {
        match kind {
            RingKind::Samples => &mut self.samples,
            RingKind::SideBand => &mut self.side_band,
        }
    }
}

fn is_half_full(owned: &OwnedRing) -> bool {
    owned.ring.used_bytes() > owned.ring.data_bytes() as u64 / 2
}

/// Copies what is out of a ring that runs full, so that the kernel can go on. Returns how many bytes that were.
fn make_room(owned: &mut OwnedRing, spare: &mut usize) -> u64 {
    let mut copied = 0;
    while is_half_full(owned) && owned.ring.is_lent() {
        let Some(length) = owned.ring.copy_oldest(*spare) else { break };
        *spare = spare.saturating_sub(length);
        copied += length as u64;
    }
    copied
}

fn own_times() -> CpuTimes {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return CpuTimes::default() };
    let nanoseconds = |time: nix::sys::time::TimeVal| u64::try_from(time.num_nanoseconds()).unwrap_or(0);
    CpuTimes { user_ns: nanoseconds(usage.user_time()), system_ns: nanoseconds(usage.system_time()) }
}
