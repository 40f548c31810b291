//! Names of separate debug files: `.gnu_debuglink` and dwz's `.gnu_debugaltlink`.

use super::bytes::u32_at;

/// A separate debug file's name and the CRC-32 of its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugLink {
    /// A file name without directories.
    pub file_name: Vec<u8>,
    /// The CRC-32 (as zlib computes it) of the whole file.
    pub crc32: u32,
}

/// A supplementary debug file's path and build ID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AltLink {
    /// A path, absolute or relative to the file that names it.
    pub path: Vec<u8>,
    /// The build ID it must have.
    pub build_id: Vec<u8>,
}

/// The name, zero bytes up to a multiple of 4, the checksum.
pub(super) fn debug_link(data: &[u8]) -> Option<DebugLink> {
    let end = data.iter().position(|byte| *byte == 0)?;
    let file_name = data.get(..end)?.to_vec();
    let crc32 = u32_at(data, end.checked_add(1)?.checked_next_multiple_of(4)?)?;
    // A directory in the name could point anywhere.
    (!file_name.is_empty() && !file_name.contains(&b'/')).then_some(DebugLink { file_name, crc32 })
}

/// The path, one zero byte, the build ID.
pub(super) fn alt_link(data: &[u8]) -> Option<AltLink> {
    let end = data.iter().position(|byte| *byte == 0)?;
    let (path, build_id) = (data.get(..end)?.to_vec(), data.get(end + 1..)?.to_vec());
    (!path.is_empty() && !build_id.is_empty()).then_some(AltLink { path, build_id })
}
