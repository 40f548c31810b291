//! The different cells by how often they occur, and each cell as its rank: for ids, few of which are often.
//!
//! ```text
//! body := different cells (varint), those cells (deltas, packed), the rank of each cell (classed)
//! ```
//! Ranks of one bit length cost the same, so within each length the cells ascend and their deltas are small.

use rustc_hash::FxHashMap;

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint};
use super::{Sink, classed, delta};

/// Nothing is gained when nearly every cell is another one.
const DIFFERENT_SHARE_MAX: usize = 2;

/// Encodes cells, or `None` when too many are different.
pub(super) fn encode(cells: &[u64]) -> Option<Vec<u8>> {
    let ranked = ranked(cells)?;
    let ranks: FxHashMap<u64, u64> = ranked.iter().copied().zip(0..).collect();
    let mut out = Vec::new();
    put_varint(&mut out, ranked.len() as u64);
    out.extend(delta::encode(&ranked));
    let cells: Vec<u64> = cells.iter().filter_map(|cell| ranks.get(cell).copied()).collect();
    out.extend(classed::encode(&cells));
    Some(out)
}

/// The different cells, most frequent first, those whose ranks have one bit length ascending.
fn ranked(cells: &[u64]) -> Option<Vec<u64>> {
    let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
    for cell in cells {
        *counts.entry(*cell).or_default() += 1;
        if counts.len() > cells.len() / DIFFERENT_SHARE_MAX {
            return None;
        }
    }
    let mut by_count: Vec<(u64, u64)> = counts.into_iter().collect();
    by_count.sort_unstable_by_key(|(cell, count)| (std::cmp::Reverse(*count), *cell));
    let mut ranked: Vec<u64> = by_count.into_iter().map(|(cell, _)| cell).collect();
    let mut from = 1;
    while from < ranked.len() {
        let to = (from * 2).min(ranked.len());
        ranked[from..to].sort_unstable();
        from = to;
    }
    Some(ranked)
}

pub(super) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let different = reader.length()?;
    if different > rows {
        return Err(DecodeError::BadRank);
    }
    let mut ranked: Vec<u64> = Vec::new();
    delta::decode(reader, different, &mut ranked)?;
    classed::decode(reader, rows, |cells| {
        for cell in &mut *cells {
            let rank = usize::try_from(*cell).unwrap_or(usize::MAX);
            *cell = *ranked.get(rank).ok_or(DecodeError::BadRank)?;
        }
        sink.cells(cells)
    })
}
