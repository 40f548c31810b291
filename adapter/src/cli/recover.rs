//! `microscope recover`: a capture of what a killed recording had written to disk.

use std::process::ExitCode;

use anyhow::Context;
use microscope_capture::spool::{RecoverReport, recover};
use microscope_capture::{Capture, publish};

use super::arguments::RecoverArguments;
use super::output;
use super::progress::Ticker;
use crate::presentation::escape::terminal;
use crate::presentation::numbers::{bytes, counted};
use crate::presentation::prose::shell;

/// Runs the command.
pub(super) fn run(arguments: &RecoverArguments) -> anyhow::Result<ExitCode> {
    let RecoverArguments { partial, output: path } = arguments;
    output::check_replaceable(path)?;
    let working = Ticker::work(format!("recovering {}", terminal(&partial.to_string_lossy())));
    let (mut tables, report) = recover(partial)?;
    anyhow::ensure!(
        !tables.measures.is_empty(),
        "{} holds nothing yet: the recorder was killed before it wrote any rows",
        partial.display()
    );
    let capture = tables.canonicalize().and_then(|()| Capture::validate(tables));
    let capture = capture.with_context(|| format!("{} cannot be made a capture", partial.display()))?;
    publish(path, &capture).with_context(|| format!("cannot write {}", path.display()))?;
    drop(working);
    output::print(&said(&report, &path.to_string_lossy()))?;
    Ok(ExitCode::SUCCESS)
}

fn said(report: &RecoverReport, output: &str) -> String {
    let kept = format!("Kept {}.", counted(report.samples, "sample", "samples"));
    let cut = if report.sealed {
        "The recording had ended: nothing is missing.".to_owned()
    } else if report.bytes_cut == 0 {
        "What the recorder had not written to disk yet is missing.".to_owned()
    } else {
        let samples = counted(report.samples_cut, "sample", "samples");
        format!(
            "{} at the end were not whole; {samples} of them and what had not been written yet are missing.",
            bytes(report.bytes_cut)
        )
    };
    format!("{kept} {cut}\n\nNext: microscope report {}\n", shell(output))
}
