//! The only unsafe code of the crate: perf events, ring memory, launching, process memory and files. Safe types
//! go outward; each unsafe block is proved from its own file. [`Kernel`](perf::Kernel) is the seam at which a
//! scripted kernel stands in for this one.
#![allow(unsafe_code)]

pub mod clock;
pub mod files;
pub mod handle;
pub mod launch;
pub mod limits;
pub mod machine;
pub mod memory;
pub mod perf;
pub mod poller;
pub mod process;
pub mod ring;
pub mod usage;

use nix::unistd::{SysconfVar, sysconf};

/// The size of a page of this machine.
pub fn page_bytes() -> usize {
    sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|size| usize::try_from(size).ok()).unwrap_or(4096)
}
