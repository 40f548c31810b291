//! `perf record` and `perf script` as an independent witness of the same programs.
//!
//! Programs are started directly: perf 6.1 cannot walk through libc in about half of the recordings of a program
//! that a shell or make started.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::microscope::{BUDGET_MS, RATE_HZ};
use crate::{Built, Folded};

/// Records a program with copied stacks and returns its user stacks, the outermost function first.
pub fn record(program: &Built) -> Result<Folded> {
    let directory = tempfile::tempdir()?;
    let data = directory.path().join("perf.data");
    let mut recorder = Command::new("perf");
    recorder.args(["record", "--quiet", "--event", "cpu-clock:u", "--call-graph", "dwarf,16384"]);
    recorder.args(["--mmap-pages", "1024", "--freq", &RATE_HZ.to_string(), "--output"]).arg(&data);
    recorder.arg("--").arg(&program.executable).arg(BUDGET_MS.to_string());
    run(&mut recorder)?;
    let mut reader = Command::new("perf");
    reader.args(["script", "--fields", "ip,sym", "--max-stack", "4096", "--input"]).arg(&data);
    Ok(parse_script(&run(&mut reader)?))
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Samples are blocks of lines `ADDRESS SYMBOL`, the innermost first, with an empty line after each.
fn parse_script(text: &str) -> Folded {
    let mut folded = Folded::default();
    let mut stack = Vec::new();
    for line in text.lines().chain([""]) {
        match line.trim().split_once(' ') {
            Some((_, symbol)) => stack.push(symbol.split("+0x").next().unwrap_or(symbol).to_owned()),
            None if stack.is_empty() => {}
            None => {
                stack.reverse();
                folded.push(std::mem::take(&mut stack), 1.0);
            }
        }
    }
    folded
}
