//! Runs of equal cells: `runs (varint), the cell of each (packed), the length of each - 1 (packed)`.

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint};
use super::{Sink, packed};

/// Runs are worth a try when they are this long in the mean.
const LENGTH_MIN: usize = 4;

/// Encodes cells, or `None` when their runs are short.
pub(super) fn encode(cells: &[u64]) -> Option<Vec<u8>> {
    let runs = || cells.chunk_by(|a, b| a == b);
    let count = runs().count();
    if count * LENGTH_MIN > cells.len() + LENGTH_MIN {
        return None;
    }
    let values: Vec<u64> = runs().map(|run| run[0]).collect();
    let lengths: Vec<u64> = runs().map(|run| run.len() as u64 - 1).collect();
    let mut out = Vec::new();
    put_varint(&mut out, count as u64);
    out.extend(packed::encode(&values));
    out.extend(packed::encode(&lengths));
    Some(out)
}

pub(super) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let runs = reader.length()?;
    if runs > rows {
        return Err(DecodeError::BadRuns);
    }
    let mut values = Vec::new();
    packed::decode(reader, runs, |cells| values.cells(cells))?;
    let (mut values, mut left) = (values.into_iter(), rows);
    packed::decode(reader, runs, |lengths| {
        for (length, value) in lengths.iter().zip(&mut values) {
            let count = usize::try_from(*length).ok().and_then(|length| length.checked_add(1));
            let count = count.filter(|count| *count <= left).ok_or(DecodeError::BadRuns)?;
            sink.run(value, count)?;
            left -= count;
        }
        Ok(())
    })?;
    if left == 0 { Ok(()) } else { Err(DecodeError::BadRuns) }
}
