//! Runs one session of the recorder for a command: its end on request, its progress, its refusals with what
//! would help.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use microscope_profiler::session::{
    Progress as Step, Recorded, Session, SessionError, SessionRequest, Status, Target,
};

use super::progress::Progress;
use super::signals::StopRequest;
use crate::presentation::escape::terminal;
use crate::presentation::numbers::{count, counted, duration_ns};

/// Records what `request` asks for, until its end or until `stop` is asked for.
pub(super) fn run(request: SessionRequest, stop: &StopRequest) -> anyhow::Result<Recorded> {
    let output = request.output.clone();
    let is_attached = matches!(request.target, Target::Attach(_));
    let session = Session::start(request).map_err(refused)?;
    let control = session.control();
    stop.when_asked(move || {
        // A recording that has ended by itself needs no stop.
        let _ = control.stop();
    });
    // The terminal belongs to a launched program until it ends.
    let mut ticker = is_attached.then(|| Ticker::start(session.status())).transpose()?;
    let mut progress = Progress::start();
    let recorded = session.wait(|step| {
        drop(ticker.take());
        progress.update(|| words(step));
    })?;
    if let Some(why) = &recorded.cut_short {
        progress.note(&format!("microscope: the recording ended before its time: {}", terminal(why)));
    }
    progress.note(&format!("microscope: wrote {}", terminal(&output.to_string_lossy())));
    Ok(recorded)
}

fn words(step: Step) -> String {
    match step {
        Step::Sealing => "putting samples in order".to_owned(),
        Step::Naming { left } => {
            format!("looking up names: {} left", counted(left as u64, "address", "addresses"))
        }
        Step::Writing => "writing the capture".to_owned(),
    }
}

/// Says how far a recording is, until dropped.
///
/// Its thread owns the progress line, waits for time to pass, and ends when the channel is closed.
struct Ticker {
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(status: Arc<Status>) -> std::io::Result<Self> {
        const PAUSE: Duration = Duration::from_millis(200);
        let (running, ended) = channel::<()>();
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            let (start, mut progress) = (Instant::now(), Progress::start());
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                progress.update(|| recording(start.elapsed(), status.samples()));
            }
        })?;
        Ok(Self { running: Some(running), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // A line of progress that failed is not a problem of the recording.
            let _ = thread.join();
        }
    }
}

fn recording(elapsed: Duration, samples: u64) -> String {
    let elapsed = duration_ns(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
    format!("recording for {elapsed}, {} samples; Ctrl-C ends it", count(samples))
}

/// A refusal, and what would help.
#[derive(Debug)]
pub(super) struct Refused {
    error: SessionError,
    /// What would help.
    pub(super) remedy: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl std::error::Error for Refused {}

fn refused(error: SessionError) -> anyhow::Error {
    let remedy = match &error {
        SessionError::Start(refusal) => refusal.remedy(),
        _ => None,
    };
    match remedy {
        Some(remedy) => Refused { error, remedy }.into(),
        None => error.into(),
    }
}
