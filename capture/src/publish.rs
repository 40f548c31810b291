//! Puts a capture in its place whole or not at all.
//!
//! The bytes go to a file that has no name yet, then to the disk, and only then get the name: no reader
//! ever sees a part of a capture, and a recorder killed meanwhile leaves no temporary behind. Where the
//! file system has no unnamed files, a named one stands in; it is removed on any error.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};

use crate::Capture;

/// Only the owner may read what a program did.
pub(crate) const OWNER_ONLY: u32 = 0o600;

/// Writes `capture` to `path`, replacing what is there in one step.
pub fn publish(path: &Path, capture: &Capture) -> io::Result<()> {
    publish_bytes(path, &capture.to_bytes())
}

/// Writes a file that only its owner may read to `path`, replacing what is there in one step.
pub fn publish_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let temporary = Temporary(temporary_name(path)?);
    if write_unnamed(folder, bytes, &temporary.0).is_err() {
        write_named(bytes, &temporary.0)?;
    }
    std::fs::rename(&temporary.0, path)?;
    // The name is durable once its folder is; a folder that cannot be synced has no stronger promise.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A name that must not outlive the publication. After the rename nothing has it.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// `.NAME.PID-N.tmp` beside the file: unique in this process, and no other process has its pid.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    Ok(folder_of(path).join(temporary))
}

/// Writes to an unnamed file, then gives it a name.
fn write_unnamed(folder: &Path, bytes: &[u8], name: &Path) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).custom_flags(OFlag::O_TMPFILE.bits()).mode(OWNER_ONLY).open(folder)?;
    write_durably(&mut file, bytes)?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    nix::unistd::linkat(AT_FDCWD, Path::new(&unnamed), AT_FDCWD, name, AtFlags::AT_SYMLINK_FOLLOW)?;
    Ok(())
}

fn write_named(bytes: &[u8], name: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(name)?;
    write_durably(&mut file, bytes)
}

fn write_durably(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::Tables;
    use crate::testing::random_tables;

    fn names(folder: &Path) -> Vec<OsString> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_published_capture_is_whole_private_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mscope");
        let capture = Capture::validate(random_tables(1, 10)).unwrap();
        publish(&path, &capture).unwrap();
        assert_eq!(Capture::read_file(&path).unwrap(), capture);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["run.mscope"]);
    }

    #[test]
    fn a_later_publication_replaces_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mscope");
        publish(&path, &Capture::validate(Tables::default()).unwrap()).unwrap();
        let named = Capture::validate(random_tables(1, 10)).unwrap();
        publish(&path, &named).unwrap();
        assert_eq!(Capture::read_file(&path).unwrap(), named);
        assert_eq!(names(folder.path()), ["run.mscope"]);
    }

    #[test]
    fn a_named_temporary_stands_in_where_there_are_no_unnamed_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.mscope");
        let temporary = Temporary(temporary_name(&path).unwrap());
        write_named(b"bytes", &temporary.0).unwrap();
        assert_eq!(std::fs::metadata(&temporary.0).unwrap().permissions().mode() & 0o777, 0o600);
        drop(temporary);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn an_error_leaves_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        assert!(publish_bytes(&path, b"bytes").is_err(), "a folder cannot be replaced by a file");
        assert_eq!(names(folder.path()), ["folder"]);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(publish_bytes(&folder.path().join("missing/run.mscope"), b"bytes").is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let error = Capture::read_file(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "not a regular file");
    }
}
