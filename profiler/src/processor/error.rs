//! Why deliveries cannot become rows.

use microscope_capture::{Invalid, SpoolError};
use thiserror::Error;

use crate::files::FileProblem;
use crate::records::BadLayout;

/// Why a recording cannot be processed.
#[derive(Debug, Error)]
pub enum ProcessorError {
    /// The spool could not be made, written or read back.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// A process to attach to cannot be read.
    #[error("cannot read process {pid}: {problem}")]
    Attach {
        /// The process.
        pid: u32,
        /// Why.
        problem: FileProblem,
    },
    /// The events' layouts cannot be decoded.
    #[error(transparent)]
    Layout(#[from] BadLayout),
    /// The collector ended without its report: a defect.
    #[error("the collector ended without a report")]
    NoReport,
    /// The rows break a rule of the format: a defect of the recorder.
    #[error("the recording broke a rule of its own format: {0}")]
    Invalid(#[from] Invalid),
}
