//! `microscope annotate`: a source file with its costs, as text or as the overlay of editors.

use std::path::Path;
use std::process::ExitCode;

use microscope_capture::Capture;

use super::arguments::{AnnotateArguments, OutputFormat};
use super::{json, output};
use crate::presentation::{self, Page, Screen};
use crate::service::annotation;
use crate::service::open::open;

/// Runs the command.
pub(super) fn run(arguments: &AnnotateArguments) -> anyhow::Result<ExitCode> {
    let capture = open(&arguments.capture, None)?;
    output::print(&annotate(&capture, arguments, output::screen(), &output::directory())?)?;
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
