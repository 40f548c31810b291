//! How chunks lie in the file: each with its length and checksum, compressed where that helps.
//!
//! ```text
//! "mscope-rawlog\0\0\0" | version u32 |
//! chunk: content length u32 | stored length u32 (highest bit: compressed) | CRC-32 of what is stored u32 | stored
//! ```

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::RawLogError;
use super::chunk::Chunk;
use super::codec::{Field, Input};

const MAGIC: [u8; 16] = *b"mscope-rawlog\0\0\0";
/// Changes with every change of a chunk's fields: raw logs are recorded anew, not converted.
pub(super) const VERSION: u32 = 1;
/// The longest content of a chunk. A batch is at most as long as its ring.
pub(super) const CONTENT_BYTES_MAX: u32 = 1 << 28;
/// The length of what comes before the chunks.
pub(super) const HEAD_BYTES: u64 = 20;
/// The length of what comes before a chunk's content.
pub(super) const CHUNK_HEAD_BYTES: u64 = 12;

const COMPRESSED: u32 = 1 << 31;
/// Shorter contents are stored as they are.
const COMPRESSED_FROM_BYTES: usize = 256;

pub(super) fn write_head(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())
}

pub(super) fn read_head(input: &mut impl Read) -> Result<(), RawLogError> {
    let (mut magic, mut version) = ([0; 16], [0; 4]);
    if input.read_exact(&mut magic).is_err() || magic != MAGIC {
        return Err(RawLogError::NotARawLog);
    }
    input.read_exact(&mut version)?;
    match u32::from_le_bytes(version) {
        VERSION => Ok(()),
        version => Err(RawLogError::Version { version }),
    }
}

/// Writes a chunk; gives its length in the file. `None` when its content is too long.
pub(super) fn write_chunk(chunk: &Chunk, out: &mut impl Write) -> io::Result<Option<u64>> {
    let mut content = Vec::new();
    chunk.write(&mut content);
    let Some(length) = u32::try_from(content.len()).ok().filter(|length| *length <= CONTENT_BYTES_MAX) else {
        return Ok(None);
    };
    let packed = if content.len() >= COMPRESSED_FROM_BYTES { Some(pack(&content)?) } else { None };
    let packed = packed.filter(|packed| packed.len() < content.len());
    let flag = if packed.is_some() { COMPRESSED } else { 0 };
    let stored = packed.as_deref().unwrap_or(&content);
    // What is stored is never longer than the content.
    let stored_length = u32::try_from(stored.len()).unwrap_or(length) | flag;
    for number in [length, stored_length, checksum(stored)] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(stored)?;
    Ok(Some(CHUNK_HEAD_BYTES + stored.len() as u64))
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content)?;
    encoder.finish()
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// What was read of a chunk.
pub(super) enum Found {
    /// A chunk, and its length in the file.
    Chunk(Chunk, u64),
    /// The file ends here, perhaps inside a chunk: its writer was killed.
    End,
}

/// Reads the chunk at `offset` of the file.
pub(super) fn read_chunk(input: &mut impl Read, offset: u64) -> Result<Found, RawLogError> {
    let mut head = [0; CHUNK_HEAD_BYTES as usize];
    if !fill(input, &mut head)? {
        return Ok(Found::End);
    }
    let number =
        |at: usize| head.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes);
    let (length, stored_length, expected) = (number(0), number(4), number(8));
    let (is_packed, stored_length) = (stored_length & COMPRESSED != 0, stored_length & !COMPRESSED);
    if length > CONTENT_BYTES_MAX || stored_length > length || (!is_packed && stored_length != length) {
        return Err(RawLogError::Malformed { offset });
    }
    let mut stored = Vec::new();
    input.take(u64::from(stored_length)).read_to_end(&mut stored)?;
    if stored.len() < stored_length as usize {
        return Ok(Found::End);
    }
    if checksum(&stored) != expected {
        return Err(RawLogError::Checksum { offset });
    }
    let content = if is_packed { unpack(&stored, length, offset)? } else { stored };
    let mut fields = Input(&content);
    let chunk = Chunk::read(&mut fields).filter(|_| fields.0.is_empty());
    let chunk = chunk.ok_or(RawLogError::Malformed { offset })?;
    Ok(Found::Chunk(chunk, CHUNK_HEAD_BYTES + u64::from(stored_length)))
}

/// Whether the input held as many bytes.
fn fill(input: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn unpack(stored: &[u8], length: u32, offset: u64) -> Result<Vec<u8>, RawLogError> {
    let mut content = Vec::new();
    let unpacked = DeflateDecoder::new(stored).take(u64::from(length) + 1).read_to_end(&mut content);
    if unpacked.is_err() || content.len() != length as usize {
        return Err(RawLogError::Malformed { offset });
    }
    Ok(content)
}
