//! What can be asked of a running collector. Each command is answered when it is done.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use thiserror::Error;

use super::{ChildProcess, StartError};
use crate::sys::poller::Waker;

/// Commands that wait for the collector; a caller waits when there are more.
const COMMANDS_MAX: usize = 8;

/// Something to do between two rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// End the recording.
    Stop,
    /// Stop taking samples, or go on. Mappings, forks and exits are recorded all the time.
    SetSampling(bool),
    /// Record more processes.
    Attach(Vec<u32>),
    /// Look for threads of a process that have no events, but for those that are known to report.
    Rescan { pid: u32, known: Vec<u32> },
}

/// A command and where its answer goes: how many threads were armed for it.
pub(super) type Request = (Command, SyncSender<Result<usize, StartError>>);

/// Why a command was not done.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommandError {
    /// The collector has ended.
    #[error("the recording has ended")]
    Ended,
    /// It could not be done; the recording goes on.
    #[error(transparent)]
    Refused(#[from] StartError),
}

/// Commands a running collector, from any thread.
#[derive(Clone, Debug)]
pub struct CollectorControl {
    requests: SyncSender<Request>,
    waker: Waker,
}

impl CollectorControl {
    pub(super) fn new(waker: Waker) -> (Self, Receiver<Request>) {
        let (requests, receiver) = sync_channel(COMMANDS_MAX);
        (Self { requests, waker }, receiver)
    }

    /// Ends the recording. What lies in the rings still comes, then the report.
    pub fn stop(&self) -> Result<(), CommandError> {
        self.ask(Command::Stop).map(drop)
    }

    /// Stops taking samples until [`Self::enable`]. Mappings, forks and exits are recorded all the same.
    pub fn disable(&self) -> Result<(), CommandError> {
        self.ask(Command::SetSampling(false)).map(drop)
    }

    /// Takes samples again.
    pub fn enable(&self) -> Result<(), CommandError> {
        self.ask(Command::SetSampling(true)).map(drop)
    }

    /// Records more processes, from now on. Returns how many threads they have.
    pub fn attach(&self, pids: &[u32]) -> Result<usize, CommandError> {
        self.ask(Command::Attach(pids.to_vec()))
    }

    /// Opens events on threads of `pid` that neither are in `known`, the threads that records have named, nor have
    /// events. Returns how many that were.
    pub fn rescan(&self, pid: u32, known: &[u32]) -> Result<usize, CommandError> {
        self.ask(Command::Rescan { pid, known: known.to_vec() })
    }

    fn ask(&self, command: Command) -> Result<usize, CommandError> {
        let (answer, answered) = sync_channel(1);
        self.requests.send((command, answer)).map_err(|_| CommandError::Ended)?;
        self.waker.wake();
        Ok(answered.recv().map_err(|_| CommandError::Ended)??)
    }
}

/// A running collector.
#[derive(Debug)]
pub struct CollectorHandle {
    pub(super) control: CollectorControl,
    pub(super) thread: JoinHandle<()>,
    pub(super) child: Option<ChildProcess>,
    pub(super) started_ns: u64,
}

impl CollectorHandle {
    /// Commands it; clones may go to other threads.
    pub fn control(&self) -> CollectorControl {
        self.control.clone()
    }

    /// The launched program, when there is one.
    pub fn child(&self) -> Option<&ChildProcess> {
        self.child.as_ref()
    }

    /// When sampling began, on CLOCK_MONOTONIC.
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Waits for the collector's thread to end. Somebody must be receiving deliveries, or have dropped the
    /// receiver. Whether it ended as it should.
    pub fn join(self) -> bool {
        self.thread.join().is_ok()
    }
}
