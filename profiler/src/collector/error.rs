//! Why a recording cannot start: one variant per cause, with the numbers a person needs and what would help.

use std::ffi::OsString;

use nix::errno::Errno;
use thiserror::Error;

use crate::options::EventChoice;
use crate::sys::launch::{LaunchFailure, LaunchStep};

/// Why a recording cannot start. [`Self::remedy`] says what would help.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StartError {
    /// EACCES for everything: the system's level, or a security module.
    #[error("this user may not use perf events{}", at_level(*paranoid))]
    NotPermitted {
        /// `perf_event_paranoid`, when it could be read.
        paranoid: Option<i32>,
    },
    /// EPERM for everything: a filter of system calls, or a missing capability.
    #[error(
        "perf events are blocked here (perf_event_open: EPERM), most likely by a container's seccomp profile"
    )]
    Blocked,
    /// ENOSYS: no such system call, really or by a filter.
    #[error(
        "perf events do not exist here (perf_event_open: ENOSYS): the kernel lacks them, or a sandbox hides them"
    )]
    NoPerfEvents,
    /// The kernel's code was to be sampled and may not be.
    #[error("the kernel may not be sampled{}, and --kernel on asks for it", at_level(*paranoid))]
    KernelNotPermitted {
        /// `perf_event_paranoid`, when it could be read.
        paranoid: Option<i32>,
    },
    /// The event that was asked for does not exist here.
    #[error("the event {event} cannot be sampled here: {}", errno.desc())]
    EventUnavailable {
        /// What was asked for.
        event: EventChoice,
        /// What the kernel answered.
        errno: Errno,
    },
    /// There is no such process, or not any more.
    #[error("there is no process {pid}")]
    TargetGone {
        /// Which one.
        pid: u32,
    },
    /// The number is of a thread that is not its process's first.
    #[error("{tid} is a thread of process {pid}, not a process")]
    TargetIsThread {
        /// What was given.
        tid: u32,
        /// The process it is of.
        pid: u32,
    },
    /// The process belongs to somebody else, or changed its rights.
    #[error("process {pid} may not be profiled by this user")]
    TargetNotPermitted {
        /// Which one.
        pid: u32,
    },
    /// No process was named.
    #[error("no process to attach to was named")]
    NoTarget,
    /// Events need more descriptors than may be open.
    #[error("profiling {threads} threads needs {needed} descriptors, and {left} may be opened")]
    Descriptors {
        /// Threads to be profiled.
        threads: u64,
        /// Descriptors they need.
        needed: u64,
        /// Descriptors that may be opened.
        left: u64,
    },
    /// Not even the smallest rings may be locked in memory.
    #[error("rings need {} KiB of locked memory, and {} KiB may be locked", needed_bytes >> 10, lockable_bytes >> 10)]
    LockedMemory {
        /// The least that works.
        needed_bytes: u64,
        /// What may be locked, as far as is known.
        lockable_bytes: u64,
    },
    /// The program did not start.
    #[error("{}: {failure}", program.to_string_lossy())]
    Program {
        /// What was to be started.
        program: OsString,
        /// Where it failed.
        failure: LaunchFailure,
    },
    /// Something that should always work did not.
    #[error("cannot {doing}: {}", errno.desc())]
    System {
        /// What was done.
        doing: &'static str,
        /// What the kernel answered.
        errno: Errno,
    },
}

fn at_level(paranoid: Option<i32>) -> String {
    paranoid.map_or_else(String::new, |level| format!(" at perf_event_paranoid {level}"))
}

impl StartError {
    /// What would help, when something would.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NotPermitted { paranoid: Some(level) } if *level > 2 => {
                "allow it with: sudo sysctl kernel.perf_event_paranoid=2".to_owned()
            }
            Self::NotPermitted { .. } => {
                "a security module refuses it: run as root, or give the program CAP_PERFMON".to_owned()
            }
            Self::Blocked | Self::NoPerfEvents => {
                "in a container, allow perf_event_open: docker run --cap-add PERFMON, or a seccomp profile with it"
                    .to_owned()
            }
            Self::KernelNotPermitted { .. } => {
                "allow it with: sudo sysctl kernel.perf_event_paranoid=1, or leave out --kernel on".to_owned()
            }
            Self::EventUnavailable { event, .. } if *event != EventChoice::CpuClock => {
                "use --event cpu-clock, which every machine has".to_owned()
            }
            Self::TargetIsThread { pid, .. } => format!("attach to the process: -p {pid}"),
            Self::TargetNotPermitted { .. } => {
                "profile as the user who owns the process, as root, or with CAP_PERFMON".to_owned()
            }
            Self::Descriptors { needed, .. } => {
                format!("allow more, with: ulimit -n {needed}, or profile as root, which needs fewer")
            }
            Self::LockedMemory { needed_bytes, .. } => {
                format!("allow more, with: ulimit -l {}, or end other recordings of this user", needed_bytes >> 10)
            }
            Self::Program { failure: LaunchFailure { step: LaunchStep::Execute, errno: Errno::ENOENT }, .. } => {
                "check the name, or give the path to the program".to_owned()
            }
            Self::Program { failure: LaunchFailure { step: LaunchStep::Execute, errno: Errno::EACCES }, .. } => {
                "check that the file is a program and may be executed".to_owned()
            }
            _ => return None,
        })
    }
}

/// What an errno of the very first event means: nothing of perf works.
pub(super) fn first_refusal(errno: Errno, paranoid: Option<i32>) -> StartError {
    match errno {
        Errno::EACCES => StartError::NotPermitted { paranoid },
        Errno::EPERM => StartError::Blocked,
        Errno::ENOSYS => StartError::NoPerfEvents,
        errno => StartError::System { doing: "open a perf event", errno },
    }
}
