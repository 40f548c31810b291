//! Finds the file that was mapped: tries the places where it may be, and believes only what the kernel's
//! evidence proves. A matching path alone is no proof.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::module::{NoImage, split_deleted};
use crate::files::{FileProblem, Files, OpenedFile, Place};
use crate::image::Image;
use crate::records::{Evidence, FileKey};

/// A mapping of a file, as a record or a line of `maps` states it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapped<'a> {
    pub(super) pid: u32,
    pub(super) start_address: u64,
    pub(super) end_address: u64,
    pub(super) path: &'a [u8],
    pub(super) evidence: Evidence,
}

/// Opens the mapped file. Of several refusals the most telling is given.
pub(super) fn locate(mapped: &Mapped<'_>, files: &dyn Files) -> Result<(Image, FileKey), NoImage> {
    if mapped.evidence == Evidence::None {
        return Err(NoImage::NoEvidence);
    }
    let mut refusal = NoImage::NotOpened(FileProblem::Missing);
    for place in places(mapped) {
        let found = files.open(&place).map_err(NoImage::from).and_then(|file| prove(mapped, &place, file));
        match found {
            Ok(found) => return Ok(found),
            Err(other) if weight(&other) > weight(&refusal) => refusal = other,
            Err(_) => {}
        }
    }
    Err(refusal)
}

/// Where the file may be, the likeliest first.
fn places(mapped: &Mapped<'_>) -> impl Iterator<Item = Place> {
    let (path, is_deleted) = split_deleted(mapped.path);
    let path = PathBuf::from(OsStr::from_bytes(path));
    let Mapped { pid, start_address, end_address, .. } = *mapped;
    let in_process = (!is_deleted).then(|| Place::InProcess { pid, path: path.clone() });
    // A short-lived process is often gone by now, its file is not.
    let on_host = (!is_deleted).then_some(Place::Host { path });
    let held = [Place::Mapped { pid, start_address, end_address }, Place::Executable { pid }];
    in_process.into_iter().chain(held).chain(on_host)
}

fn prove(mapped: &Mapped<'_>, place: &Place, file: OpenedFile) -> Result<(Image, FileKey), NoImage> {
    let key = file.key;
    if let Evidence::Inode(wanted) = mapped.evidence
        && !is_same_file(wanted, key, place)
    {
        return Err(NoImage::Replaced);
    }
    let image = Image::parse(file.handle)?;
    if let Evidence::BuildId { bytes, length } = mapped.evidence {
        let wanted = &bytes[..usize::from(length).min(bytes.len())];
        if !image.build_id().is_some_and(|found| found.starts_with(wanted)) {
            return Err(NoImage::Replaced);
        }
    }
    Ok((image, key))
}

/// Some file systems (btrfs, overlayfs) report another device to `stat` than to the kernel's own records, so
/// through the process itself the inode decides.
fn is_same_file(wanted: FileKey, found: FileKey, place: &Place) -> bool {
    let is_same_device = (wanted.major, wanted.minor) == (found.major, found.minor);
    wanted.inode == found.inode && (is_same_device || !matches!(place, Place::Host { .. }))
}

/// How much a refusal explains.
const fn weight(refusal: &NoImage) -> u8 {
    match refusal {
        NoImage::NotOpened(FileProblem::Missing) => 0,
        NoImage::NotOpened(FileProblem::Denied) => 1,
        NoImage::NotOpened(_) => 2,
        NoImage::Replaced => 3,
        _ => 4,
    }
}
