//! A process held by descriptor: its pid cannot come to mean another one, its end is seen without polling, and if
//! it is our child, this is the one place that waits for it. A stray wait elsewhere would take a debugger's stops.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::process::CpuTimes;

/// A process, held by descriptor.
#[derive(Debug)]
pub struct ProcessHandle {
    pid: u32,
    descriptor: OwnedFd,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// What it used, with the children it had waited for.
    pub used: CpuTimes,
}

impl ProcessHandle {
    /// Holds process `pid`: ESRCH when there is none, EINVAL or ENOENT when it is a thread.
    pub fn open(pid: u32) -> Result<Self, Errno> {
        let number = libc::pid_t::try_from(pid).map_err(|_| Errno::ESRCH)?;
        // SAFETY: takes numbers only; touches no memory.
        let result = unsafe { libc::syscall(libc::SYS_pidfd_open, number, 0) };
        let raw = Errno::result(result)?;
        // SAFETY: a new descriptor that nobody else knows. Descriptors fit an int.
        Ok(Self { pid, descriptor: unsafe { OwnedFd::from_raw_fd(raw as i32) } })
    }

    /// Its number, in this process's namespace.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it has ended, waited for or not.
    pub fn has_ended(&self) -> bool {
        let mut watched = [PollFd::new(self.descriptor.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut watched, PollTimeout::ZERO), Ok(count) if count > 0)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let descriptor = self.descriptor.as_raw_fd();
        // SAFETY: takes an open descriptor and no memory: the third argument may be null.
        let result = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                descriptor,
                signal as libc::c_int,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        Errno::result(result).map(drop)
    }

    /// Takes the status of a child that has ended; nothing while it runs. ECHILD when it is no child of this
    /// process, or somebody else took it.
    pub fn reap(&self) -> Result<Option<Ended>, Errno> {
        self.wait(libc::WEXITED | libc::WNOHANG)
    }

    /// Waits for the end of a child.
    pub(super) fn wait_for_end(&self) -> Result<Option<Ended>, Errno> {
        self.wait(libc::WEXITED)
    }

    /// The system call itself: glibc's function has no room for the times.
    fn wait(&self, options: libc::c_int) -> Result<Option<Ended>, Errno> {
        // SAFETY: both are plain data, for which all zeroes is a value.
        let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
        let descriptor = self.descriptor.as_raw_fd();
        // SAFETY: the kernel writes one structure of each kind to the places it is given.
        let result = unsafe {
            libc::syscall(libc::SYS_waitid, libc::P_PIDFD, descriptor, &raw mut info, options, &raw mut usage)
        };
        Errno::result(result)?;
        // SAFETY: waitid fills in the fields of SIGCHLD, or leaves the zeroes when nothing has ended.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        let used = CpuTimes { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) };
        Ok((pid != 0).then(|| Ended { status: exit_status(info.si_code, status), used }))
    }
}

impl AsFd for ProcessHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The status in the encoding of `wait`.
fn exit_status(code: libc::c_int, status: libc::c_int) -> ExitStatus {
    ExitStatus::from_raw(match code {
        libc::CLD_EXITED => (status & 0xff) << 8,
        libc::CLD_DUMPED => status | 0x80,
        _ => status,
    })
}

fn nanoseconds(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_usec).unwrap_or(0) * 1000)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_missing_process_cannot_be_held() {
        assert_eq!(ProcessHandle::open(u32::MAX).unwrap_err(), Errno::ESRCH);
        assert_eq!(ProcessHandle::open(i32::MAX as u32).unwrap_err(), Errno::ESRCH);
    }

    #[test]
    fn a_process_that_is_no_child_is_not_reaped() {
        let this = ProcessHandle::open(std::process::id()).unwrap();
        assert!(!this.has_ended());
        assert_eq!(this.reap().unwrap_err(), Errno::ECHILD);
    }

    #[test]
    fn statuses_are_encoded_as_wait_does() {
        assert_eq!(exit_status(libc::CLD_EXITED, 3).code(), Some(3));
        assert_eq!(exit_status(libc::CLD_KILLED, 9).signal(), Some(9));
        assert!(exit_status(libc::CLD_DUMPED, 11).core_dumped());
    }
}
