//! What `/proc` tells of processes: their threads and times. Text is bounded and nothing is believed beyond its
//! syntax.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::{Add, Sub};

use nix::unistd::{SysconfVar, sysconf};

/// More text than `stat` and `status` hold.
const TEXT_BYTES_MAX: u64 = 1 << 16;

/// Processor time of a process or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In its own code.
    pub user_ns: u64,
    /// In the kernel, on its behalf.
    pub system_ns: u64,
}

impl CpuTimes {
    /// Both together.
    pub fn total_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

impl Add for CpuTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
        }
    }
}

impl Sub for CpuTimes {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// What a process used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// By its threads, ended ones included.
    pub own: CpuTimes,
    /// By children it has waited for, and theirs.
    pub children: CpuTimes,
}

/// The threads of a process.
pub fn threads(pid: u32) -> io::Result<Vec<u32>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        threads.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    threads.sort_unstable();
    Ok(threads)
}

/// The process a thread belongs to.
pub fn process_of(tid: u32) -> io::Result<u32> {
    let status = read_text(tid, "status")?;
    let field = String::from_utf8_lossy(&status)
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    field.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// What a process used since it began. Still answered for one that has ended and was not waited for.
pub fn times(pid: u32) -> io::Result<ProcessTimes> {
    let text = read_text(pid, "stat")?;
    parse_times(&text, ticks_per_second()).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The file `stat` or `status` of `/proc/PID`.
fn read_text(pid: u32, name: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(format!("/proc/{pid}/{name}"))?.take(TEXT_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}

fn ticks_per_second() -> u64 {
    sysconf(SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .and_then(|ticks| u64::try_from(ticks).ok())
        .unwrap_or(100)
        .max(1)
}

/// The name in `stat` may hold anything, closing brackets too: fields count from the last one.
fn parse_times(stat: &[u8], ticks_per_second: u64) -> Option<ProcessTimes> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = str::from_utf8(&stat[after_name..]).ok()?;
    // Fields 14 to 17 of proc(5): utime stime cutime cstime; the state after the name is field 3.
    let mut times = text.split_ascii_whitespace().skip(11).map(|field| field.parse::<i64>().ok());
    let mut next_ns = || {
        let ticks = u64::try_from(times.next()??).ok()?;
        Some((u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second)) as u64)
    };
    Some(ProcessTimes {
        own: CpuTimes { user_ns: next_ns()?, system_ns: next_ns()? },
        children: CpuTimes { user_ns: next_ns()?, system_ns: next_ns()? },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn times_are_counted_from_the_last_bracket() {
        let stat = b"7 (a) R (b) 1) S 1 7 7 0 -1 0 0 0 0 0 150 25 300 50 20 0 1 0 9";
        let times = parse_times(stat, 100).unwrap();
        assert_eq!(times.own, CpuTimes { user_ns: 1_500_000_000, system_ns: 250_000_000 });
        assert_eq!(times.children, CpuTimes { user_ns: 3_000_000_000, system_ns: 500_000_000 });
    }

    #[test]
    fn a_cut_stat_line_has_no_times() {
        assert_eq!(parse_times(b"7 (a) S 1 7 7 0 -1 0 0 0 0 0 150 25", 100), None);
        assert_eq!(parse_times(b"", 100), None);
    }

    #[test]
    fn this_process_has_this_thread() {
        let pid = std::process::id();
        let tid = nix::unistd::gettid().as_raw().cast_unsigned();
        assert!(threads(pid).unwrap().contains(&tid));
        assert_eq!(process_of(tid).unwrap(), pid);
    }

    #[test]
    fn a_missing_process_is_not_found() {
        assert_eq!(threads(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
