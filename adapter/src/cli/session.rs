//! Runs one session of the recorder for a command: its end on request, its progress, its refusals with what
//! would help.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use microscope_profiler::session::{
    Progress as Step, Recorded, Session, SessionError, SessionRequest, Target,
};

use super::output;
use super::progress::{Progress, Ticker};
use super::signals::StopRequest;
use crate::presentation::escape::terminal;
use crate::presentation::numbers::{count, counted, duration_ns};
use crate::presentation::prose::shell;

/// Records what `request` asks for, until its end or until `stop` is asked for.
pub(super) fn run(request: SessionRequest, stop: &StopRequest) -> anyhow::Result<Recorded> {
    let path = request.output.clone();
    let partial = request.spool_path();
    output::check_replaceable(&path)?;
    let is_attached = matches!(request.target, Target::Attach(_));
    let session = Session::start(request).map_err(refused)?;
    let control = session.control();
    stop.when_asked(move || {
        // A recording that has ended by itself needs no stop.
        let _ = control.stop();
    });
    // The terminal belongs to a launched program until it ends.
    let status = session.status();
    let mut ticker = is_attached.then(|| Ticker::start(move |elapsed| recording(elapsed, status.samples())));
    let mut progress = Progress::start();
    let recorded = session.wait(|step| {
        drop(ticker.take());
        progress.update(|| words(step));
    });
    let recorded = recorded.map_err(|error| kept(error, &partial, &path))?;
    if let Some(why) = &recorded.cut_short {
        progress.note(&format!("microscope: the recording ended before its time: {}", terminal(why)));
    }
    progress.note(&format!("microscope: wrote {}", terminal(&path.to_string_lossy())));
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

/// A recording that ran and could not be published: its rows are still there.
fn kept(error: SessionError, partial: &Path, path: &Path) -> anyhow::Error {
    // A defect says so itself.
    if matches!(error, SessionError::Defect { .. }) || !partial.exists() {
        return error.into();
    }
    let [partial, path] = [partial, path].map(|path| shell(&path.to_string_lossy()));
    let remedy = format!("what was recorded is kept: microscope recover {partial} -o {path}");
    Refused { error, remedy }.into()
}

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
