//! Answers from the running system.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Answer, FileProblem, Files, Memory, OpenedFile, Place, Text, maps_lines};
use crate::records::FileKey;
use crate::sys::clock::monotonic_ns;
use crate::sys::files::{FileIdentity, RegularFile};
use crate::sys::memory::ProcessMemory;
use crate::sys::process;

/// Threads of a process that are listed at most.
const THREADS_MAX: usize = 1 << 16;
/// The longest vdso that is read.
const VDSO_BYTES_MAX: u64 = 1 << 20;

/// Files and texts of the running system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFiles;

/// Memory of the running system's processes, as it is at the moment of each read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsMemory;

impl Files for OsFiles {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        let file = match place {
            Place::InProcess { path, .. } | Place::Host { path } if !path.is_absolute() => {
                return Err(FileProblem::BadPath);
            }
            Place::InProcess { pid, path } => RegularFile::open_in_root_of(*pid, path)?,
            Place::Mapped { pid, start_address, end_address } => {
                RegularFile::open_mapping(*pid, *start_address, *end_address)?
            }
            Place::Executable { pid } => RegularFile::open_program_of(*pid)?,
            Place::Host { path } => RegularFile::open(path)?,
            Place::Vdso => return own_vdso(),
        };
        Ok(OpenedFile { key: key_of(file.identity()), handle: Arc::new(file) })
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let value = match text_path(*text) {
            TextPath::File(path) => read_whole(&path, text.bytes_max())?,
            TextPath::Link(path) => fs::read_link(path)?.into_os_string().into_vec(),
        };
        Ok(Answer { time_ns: monotonic_ns(), value })
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        let mut value = process::threads(pid)?;
        value.truncate(THREADS_MAX);
        Ok(Answer { time_ns: monotonic_ns(), value })
    }
}

impl Memory for OsMemory {
    fn read(&self, pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem> {
        let value = ProcessMemory::open(pid)?.read(address, into)?;
        Ok(Answer { time_ns: monotonic_ns(), value })
    }
}

fn key_of(identity: FileIdentity) -> FileKey {
    let part = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    FileKey {
        major: part(nix::sys::stat::major(identity.device)),
        minor: part(nix::sys::stat::minor(identity.device)),
        inode: identity.inode,
        generation: 0,
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::image::Image;

    fn own() -> u32 {
        std::process::id()
    }

    #[test]
    fn the_own_program_is_found_at_its_path_and_by_its_process() {
        let link = OsFiles.text(&Text::Executable { pid: own() }).unwrap();
        let path = PathBuf::from(std::ffi::OsString::from_vec(link.value));
        let by_path = OsFiles.open(&Place::InProcess { pid: own(), path }).unwrap();
        let by_process = OsFiles.open(&Place::Executable { pid: own() }).unwrap();
        assert_eq!(by_path.key, by_process.key);
        assert!(link.time_ns > 0);
    }

    #[test]
    fn maps_name_the_own_program_by_its_key() {
        let maps = OsFiles.text(&Text::Maps { pid: own() }).unwrap().value;
        let key = OsFiles.open(&Place::Executable { pid: own() }).unwrap().key;
        assert!(maps_lines(&maps).any(|line| line.is_executable && line.key.inode == key.inode));
    }

    #[test]
    fn the_vdso_is_an_elf_image_with_a_build_id() {
        let vdso = OsFiles.open(&Place::Vdso).unwrap();
        assert!(Image::parse(vdso.handle).unwrap().build_id().is_some());
    }

    #[test]
    fn refusals_have_their_reason() {
        let missing = Place::Host { path: "/no/such/file".into() };
        assert_eq!(OsFiles.open(&missing).unwrap_err(), FileProblem::Missing);
        let device = Place::Host { path: "/dev/zero".into() };
        assert_eq!(OsFiles.open(&device).unwrap_err(), FileProblem::NotRegular);
        let relative = Place::Host { path: "file".into() };
        assert_eq!(OsFiles.open(&relative).unwrap_err(), FileProblem::BadPath);
        assert_eq!(OsFiles.threads(u32::MAX).unwrap_err(), FileProblem::Missing);
        assert_eq!(OsMemory.read(u32::MAX, 0, &mut [0]).unwrap_err(), FileProblem::Missing);
    }
}
