//! Little-endian fields out of bytes, and bytes out of files, both checked.

use crate::files::ReadAt;

use super::ImageError;

/// The `N` bytes at `at`.
pub(super) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The 16-bit number at `at`.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

/// The 32-bit number at `at`.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

/// The 64-bit number at `at`.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

/// A part of a file: its name in messages, where it lies, and the most that is read of such a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) what: &'static str,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) max: u64,
}

/// Reads `part` whole. Its size is compared with the limit and with the file before memory is taken.
pub(super) fn read_part(file: &dyn ReadAt, part: Part) -> Result<Vec<u8>, ImageError> {
    let Part { what, offset, size, max } = part;
    if size > max {
        return Err(ImageError::TooLarge { what, value: size, max });
    }
    let truncated = || ImageError::Truncated { what, offset, size, file_bytes: file.len() };
    let end = offset.checked_add(size).ok_or_else(truncated)?;
    if end > file.len() {
        return Err(truncated());
    }
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| truncated())?];
    if read_up_to(file, what, offset, &mut bytes)? < bytes.len() {
        return Err(truncated());
    }
    Ok(bytes)
}

/// Fills `into` from `offset` as far as the file goes.
pub(super) fn read_up_to(
    file: &dyn ReadAt,
    what: &'static str,
    offset: u64,
    into: &mut [u8],
) -> Result<usize, ImageError> {
    let mut filled = 0;
    while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset.saturating_add(filled as u64);
        let count = file.read_at(at, rest).map_err(|error| ImageError::Io { what, kind: error.kind() })?;
        if count == 0 {
            break;
        }
        filled += count;
    }
    Ok(filled.min(into.len()))
}
