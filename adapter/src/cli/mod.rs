//! The command line: one file for each command, and what they share.

pub mod arguments;
pub mod output;
pub mod progress;
pub mod signals;
pub mod values;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// Runs the command that the process's arguments name.
#[must_use]
pub fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(problem) => {
            output::note(&format!(
                "microscope: {}",
                crate::presentation::escape::terminal(&format!("{problem:#}"))
            ));
            ExitCode::from(1)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let _ = command;
    Ok(ExitCode::SUCCESS)
}
