//! A recording from its request to its published capture: starts the threads, waits for them, seals, names.
//!
//! ```text
//! request ─▶ spool, events, gate ─▶ [collector] ═queue═▶ [processor] ─▶ seal ─▶ publish ─▶ names ─▶ publish
//! ```
//! The thread that calls [`Session::wait`] owns nothing while it waits, and does the sealing after.

mod finish;
mod replay;
mod request;
mod settings;
mod worker;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use microscope_capture::{Spool, SpoolError};
use thiserror::Error;

use crate::collector::{
    Armed, ChildProcess, CollectorControl, CollectorHandle, EventLayout, Plan, StartError, attach, launch,
};
use crate::files::{Files, OsFiles};
use crate::processor::{Processor, ProcessorError, Setup, Targets};
use crate::rawlog::{self, RawLogError, RawLogWriter, Start};
use crate::sys::clock::monotonic_ns;
use worker::{Running, Worker};

pub use finish::{Progress, Recorded, RecorderCost};
pub use replay::replay;
pub use request::{SessionRequest, Target};
pub use worker::Status;

/// Deliveries that wait for the processor at most: batches lend ring memory, so the rings are the real buffer.
const QUEUE_LEN: usize = 1024;

/// Why there is no recording, or none to publish.
#[derive(Debug, Error)]
pub enum SessionError {
    /// It could not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A file of that name is there already.
    #[error(
        "{path} is there already: a recording still writes it, or was killed (microscope recover keeps it)"
    )]
    SpoolExists {
        /// The spool.
        path: PathBuf,
    },
    /// The spool failed.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// Records could not be turned into rows.
    #[error(transparent)]
    Processor(ProcessorError),
    /// The system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The capture could not be written.
    #[error("cannot write {path}: {source}")]
    Publish {
        /// The capture.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The raw log could not be written.
    #[error(transparent)]
    RawLog(#[from] RawLogError),
    /// A thread of the recorder failed: a defect. What was spooled can be recovered.
    #[error("the recorder's {thread} failed; `microscope recover {spool}` keeps what it had written", spool = spool.display())]
    Defect {
        /// Which thread.
        thread: &'static str,
        /// The spool it left.
        spool: PathBuf,
    },
}

impl From<ProcessorError> for SessionError {
    fn from(error: ProcessorError) -> Self {
        match error {
            ProcessorError::Spool(error) => Self::Spool(error),
            error => Self::Processor(error),
        }
    }
}

/// A recording that runs.
pub struct Session {
    plan: Plan,
    request: SessionRequest,
    collector: CollectorHandle,
    processor: Running,
    raw_log: Option<Arc<RawLogWriter>>,
}

impl Session {
    /// Starts recording. A launched program runs when this returns.
    pub fn start(request: SessionRequest) -> Result<Self, SessionError> {
        let spool = create_spool(&request)?;
        let path = spool.path().to_owned();
        start_with(request, spool).inspect_err(|_| {
            // The spool is empty: there is nothing to recover.
            let _ = std::fs::remove_file(path);
        })
    }

    /// What was chosen and why.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The launched program, when there is one.
    #[must_use]
    pub fn child(&self) -> Option<ChildProcess> {
        self.collector.child().cloned()
    }

    /// Counts that change while it runs.
    #[must_use]
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.processor.status)
    }

    /// Ends the recording from another thread; what lies in the rings still comes. Targets run on.
    #[must_use]
    pub fn control(&self) -> CollectorControl {
        self.collector.control()
    }

    /// Waits for the recording's end, then seals, publishes and names it.
    pub fn wait(self, progress: impl FnMut(Progress)) -> Result<Recorded, SessionError> {
        self.stop_when_over();
        let spool = self.request.spool_path();
        let defect = |thread| SessionError::Defect { thread, spool: spool.clone() };
        let processed = self.processor.thread.join().map_err(|_| defect("processor"));
        if !self.collector.join() {
            return Err(defect("collector"));
        }
        let (processor, report) = processed??;
        let Self { request, raw_log, .. } = self;
        let recorded = finish::Finish { request, report: *report, progress }.run(processor);
        if let Some(raw_log) = raw_log {
            // Last, since names are read from files to the end.
            raw_log.finish()?;
        }
        recorded
    }

    /// Returns when the processor has ended, after stopping the collector if the wanted duration was over first.
    fn stop_when_over(&self) {
        let Some(duration) = self.request.options.duration() else { return };
        if self.processor.ended_within(duration) {
            return;
        }
        // A collector that has ended by itself meanwhile needs no stop.
        let _ = self.collector.control().stop();
    }
}

fn start_with(request: SessionRequest, spool: Spool) -> Result<Session, SessionError> {
    let armed = arm(&request)?;
    let (plan, layouts, pids) = (armed.plan.clone(), armed.layouts.clone(), armed.pids.clone());
    let (sender, receiver) = std::sync::mpsc::sync_channel(QUEUE_LEN);
    let targets = targets(&request, pids);
    let start = start(&plan, layouts, &targets, monotonic_ns());
    let raw_log = begin_raw_log(&request, &start)?;
    let files: Arc<dyn Files> = Arc::new(OsFiles);
    let files = raw_log.as_ref().map_or_else(|| Arc::clone(&files), |log| log.files(Arc::clone(&files)));
    // Running processes are read here: their side band is recorded already, so no change is missed after the
    // reading, and samples begin only with the collector, so none is older than it.
    let processor = Processor::new(Setup {
        settings: settings::opening(&plan, &request.target),
        ..setup(start, targets, files, spool)
    })?;
    let collector = armed.start(sender)?;
    let worker = Worker::new(processor, receiver, collector.control(), raw_log.clone());
    let processor = worker.spawn().map_err(SessionError::Thread)?;
    Ok(Session { plan, request, collector, processor, raw_log })
}

/// What a processor begins with, as a raw log keeps it.
fn start(plan: &Plan, layouts: Vec<EventLayout>, targets: &Targets, start_ns: u64) -> Start {
    let (launched, attached) = match targets {
        Targets::Launched(pid) => (Some(*pid), Vec::new()),
        Targets::Attached(pids) => (None, pids.clone()),
    };
    Start { start_ns, plan: plan.clone(), layouts, launched, attached }
}

fn setup(start: Start, targets: Targets, files: Arc<dyn Files>, spool: Spool) -> Setup {
    let Start { start_ns, plan, layouts, .. } = start;
    let namers = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Setup { plan, layouts, targets, start_ns, settings: Vec::new(), files, spool, namers }
}

fn begin_raw_log(request: &SessionRequest, start: &Start) -> Result<Option<Arc<RawLogWriter>>, SessionError> {
    let begin = |path: &PathBuf| RawLogWriter::create(path, start, rawlog::BYTES_MAX);
    Ok(request.raw_log.as_ref().map(begin).transpose()?)
}

fn arm(request: &SessionRequest) -> Result<Armed, StartError> {
    match &request.target {
        Target::Launch(command) => launch(command, &request.options),
        Target::Attach(pids) => attach(pids, &request.options),
    }
}

fn targets(request: &SessionRequest, pids: Vec<u32>) -> Targets {
    match &request.target {
        Target::Launch(_) => Targets::Launched(pids.first().copied().unwrap_or(0)),
        Target::Attach(_) => Targets::Attached(pids),
    }
}

fn create_spool(request: &SessionRequest) -> Result<Spool, SessionError> {
    let path = request.spool_path();
    Spool::create(&path).map_err(|error| match error {
        SpoolError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
            SessionError::SpoolExists { path }
        }
        error => error.into(),
    })
}
