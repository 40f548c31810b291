//! The CPU time of a command and everything it waited for.

use std::process::{Command, Output};

use anyhow::{Result, ensure};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Runs a command to its end; returns what it printed and the CPU time, in nanoseconds, of it and its descendants.
pub fn run(command: &mut Command) -> Result<(Output, u64)> {
    let before = cpu_ns(&getrusage(UsageWho::RUSAGE_CHILDREN)?);
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok((output, cpu_ns(&getrusage(UsageWho::RUSAGE_CHILDREN)?) - before))
}

fn cpu_ns(usage: &Usage) -> u64 {
    nanoseconds(usage.user_time()) + nanoseconds(usage.system_time())
}

fn nanoseconds(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_usec()).unwrap_or(0) * 1000
}
