//! Answers from the running system.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sys::stat::Mode;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

use super::{Answer, FileProblem, Files, Memory, OpenedFile, Place, ReadAt, Text, maps_lines};
use crate::records::FileKey;

/// Threads of a process that are listed at most.
const THREADS_MAX: usize = 1 << 16;
/// The longest vdso that is read.
const VDSO_BYTES_MAX: u64 = 1 << 20;

/// Files and texts of the running system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFiles;

/// Memory of the running system's processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsMemory;

impl Files for OsFiles {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        match place {
            Place::InProcess { pid, path } => open_in_root(*pid, path).and_then(reopen_regular),
            Place::Mapped { pid, start_address, end_address } => {
                let link = format!("/proc/{pid}/map_files/{start_address:x}-{end_address:x}");
                open_path(Path::new(&link)).and_then(reopen_regular)
            }
            Place::Executable { pid } => {
                open_path(Path::new(&format!("/proc/{pid}/exe"))).and_then(reopen_regular)
            }
            Place::Host { path } => open_path(path).and_then(reopen_regular),
            Place::Vdso => own_vdso(),
        }
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let value = match text_path(*text) {
            TextPath::File(path) => read_whole(&path, text.bytes_max())?,
            TextPath::Link(path) => fs::read_link(path)?.into_os_string().into_vec(),
        };
        Ok(Answer { time_ns: now_ns(), value })
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        let names = fs::read_dir(format!("/proc/{pid}/task"))?;
        let tids = names.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut value: Vec<u32> = tids.take(THREADS_MAX).collect();
        value.sort_unstable();
        Ok(Answer { time_ns: now_ns(), value })
    }
}

impl Memory for OsMemory {
    fn read(&self, pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem> {
        let base = usize::try_from(address).map_err(|_| FileProblem::Missing)?;
        let remote = [RemoteIoVec { base, len: into.len() }];
        let pid = Pid::from_raw(i32::try_from(pid).map_err(|_| FileProblem::Missing)?);
        let value = process_vm_readv(pid, &mut [io::IoSliceMut::new(into)], &remote)?;
        Ok(Answer { time_ns: now_ns(), value })
    }
}

fn now_ns() -> u64 {
    let Ok(now) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
    let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec()).unwrap_or(0))
}

/// A file that is only named, not yet opened: opening a pipe or a device would have effects.
struct Named(OwnedFd);

fn open_path(path: &Path) -> Result<Named, FileProblem> {
    if !path.is_absolute() {
        return Err(FileProblem::BadPath);
    }
    Ok(Named(open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?))
}

/// Resolves `path` as the process would; links cannot lead out of its root.
fn open_in_root(pid: u32, path: &Path) -> Result<Named, FileProblem> {
    if !path.is_absolute() {
        return Err(FileProblem::BadPath);
    }
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let root = openat2(AT_FDCWD, &root, how(OFlag::O_DIRECTORY, ResolveFlag::empty()))?;
    let resolve = ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    Ok(Named(openat2(root.as_fd(), path, how(OFlag::empty(), resolve))?))
}

fn how(flags: OFlag, resolve: ResolveFlag) -> OpenHow {
    OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC | flags).resolve(resolve)
}

/// Opens a named file for reading once it is seen to be a regular one.
fn reopen_regular(named: Named) -> Result<OpenedFile, FileProblem> {
    let link = format!("/proc/self/fd/{}", named.0.as_raw_fd());
    if !File::from(named.0.try_clone()?).metadata()?.is_file() {
        return Err(FileProblem::NotRegular);
    }
    let file = File::open(link)?;
    let metadata = file.metadata()?;
    let device = metadata.dev();
    let key = FileKey {
        major: u32::try_from(nix::sys::stat::major(device)).unwrap_or(u32::MAX),
        minor: u32::try_from(nix::sys::stat::minor(device)).unwrap_or(u32::MAX),
        inode: metadata.ino(),
        generation: 0,
    };
    Ok(OpenedFile { handle: Arc::new(OsFile { file, len: metadata.len() }), key })
}

struct OsFile {
    file: File,
    len: u64,
}

impl ReadAt for OsFile {
    fn len(&self) -> u64 {
        self.len
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, offset.saturating_add(done as u64)) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

enum TextPath {
    File(PathBuf),
    Link(PathBuf),
}

fn text_path(text: Text) -> TextPath {
    let path = match text {
        Text::Maps { pid } => format!("/proc/{pid}/maps"),
        Text::Comm { pid, tid } => format!("/proc/{pid}/task/{tid}/comm"),
        Text::Stat { pid, tid } => format!("/proc/{pid}/task/{tid}/stat"),
        Text::Status { pid, tid } => format!("/proc/{pid}/task/{tid}/status"),
        Text::CommandLine { pid } => format!("/proc/{pid}/cmdline"),
        Text::Executable { pid } => return TextPath::Link(format!("/proc/{pid}/exe").into()),
        Text::KernelSymbols => "/proc/kallsyms".into(),
        Text::KernelNotes => "/sys/kernel/notes".into(),
    };
    TextPath::File(path.into())
}

fn read_whole(path: &Path, bytes_max: usize) -> Result<Vec<u8>, FileProblem> {
    let mut value = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut value)?;
    if value.len() > bytes_max {
        return Err(FileProblem::TooLong { bytes_max: bytes_max as u64 });
    }
    Ok(value)
}

/// The image of the vdso lies in every process; ours is read through our own memory file.
fn own_vdso() -> Result<OpenedFile, FileProblem> {
    let maps = read_whole(Path::new("/proc/self/maps"), Text::Maps { pid: 0 }.bytes_max())?;
    let range = maps_lines(&maps)
        .find(|line| &*line.path == b"[vdso]")
        .map(|line| line.start_address..line.end_address)
        .ok_or(FileProblem::Missing)?;
    let length = (range.end.saturating_sub(range.start)).min(VDSO_BYTES_MAX);
    let mut image = vec![0; usize::try_from(length).unwrap_or(0)];
    File::open("/proc/self/mem")?.read_exact_at(&mut image, range.start)?;
    Ok(OpenedFile { handle: Arc::new(image), key: FileKey::default() })
}
