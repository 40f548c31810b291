//! Notes: where the build IDs are.
//!
//! ```text
//! | name size u32 | description size u32 | type u32 | name, padded to 4 | description, padded to 4 |
//! ```

use crate::files::ReadAt;

use super::bytes::{Part, read_part, u32_at};
use super::{Section, Segment, SegmentKind};

/// Bytes of one note segment or section that are read at most.
const NOTES_BYTES_MAX: u64 = 64 << 10;
/// A build ID's bytes at most; Go's text is the longest known, about 83.
const DESCRIPTION_BYTES_MAX: usize = 512;

/// A note's owner and type.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoteName {
    owner: &'static [u8],
    kind: u32,
}

/// `NT_GNU_BUILD_ID`.
pub(super) const GNU_BUILD_ID: NoteName = NoteName { owner: b"GNU\0", kind: 3 };
/// The linker of Go writes it as type 4.
pub(super) const GO_BUILD_ID: NoteName = NoteName { owner: b"Go\0\0", kind: 4 };

/// The description of the first note called `wanted`: sections first, since a debug file's segments are stale.
pub(super) fn find(
    file: &dyn ReadAt,
    segments: &[Segment],
    sections: &[Section],
    wanted: NoteName,
) -> Option<Vec<u8>> {
    let in_sections = sections.iter().filter(|s| s.is_note && s.has_bytes).map(|s| (s.file_offset, s.size));
    let in_segments =
        segments.iter().filter(|s| s.kind == SegmentKind::Note).map(|s| (s.file_offset, s.file_bytes));
    in_sections.chain(in_segments).find_map(|(offset, size)| {
        let size = size.min(NOTES_BYTES_MAX);
        let bytes = read_part(file, Part { what: "notes", offset, size, max: NOTES_BYTES_MAX }).ok()?;
        in_bytes(&bytes, wanted)
    })
}

pub(super) fn in_bytes(mut bytes: &[u8], wanted: NoteName) -> Option<Vec<u8>> {
    while let Some((note, rest)) = next_note(bytes) {
        if note.kind == wanted.kind && note.owner == wanted.owner && is_identifier(note.description) {
            return Some(note.description.to_vec());
        }
        bytes = rest;
    }
    None
}

fn is_identifier(description: &[u8]) -> bool {
    !description.is_empty() && description.len() <= DESCRIPTION_BYTES_MAX
}

struct Note<'a> {
    owner: &'a [u8],
    kind: u32,
    description: &'a [u8],
}

fn next_note(bytes: &[u8]) -> Option<(Note<'_>, &[u8])> {
    let (owner_size, description_size) = (u32_at(bytes, 0)? as usize, u32_at(bytes, 4)? as usize);
    let kind = u32_at(bytes, 8)?;
    let rest = bytes.get(12..)?;
    let (owner, rest) = split_padded(rest, owner_size)?;
    let (description, rest) = split_padded(rest, description_size)?;
    Some((Note { owner, kind, description }, rest))
}

/// The first `size` bytes, and what follows their padding to a multiple of 4; the last padding may be missing.
fn split_padded(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let taken = bytes.get(..size)?;
    let padded = size.checked_next_multiple_of(4)?.min(bytes.len());
    Some((taken, bytes.get(padded..)?))
}
