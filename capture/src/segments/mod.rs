//! Recent rows in memory for who watches a recording: every 250 ms those since the last, in arrival order.
//!
//! [`Segmenter`] turns increments into [`Segment`]s. What rows refer to (strings, stacks, threads, …) is kept
//! once per [`Epoch`], as chunks that are only ever appended; a segment holds its epoch and how many chunks
//! it may read. An epoch is freed with its last segment. When its dictionaries pass [`EPOCH_BYTES_MAX`] the
//! session begins another, with a new epoch of its builder.

use std::sync::{Arc, RwLock};

use crate::increment::Revisions;
use crate::table::Table;
use crate::{Increment, Tables};

/// How often rows are sealed.
pub const SEGMENT_NS: u64 = 250_000_000;
/// Dictionary bytes after which an epoch is full.
pub const EPOCH_BYTES_MAX: usize = 64 << 20;

/// Dictionary rows of one increment.
#[derive(Debug)]
struct Chunk {
    appended: Tables,
    revised: Revisions,
}

/// A time in which ids keep their meaning.
#[derive(Debug)]
pub struct Epoch {
    number: u64,
    chunks: RwLock<Vec<Arc<Chunk>>>,
}

impl Epoch {
    /// Counts epochs of a recording from 0. Ids of different epochs must not be compared.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// A chunk is appended whole, so a writer that panicked left none in part.
    fn chunks(&self, from: usize, to: usize) -> Vec<Arc<Chunk>> {
        let chunks = self.chunks.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        chunks.get(from..to.min(chunks.len())).unwrap_or_default().to_vec()
    }

    fn append(&self, chunk: Chunk) -> usize {
        let mut chunks = self.chunks.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        chunks.push(Arc::new(chunk));
        chunks.len()
    }
}

/// Rows of a short time, in arrival order: their times may overlap those of other segments.
#[derive(Debug, Clone)]
pub struct Segment {
    epoch: Arc<Epoch>,
    /// Chunks of the epoch that were there when this was sealed.
    chunks: usize,
    first_sample: u32,
    rows: Arc<Tables>,
}

impl Segment {
    /// The epoch that gives its ids their meaning.
    #[must_use]
    pub fn epoch(&self) -> &Arc<Epoch> {
        &self.epoch
    }

    /// The timed rows: samples, intervals, marks and so on. Their ids count in the epoch; dictionaries in
    /// here are empty, see [`Dictionaries`].
    #[must_use]
    pub fn rows(&self) -> &Tables {
        &self.rows
    }

    /// The number that the first sample has in the epoch.
    #[must_use]
    pub const fn first_sample(&self) -> u32 {
        self.first_sample
    }

    /// All rows this segment needs, on their own: to be canonicalized and validated as a capture.
    ///
    /// A claim on a sample of an earlier segment is left out: that sample is not here.
    #[must_use]
    pub fn tables(&self) -> Tables {
        let mut dictionaries = Dictionaries::default();
        dictionaries.follow(self);
        let mut tables = dictionaries.tables;
        tables.append_timed(&self.rows);
        tables.claims = own_claims(&self.rows, self.first_sample);
        tables
    }
}

/// The claims on samples of the segment itself, numbered as they are in it.
fn own_claims(rows: &Tables, first: u32) -> crate::Claims {
    let claims = rows.claims.iter().filter_map(|(_, claim)| {
        let sample = claim.sample.get().checked_sub(first)?;
        let here = (sample as usize) < rows.samples.len();
        here.then_some(crate::Claim { sample: crate::SampleId::new(sample), ..claim })
    });
    claims.collect()
}

/// The dictionaries of an epoch as far as a reader followed them: each chunk is applied once.
#[derive(Debug, Default)]
pub struct Dictionaries {
    tables: Tables,
    epoch: Option<u64>,
    chunks: usize,
}

impl Dictionaries {
    /// Takes in what was appended up to `segment`; begins anew when its epoch is another one.
    pub fn follow(&mut self, segment: &Segment) {
        if self.epoch != Some(segment.epoch.number) {
            *self = Self { epoch: Some(segment.epoch.number), ..Self::default() };
        }
        for chunk in segment.epoch.chunks(self.chunks, segment.chunks) {
            self.tables.append_dictionaries(&chunk.appended);
            self.tables.revise(&chunk.revised);
            self.chunks += 1;
        }
    }

    /// Strings, stacks, threads and all else that rows refer to. There are no timed rows.
    #[must_use]
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Turns increments into segments.
#[derive(Debug)]
pub struct Segmenter {
    epoch: Arc<Epoch>,
    dictionary_bytes: usize,
    samples: u32,
}

impl Default for Segmenter {
    fn default() -> Self {
        Self::in_epoch(0)
    }
}

impl Segmenter {
    /// The segments of a recording that begins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn in_epoch(number: u64) -> Self {
        let epoch = Arc::new(Epoch { number, chunks: RwLock::default() });
        Self { epoch, dictionary_bytes: 0, samples: 0 }
    }

    /// Seals an increment of the builder's epoch as a segment.
    pub fn seal(&mut self, increment: Increment) -> Segment {
        let Increment { mut appended, revised } = increment;
        let mut rows = Tables::default();
        rows.append_timed(&appended);
        appended.clear_timed();
        self.dictionary_bytes += appended.memory_bytes();
        let first_sample = self.samples;
        self.samples = first_sample.saturating_add(u32::try_from(rows.samples.len()).unwrap_or(u32::MAX));
        let chunks = self.epoch.append(Chunk { appended, revised });
        Segment { epoch: Arc::clone(&self.epoch), chunks, first_sample, rows: Arc::new(rows) }
    }

    /// Whether the epoch's dictionaries passed [`EPOCH_BYTES_MAX`].
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.dictionary_bytes > EPOCH_BYTES_MAX
    }

    /// Begins the next epoch, together with [`crate::Builder::begin_epoch`].
    pub fn begin_epoch(&mut self) {
        *self = Self::in_epoch(self.epoch.number + 1);
    }
}

impl Tables {
    /// Drops rows that happened at a time.
    pub(crate) fn clear_timed(&mut self) {
        macro_rules! clear_each {
            ($($field:ident),*) => {$( self.$field = Default::default(); )*};
        }
        crate::increment::for_each_timed!(clear_each);
    }

    /// Bytes of all cells and texts.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let mut bytes = self.strings.text_bytes() + self.strings.len() * size_of::<u32>();
        macro_rules! add_each {
            ($($field:ident: $type:ty,)*) => {$(
                bytes += Table::columns(&self.$field).iter().map(|column| column.bytes()).sum::<usize>();
            )*};
        }
        crate::model::for_each_table!(add_each);
        bytes
    }
}

#[cfg(test)]
mod tests;
