//! Compares a recording with the known answer of its program.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::report::Rows;
use crate::{Answer, Claim, Folded, Program, Record, Recording};

/// Below this number of samples a share says too little.
pub const SAMPLES_MIN: u64 = 8000;

/// The percentage of stacks that must be whole.
pub const WHOLE_STACKS_MIN_PERCENT: f64 = 99.5;

/// Records a program and checks everything that its head comment claims, and that its stacks are whole.
pub fn check(program: &Program) -> Result<()> {
    let built = program.build()?;
    let recording = Record::default().run(&built)?;
    check_answer(&built.source, &recording)?;
    check_whole_stacks(&recording)
}

/// Checks every claim of a source's head comment; the error names all that do not hold.
///
/// Shares of functions, lines and modules are of the time in user code: how much the kernel does beside it depends
/// on who else uses the machine.
pub fn check_answer(source: &Path, recording: &Recording) -> Result<()> {
    let user = recording.user_stacks()?;
    let samples = user.stacks().count() as u64;
    ensure!(samples >= SAMPLES_MIN, "only {samples} samples\n{}", recording.said.text());
    let mut wrong = Vec::new();
    for claim in Answer::of(source)?.claims {
        if let Err(error) = check_claim(&claim, source, recording, &user, samples) {
            wrong.push(format!("{error:#}"));
        }
    }
    ensure!(wrong.is_empty(), "{}\nthe recording said:\n{}", wrong.join("\n"), recording.said.text());
    Ok(())
}

/// Checks that at least 99.5 % of the stacks are whole; the error names the reasons of the others.
pub fn check_whole_stacks(recording: &Recording) -> Result<()> {
    let whole = recording.whole_stacks_percent()?;
    if whole < WHOLE_STACKS_MIN_PERCENT {
        let ends: Vec<_> = Rows::of_ends(recording)?.rows().iter().map(ToString::to_string).collect();
        bail!("only {whole:.2} % of the stacks are whole:\n{}", ends.join("\n"));
    }
    Ok(())
}

fn check_claim(
    claim: &Claim,
    source: &Path,
    recording: &Recording,
    user: &Folded,
    samples: u64,
) -> Result<()> {
    match claim {
        Claim::Total(function, share) => {
            share.check(&format!("total of {function}"), user.total_percent(function), samples)
        }
        Claim::OwnCost(function, share) => {
            share.check(&format!("self of {function}"), user.self_percent(function), samples)
        }
        Claim::Path(path, share) => share.check(&path.join(" > "), user.percent_of_path(path), samples),
        Claim::Line(line, share) => {
            let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_line = |row: &serde_json::Value| {
                row["line"] == *line
                    && row["file"].as_str().is_some_and(|file| Path::new(file).ends_with(&name))
            };
            let percent =
                Rows::of(recording, "lines")?.with_whole(user.whole()).percent("/self/weight", is_line)?;
            share.check(&format!("{name}:{line}"), percent, samples)
        }
        Claim::Thread(name, share) => {
            let percent =
                Rows::of(recording, "threads")?.percent("/cost/weight", |row| row["name"] == **name)?;
            share.check(&format!("thread {name}"), percent, samples)
        }
        Claim::Module(name, share) => {
            let is_module =
                |row: &serde_json::Value| row["name"].as_str().is_some_and(|found| found.ends_with(name));
            let percent = Rows::of(recording, "flat --by module")?
                .with_whole(user.whole())
                .percent("/self/weight", is_module)?;
            share.check(&format!("module {name}"), percent, samples)
        }
        Claim::Processes(expected) => {
            let found = recording.processes()?;
            ensure!(found == *expected, "{found} processes, expected {expected}");
            Ok(())
        }
        Claim::Depth { outer, inner, frames } => {
            let found = user.median_depth(outer, inner);
            ensure!(found == Some(*frames), "{found:?} frames from {outer} to {inner}, expected {frames}");
            Ok(())
        }
    }
}
