//! `microscope annotate`: a source file with its costs, as text or as the overlay of editors.

use std::path::Path;
use std::process::ExitCode;

use microscope_capture::Capture;

use super::arguments::{AnnotateArguments, OutputFormat};
use super::progress::Ticker;
use super::{json, output};
use crate::presentation::escape::terminal;
use crate::presentation::{self, Page, Screen};
use crate::service::annotation;
use crate::service::open::open;

/// Runs the command.
pub(super) fn run(arguments: &AnnotateArguments) -> anyhow::Result<ExitCode> {
    let working = Ticker::work(format!("reading {}", terminal(&arguments.capture.to_string_lossy())));
    let capture = open(&arguments.capture, None)?;
    let text = annotate(&capture, arguments, output::screen(), &output::directory())?;
    drop(working);
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What the options ask for, as it is shown on `screen` in `directory`.
pub fn annotate(
    capture: &Capture,
    arguments: &AnnotateArguments,
    screen: Screen,
    directory: &str,
) -> anyhow::Result<String> {
    let mut found = annotation::annotate(capture, &arguments.source, Path::new(directory))?;
    match arguments.format {
        OutputFormat::Json => {
            presentation::fill_labels(&mut found.overlay);
            json::text(&found.overlay)
        }
        OutputFormat::Text => Ok(presentation::annotation(&found, &Page { screen, directory, limit: 0 })),
    }
}
