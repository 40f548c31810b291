//! Runs of equal cells: `runs (varint), the cell of each (packed), the length of each - 1 (packed)`.

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint};
use super::{Sink, packed};

pub(super) fn encode(cells: &[u64]) -> Vec<u8> {
    let (mut values, mut lengths) = (Vec::new(), Vec::new());
    for run in cells.chunk_by(|a, b| a == b) {
        values.push(run[0]);
        lengths.push(run.len() as u64 - 1);
    }
    let mut out = Vec::new();
    put_varint(&mut out, values.len() as u64);
    out.extend(packed::encode(&values));
    out.extend(packed::encode(&lengths));
    out
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
