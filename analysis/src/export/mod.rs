//! Other profilers' formats, written as streams. What a format cannot hold is lost by its exporter, and said.

mod chrome;
mod firefox;
mod folded;
mod json;
mod levels;
mod per_thread;
mod pprof;

use std::io::{self, BufWriter, Write};

use microscope_capture::Capture;
use thiserror::Error;

use crate::ask::Question;
use crate::select::Selection;
use crate::{Granularity, Query, QueryError};

/// A format that a capture can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// One line per stack, `outermost;…;innermost weight`, for flame graph tools.
    Folded,
    /// pprof's protobuf in gzip.
    Pprof,
    /// Trace events with one sampled profile per thread: Chrome's DevTools, Perfetto, speedscope.
    Chrome,
    /// Firefox Profiler's processed profile.
    Firefox,
}

impl Format {
    /// What a capture knows and the format's files do not, for people.
    #[must_use]
    pub const fn loses(self) -> &'static [&'static str] {
        match self {
            Self::Folded => folded::LOSES,
            Self::Pprof => pprof::LOSES,
            Self::Chrome => chrome::LOSES,
            Self::Firefox => firefox::LOSES,
        }
    }
}

/// Why an export failed.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The query has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The output could not be written.
    #[error("cannot write the export: {0}")]
    Io(#[from] io::Error),
}

/// Writes the samples that `query` asks for. Only folded stacks heed its granularity.
pub fn export(
    capture: &Capture,
    query: &Query,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let by = if format == Format::Folded { query.by } else { Granularity::Function };
    let query = Query { by, ..query.clone() };
    let selection = Selection::new(capture, &query)?;
    let question = Question::new(capture, &query)?;
    let mut out = BufWriter::new(out);
    match format {
        Format::Folded => folded::write(&question, &mut out)?,
        Format::Pprof => pprof::write(&question, &selection, &mut out)?,
        Format::Chrome => chrome::write(&question, &selection, &mut out)?,
        Format::Firefox => firefox::write(&question, &selection, &mut out)?,
    }
    out.flush()?;
    Ok(())
}
