//! Opens captures, and other profiles as captures.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use microscope_capture::Capture;
use microscope_capture::file::FILE_BYTES_MAX;
use microscope_capture::import::{self, Format, ImportError};
use thiserror::Error;

/// Why a profile could not be opened. Names the file.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a directory, a pipe or a device.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// It is longer than any profile that is read.
    #[error("{} is longer than the {FILE_BYTES_MAX} bytes a profile may have", .0.display())]
    TooLarge(PathBuf),
    /// It is what a recording that was killed left behind.
    #[error("{} is an unfinished recording; microscope recover makes it a capture", .0.display())]
    Unfinished(PathBuf),
    /// It is no profile, or a damaged one.
    #[error("cannot open {}: {source}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ImportError,
    },
}

/// The capture at `path`; of `format`, or of the one that its first bytes tell.
pub fn open(path: &Path, format: Option<Format>) -> Result<Capture, OpenError> {
    let bytes = read_file(path)?;
    import(&bytes, format).map_err(|source| match source {
        ImportError::UnknownFormat if is_unfinished(path) => OpenError::Unfinished(path.to_owned()),
        source => OpenError::Import { path: path.to_owned(), source },
    })
}

/// The capture that comes from a stream.
pub fn open_stream(stream: impl Read, format: Option<Format>) -> Result<Capture, OpenError> {
    let path = || PathBuf::from("standard input");
    let bytes = read_all(stream).map_err(|source| OpenError::Read { path: path(), source })?;
    let bytes = bytes.ok_or_else(|| OpenError::TooLarge(path()))?;
    import(&bytes, format).map_err(|source| OpenError::Import { path: path(), source })
}

fn import(bytes: &[u8], format: Option<Format>) -> Result<Capture, ImportError> {
    match format {
        Some(format) => import::read_as(format, bytes),
        None => import::read(bytes),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, OpenError> {
    let failed = |source| OpenError::Read { path: path.to_owned(), source };
    // Checked before it is opened: opening a pipe waits for its writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(OpenError::NotRegular(path.to_owned()));
    }
    let bytes = File::open(path).and_then(read_all).map_err(failed)?;
    bytes.ok_or_else(|| OpenError::TooLarge(path.to_owned()))
}

/// Everything there is; nothing when it is more than a profile may have.
fn read_all(from: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}

fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "partial")
}
