//! Other profile formats, brought into the same validated model.
//!
//! [`read`] tells the format by its bytes. What a format cannot say stays absent, and what it says that the
//! model has no place for becomes a loss of kind [`crate::LossKind::Imported`] with its reason: the converter
//! loses it, not the reader silently.

pub mod folded;
mod losses;
pub mod pprof;

use thiserror::Error;

use crate::{Builder, Capture, OpenError, Process, ProcessId, Thread, ThreadId, is_capture};

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A capture of microscope.
    Capture,
    /// pprof, plain or in gzip.
    Pprof,
    /// Folded stacks, one a line.
    Folded,
}

impl Format {
    /// The name that `--from` takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Pprof => "pprof",
            Self::Folded => "folded",
        }
    }

    /// The format of some bytes, if they look like one.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        if is_capture(bytes) {
            Some(Self::Capture)
        } else if pprof::is_pprof(bytes) {
            Some(Self::Pprof)
        } else if folded::is_folded(bytes) {
            Some(Self::Folded)
        } else {
            None
        }
    }
}

/// Why bytes could not be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is none of the formats that are known.
    #[error("neither a microscope capture nor pprof nor folded stacks")]
    UnknownFormat,
    /// It is a capture that cannot be opened.
    #[error(transparent)]
    Capture(#[from] OpenError),
    /// It is pprof that cannot be read.
    #[error("pprof: {0}")]
    Pprof(#[from] pprof::PprofError),
    /// It is folded stacks that cannot be read.
    #[error("folded stacks: {0}")]
    Folded(#[from] folded::FoldedError),
}

/// Reads a capture from bytes of any known format.
pub fn read(bytes: &[u8]) -> Result<Capture, ImportError> {
    match Format::detect(bytes) {
        Some(format) => read_as(format, bytes),
        None => Err(ImportError::UnknownFormat),
    }
}

/// Reads a capture from bytes of a given format.
pub fn read_as(format: Format, bytes: &[u8]) -> Result<Capture, ImportError> {
    match format {
        Format::Capture => Ok(Capture::read(bytes)?),
        Format::Pprof => Ok(pprof::read(bytes)?),
        Format::Folded => Ok(folded::read(bytes)?),
    }
}

/// A process that an imported profile tells little of.
fn process(builder: &mut Builder, pid: u32, name: &str) -> ProcessId {
    let name = builder.string(name);
    let executable = builder.string("");
    builder.tables.processes.push(Process {
        pid,
        namespace_pid: None,
        parent: None,
        exec_of: None,
        name,
        executable,
        start_ns: 0,
        end_ns: None,
    })
}

/// A thread that an imported profile tells little of.
fn thread(builder: &mut Builder, process: ProcessId, tid: u32, name: &str) -> ThreadId {
    let name = builder.string(name);
    builder.tables.threads.push(Thread {
        process,
        tid,
        namespace_tid: None,
        name,
        start_ns: 0,
        end_ns: None,
        user_time_ns: None,
        system_time_ns: None,
    })
}

#[cfg(test)]
mod tests;
