//! After the last record: seal, publish by address, wait for names, publish by name.

use std::process::ExitStatus;

use microscope_capture::{Builder, Capture, publish, setting_names as names};

use super::settings::{note_unwatched, write_cost, write_report};
use super::{SessionError, SessionRequest, Target};
use crate::collector::{CollectorReport, EndCause};
use crate::processor::{Processor, Sealed};
use crate::sources::{self, Owner, TextReader};
use crate::sys::usage::OwnUsage;

/// What is done after the last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Rows are put in order and checked.
    Sealing,
    /// Names are looked up.
    Naming {
        /// Frames that still wait.
        left: usize,
    },
    /// The capture is written.
    Writing,
}

/// What the recorder used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecorderCost {
    /// Processor time of all its threads.
    pub cpu_ns: u64,
    /// Its peak resident memory.
    pub memory_peak_bytes: u64,
}

impl RecorderCost {
    /// What this process has used so far.
    #[must_use]
    pub fn now() -> Self {
        let OwnUsage { times, memory_peak_bytes } = OwnUsage::of_process();
        Self { cpu_ns: times.total_ns(), memory_peak_bytes }
    }
}

/// A recording that was published.
pub struct Recorded {
    /// The capture, as it lies at the output.
    pub capture: Capture,
    /// Why the recording ended.
    pub cause: EndCause,
    /// How the launched program ended, when it did.
    pub exit: Option<ExitStatus>,
    /// Why the recording ended before its time: rows could not be spooled any more.
    pub cut_short: Option<String>,
}

pub(super) struct Finish<F> {
    pub(super) request: SessionRequest,
    pub(super) report: CollectorReport,
    pub(super) progress: F,
}

impl<F: FnMut(Progress)> Finish<F> {
    pub(super) fn run(mut self, processor: Processor) -> Result<Recorded, SessionError> {
        (self.progress)(Progress::Sealing);
        let cut_short = processor.failure().map(ToString::to_string);
        let mut sealed = processor.seal(&self.report)?;
        write_report(&self.report, &mut sealed.builder);
        note_unwatched(&self.report, &mut sealed.builder);
        if sealed.waiting() > 0 {
            self.publish_addresses(&mut sealed)?;
        }
        let progress = &mut self.progress;
        let mut named = sealed.name(|left| progress(Progress::Naming { left }));
        sources::collect(&mut named.builder, &self.request.sources, &TextReader::new(self.owner()));
        if let Some(why) = &named.kernel_refusal {
            named.builder.set(None, names::KERNEL_SYMBOLS, why);
        }
        let capture = self.publish(named.builder, "immediate")?;
        named.spool.discard()?;
        let Self { report, .. } = self;
        Ok(Recorded { capture, cause: report.cause, exit: report.exit, cut_short })
    }

    /// A capture that says everything but names: it stays if naming is cut off.
    fn publish_addresses(&mut self, sealed: &mut Sealed) -> Result<(), SessionError> {
        write_cost(RecorderCost::now(), &mut sealed.builder);
        let capture = sealed.builder.capture().map_err(crate::processor::ProcessorError::from)?;
        self.write(&capture)
    }

    fn publish(&mut self, mut builder: Builder, symbols: &str) -> Result<Capture, SessionError> {
        (self.progress)(Progress::Writing);
        builder.set(None, names::SYMBOLS, symbols);
        write_cost(RecorderCost::now(), &mut builder);
        let capture = builder.finish().map_err(crate::processor::ProcessorError::from)?;
        self.write(&capture)?;
        Ok(capture)
    }

    fn write(&self, capture: &Capture) -> Result<(), SessionError> {
        let path = &self.request.output;
        publish(path, capture).map_err(|source| SessionError::Publish { path: path.clone(), source })
    }

    /// Whose rights source texts are read with: the attached process's owner, else who started the recorder.
    fn owner(&self) -> Owner {
        let own = Owner { uid: nix::unistd::getuid().as_raw(), gid: nix::unistd::getgid().as_raw() };
        match &self.request.target {
            Target::Launch(_) => own,
            Target::Attach(pids) => pids.iter().find_map(|pid| Owner::of_process(*pid)).unwrap_or(own),
        }
    }
}
