//! What may be asked of [`Files`](super::Files) and how it answers; all of it is plain data, so that a raw log can keep it.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::FileHandle;
use crate::records::FileKey;

/// Where a regular file is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// At a path as a process sees it: under its root, in its mount namespace, never leaving it.
    InProcess {
        /// The process.
        pid: u32,
        /// The absolute path.
        path: PathBuf,
    },
    /// What a process has mapped at an address range, whatever became of its path. Needs a capability.
    Mapped {
        /// The process.
        pid: u32,
        /// The range's first address.
        start_address: u64,
        /// One past its last.
        end_address: u64,
    },
    /// The program that a process runs, whatever became of its path.
    Executable {
        /// The process.
        pid: u32,
    },
    /// At a path as the recorder sees it.
    Host {
        /// The path.
        path: PathBuf,
    },
    /// The kernel's page of fast system calls, as the recorder's own process has it.
    Vdso,
}

/// A file that was opened.
#[derive(Clone)]
pub struct OpenedFile {
    /// Its bytes.
    pub handle: FileHandle,
    /// Its place in its file system. The generation is not known.
    pub key: FileKey,
}

impl fmt::Debug for OpenedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedFile").field("key", &self.key).field("len", &self.handle.len()).finish()
    }
}

/// A text that the kernel makes when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Text {
    /// `/proc/PID/maps`.
    Maps {
        /// The process.
        pid: u32,
    },
    /// `/proc/PID/task/TID/comm`.
    Comm {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// `/proc/PID/task/TID/stat`.
    Stat {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// `/proc/PID/task/TID/status`.
    Status {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// `/proc/PID/cmdline`.
    CommandLine {
        /// The process.
        pid: u32,
    },
    /// Where `/proc/PID/exe` points.
    Executable {
        /// The process.
        pid: u32,
    },
    /// `/proc/kallsyms`.
    KernelSymbols,
    /// `/sys/kernel/notes`, which hold the kernel's build ID.
    KernelNotes,
}

impl Text {
    /// The longest text that is read.
    #[must_use]
    pub const fn bytes_max(self) -> usize {
        match self {
            Self::KernelSymbols => 64 << 20,
            Self::Maps { .. } => 16 << 20,
            Self::CommandLine { .. } => 1 << 20,
            Self::KernelNotes => 1 << 16,
            Self::Comm { .. } | Self::Stat { .. } | Self::Status { .. } | Self::Executable { .. } => 1 << 13,
        }
    }
}

/// An answer about something that changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<T> {
    /// When it was complete, by CLOCK_MONOTONIC. It proves nothing of earlier times.
    pub time_ns: u64,
    /// What was found.
    pub value: T,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum FileProblem {
    /// Nothing is there.
    #[error("not found")]
    Missing,
    /// The recorder may not read it.
    #[error("not permitted")]
    Denied,
    /// A directory, device, pipe or socket is there.
    #[error("not a regular file")]
    NotRegular,
    /// A path is not absolute, or holds a zero byte.
    #[error("not an absolute path")]
    BadPath,
    /// The text is longer than is read.
    #[error("longer than {bytes_max} bytes")]
    TooLong {
        /// The limit.
        bytes_max: u64,
    },
    /// The recorder keeps as many files open as it may.
    #[error("the recorder has too many files open")]
    TooManyOpen,
    /// A replay was asked what its recording was not.
    #[error("the raw log holds no answer")]
    NotRecorded,
    /// Another error of the system.
    #[error("system error {errno}")]
    System {
        /// Its number.
        errno: i32,
    },
}

impl From<std::io::Error> for FileProblem {
    fn from(error: std::io::Error) -> Self {
        use nix::errno::Errno;
        if error.kind() == std::io::ErrorKind::NotFound {
            return Self::Missing;
        }
        match Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)) {
            Errno::ENOENT | Errno::ESRCH | Errno::ENOTDIR => Self::Missing,
            Errno::EACCES | Errno::EPERM => Self::Denied,
            Errno::EMFILE | Errno::ENFILE => Self::TooManyOpen,
            Errno::EMEDIUMTYPE => Self::NotRegular,
            errno => Self::System { errno: errno as i32 },
        }
    }
}

impl From<nix::errno::Errno> for FileProblem {
    fn from(errno: nix::errno::Errno) -> Self {
        std::io::Error::from(errno).into()
    }
}
