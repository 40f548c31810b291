//! Reads the memory of another process, without stopping it: what is read may change a moment later.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// The memory of a process, read by address.
#[derive(Debug)]
pub struct ProcessMemory {
    pid: Pid,
    /// Also passes where `process_vm_readv` is refused, and outlives a reuse of the pid. Opened at once, since it
    /// keeps naming the address space of that moment: after an exec it reads nothing.
    file: Option<File>,
}

impl ProcessMemory {
    /// The memory that process `pid` has now.
    pub fn open(pid: u32) -> io::Result<Self> {
        let number = i32::try_from(pid).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        let file = File::open(format!("/proc/{pid}/mem"));
        match file {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            file => Ok(Self { pid: Pid::from_raw(number), file: file.ok() }),
        }
    }

    /// Reads from `address` on; short where the memory ends.
    pub fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        match &self.file {
            Some(file) => read_file(file, address, into),
            None => read_process(self.pid, address, into),
        }
    }
}

fn read_file(file: &File, address: u64, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read_at(into, address) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

fn read_process(pid: Pid, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let base = usize::try_from(address).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let remote = [RemoteIoVec { base, len: into.len() }];
    Ok(process_vm_readv(pid, &mut [IoSliceMut::new(into)], &remote)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const KNOWN: [u8; 16] = *b"sixteen bytes...";

    fn this_process() -> Pid {
        nix::unistd::getpid()
    }

    #[test]
    fn own_memory_is_read_both_ways() {
        let address = KNOWN.as_ptr().expose_provenance() as u64;
        let mut bytes = [0; 16];
        let memory = ProcessMemory::open(std::process::id()).unwrap();
        assert_eq!((memory.read(address, &mut bytes).unwrap(), bytes), (16, KNOWN));
        bytes.fill(0);
        assert_eq!((read_process(this_process(), address, &mut bytes).unwrap(), bytes), (16, KNOWN));
    }

    #[test]
    fn unmapped_memory_is_an_error() {
        let memory = ProcessMemory::open(std::process::id()).unwrap();
        assert!(memory.read(8, &mut [0; 8]).is_err());
        assert!(read_process(this_process(), 8, &mut [0; 8]).is_err());
    }

    #[test]
    fn a_missing_process_has_no_memory() {
        assert_eq!(ProcessMemory::open(i32::MAX as u32).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
