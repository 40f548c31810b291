//! Opens files that targets name: regular files only, seen from the target's root, read by position and never
//! mapped, so that neither a pipe in a library's place nor a file cut short can hold up the session.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sys::stat::Mode;

use crate::files::ReadAt;

/// What tells one file from another, also after its path was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    /// The device it is on, in the encoding of `stat`.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// An open regular file.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    identity: FileIdentity,
    len: u64,
}

impl RegularFile {
    /// Opens a path of this process's own view.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::reopen(&open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?)
    }

    /// Opens a path as process `pid` sees it. Links, `..` and other roots cannot lead out of its root.
    pub fn open_in_root_of(pid: u32, path: &Path) -> io::Result<Self> {
        let root = open(
            format!("/proc/{pid}/root").as_str(),
            OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
            Mode::empty(),
        )?;
        let how = OpenHow::new()
            .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
            .resolve(ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        Self::reopen(&openat2(root.as_fd(), path, how)?)
    }

    /// Opens the file behind a mapping of process `pid`, also when its path is gone. Needs CAP_SYS_ADMIN or
    /// CAP_CHECKPOINT_RESTORE.
    pub fn open_mapping(pid: u32, start: u64, end: u64) -> io::Result<Self> {
        Self::open(Path::new(&format!("/proc/{pid}/map_files/{start:x}-{end:x}")))
    }

    /// Opens the program that process `pid` runs, also when its path is gone.
    pub fn open_program_of(pid: u32) -> io::Result<Self> {
        Self::open(Path::new(&format!("/proc/{pid}/exe")))
    }

    /// Opens for reading what is known to be regular. Opening a device or a pipe could already do something, so
    /// the kind is looked at through a descriptor that opens nothing.
    fn reopen(place: &OwnedFd) -> io::Result<Self> {
        let metadata = fs::metadata(format!("/proc/self/fd/{}", place.as_raw_fd()))?;
        if !metadata.is_file() {
            return Err(io::Error::from(Errno::EMEDIUMTYPE));
        }
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let file =
            File::from(open(format!("/proc/self/fd/{}", place.as_raw_fd()).as_str(), flags, Mode::empty())?);
        let identity = FileIdentity { device: metadata.dev(), inode: metadata.ino() };
        Ok(Self { file, identity, len: metadata.len() })
    }

    /// Which file it is.
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl ReadAt for RegularFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], offset.saturating_add(done as u64)) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;

    fn read(file: &RegularFile) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        let count = file.read_at(0, &mut bytes).unwrap();
        bytes.truncate(count);
        bytes
    }

    #[test]
    fn a_replaced_file_stays_readable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        fs::write(&path, "old").unwrap();
        let file = RegularFile::open_in_root_of(std::process::id(), &path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "newer").unwrap();
        assert_eq!(read(&file), b"old");
        assert_ne!(RegularFile::open(&path).unwrap().identity(), file.identity());
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = RegularFile::open_in_root_of(std::process::id(), path).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::EMEDIUMTYPE as i32), "{path:?}");
        }
    }

    #[test]
    fn links_are_followed_inside_the_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("real"), "bytes").unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        let file = RegularFile::open_in_root_of(std::process::id(), &folder.path().join("link")).unwrap();
        assert_eq!(read(&file), b"bytes");
        assert_eq!(file.len(), 5);
    }

    #[test]
    fn reading_past_the_end_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "bytes").unwrap();
        assert_eq!(RegularFile::open(&path).unwrap().read_at(u64::MAX, &mut [0; 8]).unwrap_or(0), 0);
    }

    #[test]
    fn the_program_of_a_process_is_opened_without_its_path() {
        let file = RegularFile::open_program_of(std::process::id()).unwrap();
        assert_eq!(&read(&file)[..4], b"\x7fELF");
    }
}
