//! What proves which code an image is, independent of any path.

use std::fmt::Write;

use microscope_capture::IdentityKind;
use sha2::{Digest, Sha256};

use super::bytes::read_up_to;
use super::{Image, Segment};

/// Bytes of one segment that are hashed at most: of a longer one, pages spread evenly. A module's identity is wanted
/// when its first sample arrives, and hashing 500 MB then would take a second.
const HASHED_BYTES_MAX: u64 = 4 << 20;
const PAGE_BYTES: u64 = 4_096;

/// A proof of identity and what kind it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Which kind; [`IdentityKind::None`] comes with an empty text.
    pub kind: IdentityKind,
    /// Lower-case hexadecimal, or Go's own text.
    pub text: String,
}

/// The best proof that `image` carries.
pub(super) fn of(image: &Image) -> Identity {
    if let Some(build_id) = image.build_id() {
        return Identity { kind: IdentityKind::GnuBuildId, text: hex(&build_id) };
    }
    if let Some(text) = image.go_build_id() {
        return Identity { kind: IdentityKind::GoBuildId, text };
    }
    match segment_hash(image) {
        Some(hash) => Identity { kind: IdentityKind::SegmentHash, text: hash },
        None => Identity { kind: IdentityKind::None, text: String::new() },
    }
}

/// Bytes as lower-case hexadecimal text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256 over every executable segment: address, lengths and pages. `None` when a segment cannot be read whole or
/// none is there.
///
/// The file header, if in such a segment, counts without the fields that `strip` changes.
fn segment_hash(image: &Image) -> Option<String> {
    let mut hash = Sha256::new();
    let mut any = false;
    for segment in image.loaded_segments().filter(|segment| segment.executable) {
        for number in [segment.svma, segment.file_bytes, segment.memory_bytes] {
            hash.update(number.to_le_bytes());
        }
        hash_pages(image, segment, &mut hash)?;
        any = true;
    }
    any.then(|| hex(&hash.finalize()))
}

fn hash_pages(image: &Image, segment: &Segment, hash: &mut Sha256) -> Option<()> {
    let step = PAGE_BYTES.checked_mul(segment.file_bytes.div_ceil(HASHED_BYTES_MAX).max(1))?;
    let mut page = [0; PAGE_BYTES as usize];
    let mut at = 0;
    while at < segment.file_bytes {
        let size = (segment.file_bytes - at).min(PAGE_BYTES) as usize;
        let into = page.get_mut(..size)?;
        let offset = segment.file_offset.checked_add(at)?;
        if read_up_to(&**image.file(), "segment", offset, into).ok()? < size {
            return None;
        }
        clear_strippable(offset, into);
        hash.update(into);
        at = at.checked_add(step)?;
    }
    Some(())
}

/// Zeroes `e_shoff`, `e_shnum` and `e_shstrndx` where `bytes` begin the file.
fn clear_strippable(offset: u64, bytes: &mut [u8]) {
    if offset != 0 {
        return;
    }
    for range in [40..48, 60..64] {
        if let Some(field) = bytes.get_mut(range) {
            field.fill(0);
        }
    }
}
