//! What this machine has and allows: processors, limits, permissions. Read once before a recording is planned;
//! what the kernel then really answers has the last word.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};

const CAP_IPC_LOCK: u32 = 14;

/// Facts that a plan depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Processors that are online; numbers may be missing between.
    pub cpus: Vec<u32>,
    /// `kernel.perf_event_paranoid`, when readable.
    pub paranoid: Option<i32>,
    /// `kernel.perf_event_max_sample_rate`, when readable.
    pub rate_limit_hz: Option<u32>,
    /// Memory that rings may lock for this user.
    pub lockable: Lockable,
    /// Descriptors of this process.
    pub descriptors: Descriptors,
    /// Memory of the machine.
    pub memory_bytes: u64,
}

/// How much memory rings may lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lockable {
    /// As much as there is.
    Unlimited,
    /// `perf_event_mlock_kb` for each online processor and `RLIMIT_MEMLOCK` together, control pages included.
    Bytes(u64),
}

/// How many descriptors may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// Open now.
    pub open: u64,
    /// May be open, once the soft limit is raised.
    pub limit: u64,
}

impl Descriptors {
    /// How many more may be opened.
    pub fn left(self) -> u64 {
        self.limit.saturating_sub(self.open)
    }
}

impl Machine {
    /// Reads the facts. What cannot be read is assumed to be the kernel's default.
    pub fn read() -> Self {
        let cpus = online_cpus();
        let paranoid = sysctl("perf_event_paranoid");
        Self {
            paranoid,
            rate_limit_hz: sysctl("perf_event_max_sample_rate"),
            lockable: lockable(paranoid, cpus.len()),
            descriptors: descriptors(),
            memory_bytes: memory_bytes(),
            cpus,
        }
    }
}

/// Parses the kernel's lists of processors, such as `0-3,8`. Empty when it is none.
fn parse_cpu_list(text: &str) -> Vec<u32> {
    let ranges: Option<Vec<_>> = text.trim().split(',').map(parse_cpu_range).collect();
    ranges.unwrap_or_default().into_iter().flatten().collect()
}

fn parse_cpu_range(text: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    // More than any kernel supports is no list of processors.
    (last < 1 << 16).then_some(first..=last)
}

fn online_cpus() -> Vec<u32> {
    let listed = fs::read_to_string("/sys/devices/system/cpu/online").map(|text| parse_cpu_list(&text));
    match listed {
        Ok(cpus) if !cpus.is_empty() => cpus,
        _ => (0..std::thread::available_parallelism().map_or(1, |count| count.get() as u32)).collect(),
    }
}

fn sysctl<Value: std::str::FromStr>(name: &str) -> Option<Value> {
    fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

/// As `perf_mmap` in the kernel's `kernel/events/core.c` decides it.
fn lockable(paranoid: Option<i32>, cpus: usize) -> Lockable {
    if paranoid.is_some_and(|level| level < 0) || has_capability(CAP_IPC_LOCK) {
        return Lockable::Unlimited;
    }
    let per_cpu_kib: u64 = sysctl("perf_event_mlock_kb").unwrap_or(516);
    match getrlimit(Resource::RLIMIT_MEMLOCK) {
        Ok((libc::RLIM_INFINITY, _)) => Lockable::Unlimited,
        Ok((soft, _)) => Lockable::Bytes((per_cpu_kib << 10) * cpus as u64 + soft),
        Err(_) => Lockable::Bytes((per_cpu_kib << 10) * cpus as u64),
    }
}

fn has_capability(bit: u32) -> bool {
    fs::read_to_string("/proc/self/status").ok().and_then(|text| effective_capabilities(&text)).unwrap_or(0)
        >> bit
        & 1
        == 1
}

fn effective_capabilities(status: &str) -> Option<u64> {
    let hex = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(hex.trim(), 16).ok()
}

fn descriptors() -> Descriptors {
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(_, hard)| hard);
    Descriptors { open, limit }
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map_or(1 << 30, |kib: u64| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_processor_lists_are_read() {
        assert_eq!(parse_cpu_list("0-2,5,8-9\n"), [0, 1, 2, 5, 8, 9]);
    }

    #[test]
    fn what_is_no_processor_list_is_empty() {
        for text in ["", "x", "1-", "3,,4", "0-4294967295"] {
            assert!(parse_cpu_list(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn effective_capabilities_are_hexadecimal() {
        assert_eq!(
            effective_capabilities("CapPrm:\t0\nCapEff:\t0000000000004000\n"),
            Some(1 << CAP_IPC_LOCK)
        );
        assert_eq!(effective_capabilities("CapEff:\tx\n"), None);
    }

    #[test]
    fn this_machine_has_a_processor() {
        assert!(!Machine::read().cpus.is_empty());
    }
}
