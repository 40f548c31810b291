//! The recorder's side of a launch: fork, then hold the gate until the events are armed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use nix::unistd::{ForkResult, fork, pipe2};
use thiserror::Error;

use super::LaunchCommand;
use super::child::{self, Prepared};
use crate::sys::handle::ProcessHandle;

/// What a launch was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchStep {
    /// Making pipes and a process.
    Fork,
    /// Entering the working folder.
    Directory,
    /// Arranging the standard streams.
    Streams,
    /// Executing the program.
    Execute,
}

/// Why a program did not start.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{}: {}", step.doing(), errno.desc())]
pub struct LaunchFailure {
    /// What failed.
    pub step: LaunchStep,
    /// What the kernel answered.
    pub errno: Errno,
}

impl LaunchStep {
    fn doing(self) -> &'static str {
        match self {
            Self::Fork => "cannot start a process",
            Self::Directory => "cannot enter the working folder",
            Self::Streams => "cannot arrange the standard streams",
            Self::Execute => "cannot execute it",
        }
    }

    fn from_code(code: u8) -> Self {
        match code {
            child::DIRECTORY => Self::Directory,
            child::STREAMS => Self::Streams,
            _ => Self::Execute,
        }
    }
}

/// A child that waits for its gate to open. Dropped with the gate closed, the child exits and is waited for.
#[derive(Debug)]
pub struct Gate {
    process: Arc<ProcessHandle>,
    gate: Option<File>,
    report: File,
}

impl Gate {
    /// Makes the process, up to its gate.
    pub fn launch(command: &LaunchCommand) -> Result<Self, LaunchFailure> {
        let prepared = Prepared::new(command)
            .map_err(|_| LaunchFailure { step: LaunchStep::Execute, errno: Errno::EINVAL })?;
        Self::fork(&prepared).map_err(|errno| LaunchFailure { step: LaunchStep::Fork, errno })
    }

    fn fork(prepared: &Prepared) -> Result<Self, Errno> {
        let (gate_read, gate_write) = pipe2(OFlag::O_CLOEXEC)?;
        let (report_read, report_write) = pipe2(OFlag::O_CLOEXEC)?;
        let pid = fork_with_signals_blocked(|| {
            child::run(prepared, &gate_read, &gate_write, &report_write);
        })?;
        // Not waited for yet, so the number is still the child's.
        let process = Arc::new(ProcessHandle::open(pid)?);
        Ok(Self { process, gate: Some(File::from(gate_write)), report: File::from(report_read) })
    }

    /// The process behind the gate. Whoever opens the gate has to wait for it, once.
    pub fn process(&self) -> Arc<ProcessHandle> {
        Arc::clone(&self.process)
    }

    /// Lets the program begin, and returns when it has, or could not.
    pub fn open(mut self) -> Result<(), LaunchFailure> {
        // A child that was killed at the gate reads nothing; how it ended is told by its status.
        if let Some(mut gate) = self.gate.take() {
            let _ = gate.write_all(&[1]);
        }
        let mut report = [0; child::REPORT_BYTES];
        match self.report.read_exact(&mut report) {
            Ok(()) => Err(decode_report(report)),
            // Closed by exec: the program runs.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => {
                let errno = Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
                Err(LaunchFailure { step: LaunchStep::Execute, errno })
            }
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if self.gate.take().is_some() {
            let _ = self.process.wait_for_end();
        }
    }
}

fn decode_report(report: [u8; child::REPORT_BYTES]) -> LaunchFailure {
    let [step, errno @ ..] = report;
    LaunchFailure { step: LaunchStep::from_code(step), errno: Errno::from_raw(i32::from_ne_bytes(errno)) }
}

/// Forks with every signal blocked, so that no handler of the recorder runs in the child, and runs `in_child`
/// there, which must not return to the recorder's code: the child exits after it.
fn fork_with_signals_blocked(in_child: impl Fn()) -> Result<u32, Errno> {
    let mut before = SigSet::empty();
    pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut before))?;
    // SAFETY: the child calls only `in_child`, which keeps to async-signal-safe functions (see `child`), and
    // `_exit`.
    let forked = unsafe { fork() };
    if matches!(forked, Ok(ForkResult::Child)) {
        in_child();
        // SAFETY: ends the process; nothing runs after it.
        unsafe { libc::_exit(child::EXIT_NOT_STARTED) };
    }
    let restored = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    match forked? {
        ForkResult::Parent { child } => restored.map(|()| child.as_raw().cast_unsigned()),
        ForkResult::Child => Err(Errno::EINVAL),
    }
}
