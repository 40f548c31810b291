//! Files in a raw log, block by block: only what was read of a file is kept, and each block once.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::files::{FileHandle, ReadAt};

/// The size of a block.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// Where blocks are kept.
pub(super) trait BlockSink: Send + Sync {
    fn keep(&self, file: u32, offset: u64, bytes: &[u8]);
}

/// A file whose blocks are kept when they are first read.
pub(super) struct BlockFile {
    file: FileHandle,
    number: u32,
    sink: Arc<dyn BlockSink>,
    kept: Mutex<FxHashSet<u64>>,
}

impl BlockFile {
    pub(super) fn new(file: FileHandle, number: u32, sink: Arc<dyn BlockSink>) -> Self {
        Self { file, number, sink, kept: Mutex::default() }
    }

    /// Reads and keeps the blocks of a range that were not kept yet, neighbors together.
    fn keep(&self, offset: u64, end: u64) -> io::Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = offset / BLOCK_BYTES;
        let past = end.div_ceil(BLOCK_BYTES);
        while first < past {
            let new = (first..past).take_while(|block| !kept.contains(block)).count() as u64;
            if new > 0 {
                self.keep_blocks(first, new)?;
                kept.extend(first..first + new);
            }
            first += new.max(1);
        }
        Ok(())
    }

    fn keep_blocks(&self, first: u64, count: u64) -> io::Result<()> {
        let offset = first * BLOCK_BYTES;
        let length = (count * BLOCK_BYTES).min(self.file.len().saturating_sub(offset));
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let read = self.file.read_at(offset, &mut bytes)?;
        self.sink.keep(self.number, offset, bytes.get(..read).unwrap_or_default());
        Ok(())
    }
}

impl ReadAt for BlockFile {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let end = offset.saturating_add(into.len() as u64).min(self.file.len());
        if offset < end {
            self.keep(offset, end)?;
        }
        self.file.read_at(offset, into)
    }
}

/// The kept blocks of one file.
#[derive(Debug, Default)]
pub(super) struct Blocks(FxHashMap<u64, Box<[u8]>>);

impl Blocks {
    /// Adds neighboring blocks. Blocks that are there already stay.
    pub(super) fn add(&mut self, offset: u64, bytes: &[u8]) {
        for (block, content) in (offset / BLOCK_BYTES..).zip(bytes.chunks(BLOCK_BYTES as usize)) {
            self.0.entry(block).or_insert_with(|| content.into());
        }
    }
}

/// A file as far as it was kept.
pub(super) struct KeptFile {
    pub(super) len: u64,
    pub(super) blocks: Arc<Blocks>,
}

impl ReadAt for KeptFile {
    fn len(&self) -> u64 {
        self.len
    }

    /// A part that was not kept is an error, never zeros.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let wanted = self.len.saturating_sub(offset).min(into.len() as u64);
        let wanted = usize::try_from(wanted).unwrap_or(0);
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..wanted).filter(|rest| !rest.is_empty()) {
            let at = offset + done as u64;
            let block = self.blocks.0.get(&(at / BLOCK_BYTES));
            let skipped = usize::try_from(at % BLOCK_BYTES).unwrap_or(0);
            let found = block.and_then(|block| block.get(skipped..)).filter(|found| !found.is_empty());
            let found = found.ok_or_else(|| io::Error::other("the raw log does not hold this part"))?;
            let count = found.len().min(rest.len());
            rest[..count].copy_from_slice(&found[..count]);
            done += count;
        }
        Ok(done)
    }
}
