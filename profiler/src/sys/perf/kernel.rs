//! The system calls a collector makes about perf events and their targets, as a trait, and this kernel's answers.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use perf_event_open_sys::{self as perf, bindings as abi};

use super::{Event, EventAttributes};
use crate::sys::clock;
use crate::sys::machine::Machine;
use crate::sys::process::{self, ProcessTimes};
use crate::sys::ring::RingMemory;

/// Whom an event watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One thread, and what it hands the event on to.
    Thread(u32),
    /// Whatever runs on the processor.
    Everyone,
}

/// What a collector asks of the system.
pub trait Kernel: Send + Sync + fmt::Debug {
    /// Opens an event on one processor.
    fn open(&self, attributes: &EventAttributes, subject: Subject, cpu: u32) -> Result<Event, Errno>;
    /// Gives an event a ring of its own.
    fn map(&self, event: &Event, data_bytes: usize) -> Result<RingMemory, Errno>;
    /// Lets an event write to the ring of another one of the same processor.
    fn redirect(&self, event: &Event, owner: &Event) -> Result<(), Errno>;
    /// Begins to count, also in what inherited the event.
    fn enable(&self, event: &Event) -> Result<(), Errno>;
    /// Stops counting, also in what inherited the event.
    fn disable(&self, event: &Event) -> Result<(), Errno>;
    /// The identifier its records carry.
    fn id(&self, event: &Event) -> Result<u64, Errno>;
    /// How many of its records could not be written. Only of events that count them.
    fn lost(&self, event: &Event) -> Result<u64, Errno>;
    /// Limits, permissions and processors.
    fn machine(&self) -> Machine;
    /// The threads of a process.
    fn threads(&self, pid: u32) -> io::Result<Vec<u32>>;
    /// What a process used so far.
    fn process_times(&self, pid: u32) -> io::Result<ProcessTimes>;
    /// CLOCK_MONOTONIC.
    fn now_ns(&self) -> u64;
}

/// The kernel this runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Kernel for Linux {
    fn open(&self, attributes: &EventAttributes, subject: Subject, cpu: u32) -> Result<Event, Errno> {
        let mut raw = attributes.to_raw();
        let pid = match subject {
            Subject::Thread(tid) => libc::pid_t::try_from(tid).map_err(|_| Errno::ESRCH)?,
            Subject::Everyone => -1,
        };
        let cpu = libc::c_int::try_from(cpu).map_err(|_| Errno::EINVAL)?;
        let flags = libc::c_ulong::from(abi::PERF_FLAG_FD_CLOEXEC);
        // SAFETY: `raw` is a whole structure of the size it names, which the kernel only reads or, with E2BIG,
        // writes the size of.
        let result = unsafe { perf::perf_event_open(&mut raw, pid, cpu, -1, flags) };
        let descriptor: RawFd = Errno::result(result)?;
        // SAFETY: a new descriptor that nobody else knows.
        Ok(Event::new(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    fn map(&self, event: &Event, data_bytes: usize) -> Result<RingMemory, Errno> {
        RingMemory::map(event.as_fd(), data_bytes)
    }

    fn redirect(&self, event: &Event, owner: &Event) -> Result<(), Errno> {
        // SAFETY: takes two descriptors that are open for as long as the events are borrowed; touches no memory.
        Errno::result(unsafe { perf::ioctls::SET_OUTPUT(raw_fd(event), raw_fd(owner)) }).map(drop)
    }

    fn enable(&self, event: &Event) -> Result<(), Errno> {
        // SAFETY: takes an open descriptor and touches no memory.
        Errno::result(unsafe { perf::ioctls::ENABLE(raw_fd(event), 0) }).map(drop)
    }

    fn disable(&self, event: &Event) -> Result<(), Errno> {
        // SAFETY: takes an open descriptor and touches no memory.
        Errno::result(unsafe { perf::ioctls::DISABLE(raw_fd(event), 0) }).map(drop)
    }

    fn id(&self, event: &Event) -> Result<u64, Errno> {
        let mut id = 0;
        // SAFETY: the kernel writes the one word it is given.
        Errno::result(unsafe { perf::ioctls::ID(raw_fd(event), &mut id) })?;
        Ok(id)
    }

    fn lost(&self, event: &Event) -> Result<u64, Errno> {
        let mut words = [0; 16];
        // `read_format` is LOST alone: the count, then the number of lost records.
        match nix::unistd::read(event.as_fd(), &mut words)? {
            16 => Ok(u64::from_ne_bytes(words[8..].try_into().unwrap_or_default())),
            _ => Err(Errno::ENODATA),
        }
    }

    fn machine(&self) -> Machine {
        Machine::read()
    }

    fn threads(&self, pid: u32) -> io::Result<Vec<u32>> {
        process::threads(pid)
    }

    fn process_times(&self, pid: u32) -> io::Result<ProcessTimes> {
        process::times(pid)
    }

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }
}

fn raw_fd(event: &Event) -> RawFd {
    event.as_fd().as_raw_fd()
}
