//! Bit packing in blocks, with exceptions: few large cells do not widen the others.
//!
//! ```text
//! block of 128 cells (the last may be shorter) :=
//!     base (varint), width in bits (1 byte), exceptions (1 byte),
//!     low `width` bits of each cell - base, packed from the least significant bit,
//!     position of each exception (1 byte), then what lies above `width` bits of each (varint)
//! ```

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint, varint_bytes};
use super::bits::BitWriter;

/// Cells of a whole block.
pub(crate) const BLOCK: usize = 128;

/// The packed bytes of a block of the widest cells, and room to read a word past them.
const BUFFER_BYTES: usize = BLOCK * 8 + 16;

pub(super) fn encode(cells: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for block in cells.chunks(BLOCK) {
        encode_block(block, &mut out);
    }
    out
}

/// The bytes that [`encode`] takes.
pub(super) fn size(cells: &[u64]) -> usize {
    let block = |block: &[u64]| {
        let (base, _, bytes) = best_width(block);
        varint_bytes(base) + 2 + bytes
    };
    cells.chunks(BLOCK).map(block).sum()
}

fn encode_block(cells: &[u64], out: &mut Vec<u8>) {
    let (base, width, _) = best_width(cells);
    let high = |cell: &u64| (cell - base).checked_shr(width).unwrap_or(0);
    let exceptions: Vec<(usize, u64)> =
        cells.iter().map(high).enumerate().filter(|(_, high)| *high > 0).collect();
    put_varint(out, base);
    out.push(width as u8);
    out.push(exceptions.len() as u8);
    let mut packed = BitWriter::default();
    for cell in cells {
        packed.put((cell - base) & mask(width), width);
    }
    out.extend(packed.finish());
    out.extend(exceptions.iter().map(|(position, _)| *position as u8));
    for (_, high) in exceptions {
        put_varint(out, high);
    }
}

/// The base of a block, the width with which it takes fewest bytes, and those bytes without the head.
fn best_width(cells: &[u64]) -> (u64, u32, usize) {
    let base = cells.iter().copied().fold(u64::MAX, u64::min);
    let mut counts = [0_usize; 65];
    for cell in cells {
        counts[bits(cell - base) as usize] += 1;
    }
    let widest = counts.iter().rposition(|count| *count > 0).unwrap_or(0) as u32;
    let mut best = (base, widest, (cells.len() * widest as usize).div_ceil(8));
    let mut wider = 0;
    for width in (0..widest).rev() {
        // One byte of position and at least one above the width, for every cell that is wider.
        wider += counts[width as usize + 1];
        let packed = (cells.len() * width as usize).div_ceil(8);
        if packed + 2 * wider > best.2 {
            break;
        }
        let above = |bits: u32| counts[bits as usize] * (1 + varint_bytes(1 << (bits - width - 1)));
        let bytes = packed + (width + 1..=widest).map(above).sum::<usize>();
        if bytes <= best.2 {
            best = (base, width, bytes);
        }
    }
    best
}

const fn bits(value: u64) -> u32 {
    64 - value.leading_zeros()
}

const fn mask(width: u32) -> u64 {
    if width == 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Reads `rows` cells, block by block.
pub(super) fn decode(
    reader: &mut Reader<'_>,
    rows: usize,
    mut sink: impl FnMut(&mut [u64]) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let mut cells = [0; BLOCK];
    let mut left = rows;
    while left > 0 {
        let block = &mut cells[..left.min(BLOCK)];
        decode_block(reader, block)?;
        sink(block)?;
        left -= block.len();
    }
    Ok(())
}

fn decode_block(reader: &mut Reader<'_>, cells: &mut [u64]) -> Result<(), DecodeError> {
    let base = reader.varint()?;
    let width = reader.u8()?;
    let exceptions = usize::from(reader.u8()?);
    if width > 64 {
        return Err(DecodeError::BadWidth(width));
    }
    let width = u32::from(width);
    unpack(reader.take((cells.len() * width as usize).div_ceil(8))?, width, cells);
    let positions = reader.take(exceptions)?;
    for position in positions {
        let high = reader.varint()?;
        let cell = cells.get_mut(usize::from(*position)).ok_or(DecodeError::BadException)?;
        let fits = high <= u64::MAX.checked_shr(width).unwrap_or(0);
        *cell |= if fits { high << (width % 64) } else { return Err(DecodeError::BadException) };
    }
    for cell in cells {
        *cell = cell.wrapping_add(base);
    }
    Ok(())
}

fn unpack(packed: &[u8], width: u32, cells: &mut [u64]) {
    let mut buffer = [0; BUFFER_BYTES];
    buffer[..packed.len()].copy_from_slice(packed);
    let mask = mask(width);
    let width = width as usize;
    for (index, cell) in cells.iter_mut().enumerate() {
        let bit = index * width;
        *cell = word_at(&buffer, bit / 8, bit % 8, width) & mask;
    }
}

/// At least `width` bits from a bit of a byte on.
fn word_at(buffer: &[u8; BUFFER_BYTES], byte: usize, bit: usize, width: usize) -> u64 {
    let read = |at: usize| {
        buffer.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    };
    let low = read(byte) >> bit;
    if bit + width <= 64 { low } else { low | (u64::from(buffer[byte + 8]) << (64 - bit)) }
}
