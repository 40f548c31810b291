//! The command line: one file for each command, and what they share.

pub mod annotate;
pub mod arguments;
mod convert;
mod demo;
mod folder;
mod json;
pub mod output;
pub mod progress;
mod record;
mod recover;
pub mod report;
mod session;
pub mod signals;
pub mod values;

use std::fmt;
use std::process::ExitCode;

use clap::Parser;

use crate::presentation::escape::terminal;
use arguments::{Arguments, Command};

/// Runs the command that the process's arguments name. Exit codes: 0 done, 1 a problem, 2 wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let problem = match run(Arguments::parse().command) {
        Ok(code) => return code,
        Err(problem) => problem,
    };
    output::note(&format!("microscope: {}", terminal(&told(&problem))));
    if problem.is::<Usage>() {
        output::note("For more information, try 'microscope help'.");
        return ExitCode::from(2);
    }
    if let Some(refused) = problem.downcast_ref::<session::Refused>() {
        output::note(&format!("microscope: {}", refused.remedy));
    }
    ExitCode::from(1)
}

/// A problem and its causes; a cause that the words before it end with is not told again.
fn told(problem: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in problem.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.ends_with(&cause) {
            told += &format!(": {cause}");
        }
    }
    told
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Record(arguments) => record::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Annotate(arguments) => annotate::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Recover(arguments) => recover::run(&arguments),
        Command::DemoWorkload => {
            crate::demo::run(demo::LENGTH);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Options that are each right and do not fit together.
#[derive(Debug)]
struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let problem =
            anyhow::anyhow!("is a folder").context("cannot read x: is a folder").context("no report");
        assert_eq!(told(&problem), "no report: cannot read x: is a folder");
    }
}
