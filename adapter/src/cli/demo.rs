//! `microscope demo`: records the bundled sample program and shows where its time went, line by line.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use microscope_capture::Capture;
use microscope_profiler::options::{Preset, RecordOptions};
use microscope_profiler::session::{SessionRequest, Target};
use microscope_profiler::sources::SourceRules;
use microscope_profiler::sys::launch::LaunchCommand;

use super::arguments::DemoArguments;
use super::record::closing;
use super::signals::{Owner, StopSignals};
use super::{folder, output, session};
use crate::demo::{PATH, SOURCE};
use crate::presentation::{self, Page};
use crate::service::annotation::annotate;
use crate::service::sources::Origin;

/// How long the sample program runs.
pub(super) const LENGTH: Duration = Duration::from_secs(2);

/// Runs the command.
pub(super) fn run(arguments: &DemoArguments) -> anyhow::Result<ExitCode> {
    let signals = StopSignals::listen(Owner::Program).context("cannot listen for signals")?;
    let directory = std::env::current_dir().context("the working directory is gone")?;
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => folder::capture_path(Path::new(""), "demo".as_ref(), SystemTime::now())?,
    };
    output::note("microscope: recording a sample program for two seconds");
    let request = SessionRequest {
        target: sample_program()?,
        options: RecordOptions::preset(Preset::Default),
        sources: SourceRules { roots: vec![directory], hashes_only: false },
        output: path.clone(),
        raw_log: None,
    };
    let recorded = session::run(request, &signals.request())?;
    output::print(&shown(&recorded.capture, &path)?)?;
    Ok(ExitCode::SUCCESS)
}

/// This executable, under the name of its hidden command.
fn sample_program() -> anyhow::Result<Target> {
    let own =
        std::env::current_exe().context("cannot find this executable to run it as the sample program")?;
    Ok(Target::Launch(Box::new(LaunchCommand::new(own).with_arguments(["demo-workload"]))))
}

/// The sample program's text with its costs, then what any recording ends with.
fn shown(capture: &Capture, path: &Path) -> anyhow::Result<String> {
    let directory = output::directory();
    let page = Page { screen: output::screen(), directory: &directory, limit: 0 };
    let mut text = String::new();
    // A capture without lines of the workload still has its closing words.
    if let Ok(mut found) = annotate(capture, PATH, Path::new(&directory)) {
        found.set_text(capture, SOURCE, Origin::Program);
        text = presentation::annotation(&found, &page) + "\n";
    }
    Ok(text + &closing(capture, path, page.screen)?)
}
