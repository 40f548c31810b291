//! Reads one source text with the rights of the target's owner.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::unistd::{Gid, Uid, setfsgid, setfsuid};

/// The longest text that is read.
pub const SOURCE_BYTES_MAX: u64 = 4 << 20;

/// The user a recorded program runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub uid: u32,
    /// The user's group.
    pub gid: u32,
}

impl Owner {
    /// Whom a running process belongs to.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        let metadata = std::fs::metadata(format!("/proc/{pid}")).ok()?;
        Some(Self { uid: metadata.uid(), gid: metadata.gid() })
    }

    /// Whether the mode lets this user read. The kernel was asked too, but with the recorder's supplementary
    /// groups, which a thread cannot put down alone.
    fn may_read(self, metadata: &Metadata) -> bool {
        let bit = match () {
            () if self.uid == 0 => return true,
            () if metadata.uid() == self.uid => 0o400,
            () if metadata.gid() == self.gid => 0o040,
            () => 0o004,
        };
        metadata.mode() & bit != 0
    }
}

/// Reads texts as one user.
#[derive(Debug, Clone, Copy)]
pub struct TextReader {
    owner: Owner,
}

impl TextReader {
    /// Reads as `owner`, on the calling thread alone.
    ///
    /// A recorder without the right to change its file-system user reads as itself, which is then no more
    /// than the user who started it may.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        Self { owner }
    }

    /// The text at `path`: `None` unless it is a regular file of valid UTF-8 that the owner may read,
    /// no longer than [`SOURCE_BYTES_MAX`].
    #[must_use]
    pub fn read(&self, path: &Path) -> Option<String> {
        let mut file = self.open(path).filter(|_| path.is_absolute())?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > SOURCE_BYTES_MAX || !self.owner.may_read(&metadata) {
            return None;
        }
        let mut text = String::new();
        file.by_ref().take(SOURCE_BYTES_MAX + 1).read_to_string(&mut text).ok()?;
        (text.len() as u64 <= SOURCE_BYTES_MAX).then_some(text)
    }

    /// Opens without waiting: a FIFO in a source's place must not hold the recording up.
    fn open(&self, path: &Path) -> Option<File> {
        let _rights = Rights::of(self.owner);
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()
    }
}

/// The calling thread's file-system user and group, restored when dropped.
///
/// Both belong to one thread in the kernel; leaving user 0 also drops the capabilities that ignore modes.
struct Rights {
    before_uid: Uid,
    before_gid: Gid,
}

impl Rights {
    fn of(owner: Owner) -> Self {
        let before_gid = setfsgid(Gid::from_raw(owner.gid));
        let before_uid = setfsuid(Uid::from_raw(owner.uid));
        Self { before_uid, before_gid }
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        setfsuid(self.before_uid);
        setfsgid(self.before_gid);
    }
}
