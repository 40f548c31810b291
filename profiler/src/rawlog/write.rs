//! Writes a raw log beside a recording: deliveries as they pass, answers as they are given.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::RawLogError;
use super::chunk::{Chunk, FileFacts, Start};
use super::codec::Bytes;
use super::file::{BlockFile, BlockSink};
use super::frame::{HEAD_BYTES, write_chunk, write_head};
use crate::collector::{Batch, Delivery};
use crate::files::{Answer, FileProblem, Files, Memory, OpenedFile, Place, Text};
use crate::records::FileKey;

/// A raw log being written. Shared by all whose answers it keeps.
#[derive(Debug)]
pub struct RawLogWriter {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    out: BufWriter<std::fs::File>,
    bytes: u64,
    bytes_max: u64,
    /// Why nothing more is written.
    stopped: Option<Stopped>,
    files: FxHashMap<(FileKey, u64), u32>,
    files_numbered: u32,
}

#[derive(Debug)]
enum Stopped {
    Bound,
    Failed(io::Error),
    Ended,
}

impl RawLogWriter {
    /// Begins a log at a path, readable by its owner only: it holds what was on stacks. An existing file is
    /// replaced. When `bytes_max` is reached, the rest is left out and the log says so.
    pub fn create(path: &Path, start: &Start, bytes_max: u64) -> Result<Arc<Self>, RawLogError> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let mut out = BufWriter::new(file);
        write_head(&mut out)?;
        let state = State {
            out,
            bytes: HEAD_BYTES,
            bytes_max,
            stopped: None,
            files: FxHashMap::default(),
            files_numbered: 0,
        };
        let writer = Self { state: Mutex::new(state) };
        writer.write(&Chunk::Start { start: start.clone() });
        Ok(Arc::new(writer))
    }

    /// Keeps a delivery. A failure to write shows when the log ends.
    pub fn delivery(&self, delivery: &Delivery) {
        self.write(&match delivery {
            Delivery::Events(layouts) => Chunk::Events { layouts: layouts.clone() },
            Delivery::Batch(batch) => batch_chunk(batch),
            Delivery::Round { complete_to_ns } => Chunk::Round { complete_to_ns: *complete_to_ns },
            Delivery::Finished(report) => Chunk::Finished { report: (**report).clone() },
        });
    }

    /// Files whose every answer is kept.
    #[must_use]
    pub fn files(self: &Arc<Self>, files: Arc<dyn Files>) -> Arc<dyn Files> {
        Arc::new(KeptFiles { files, log: Arc::clone(self) })
    }

    /// Memory whose every answer is kept.
    #[must_use]
    pub fn memory(self: &Arc<Self>, memory: Arc<dyn Memory>) -> Arc<dyn Memory> {
        Arc::new(KeptMemory { memory, log: Arc::clone(self) })
    }

    /// Ends the log; what is asked after that is answered and not kept. Tells whether all of it was kept.
    pub fn finish(&self) -> Result<bool, RawLogError> {
        let mut state = self.lock();
        let is_whole = match state.stopped.replace(Stopped::Ended) {
            None => true,
            Some(Stopped::Bound) => false,
            Some(Stopped::Failed(error)) => return Err(error.into()),
            Some(Stopped::Ended) => return Ok(true),
        };
        write_chunk(&Chunk::End { is_whole }, &mut state.out)?;
        state.out.flush()?;
        Ok(is_whole)
    }

    fn write(&self, chunk: &Chunk) {
        self.lock().write(chunk);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while writing leaves at worst a cut chunk, which readers take for the end.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, chunk: &Chunk) {
        if self.stopped.is_some() {
            return;
        }
        if self.bytes >= self.bytes_max {
            self.stopped = Some(Stopped::Bound);
            return;
        }
        match write_chunk(chunk, &mut self.out) {
            Ok(Some(bytes)) => self.bytes += bytes,
            Ok(None) => self.stopped = Some(Stopped::Bound),
            Err(error) => self.stopped = Some(Stopped::Failed(error)),
        }
    }

    /// The number of a file: one that is opened again has its number already.
    fn number(&mut self, key: FileKey, len: u64) -> u32 {
        let next = self.files_numbered;
        if key.inode == 0 {
            self.files_numbered += 1;
            return next;
        }
        let number = *self.files.entry((key, len)).or_insert(next);
        self.files_numbered += u32::from(number == next);
        number
    }
}

impl BlockSink for RawLogWriter {
    fn keep(&self, file: u32, offset: u64, bytes: &[u8]) {
        self.write(&Chunk::Blocks { file, offset, bytes: Bytes(bytes.to_vec()) });
    }
}

fn batch_chunk(batch: &Batch) -> Chunk {
    let hold = batch.read();
    let (first, second) = hold.parts();
    let bytes = Bytes([first, second].concat());
    Chunk::Batch { ring: batch.ring(), position: batch.position(), bytes }
}

struct KeptFiles {
    files: Arc<dyn Files>,
    log: Arc<RawLogWriter>,
}

impl Files for KeptFiles {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        let answer = self.files.open(place);
        let facts = answer.as_ref().map_err(|problem| *problem).map(|opened| {
            let len = opened.handle.len();
            FileFacts { file: self.log.lock().number(opened.key, len), key: opened.key, len }
        });
        self.log.write(&Chunk::Opened { place: place.clone(), answer: facts });
        let (opened, facts) = (answer?, facts?);
        let sink: Arc<dyn BlockSink> = Arc::<RawLogWriter>::clone(&self.log);
        let handle = Arc::new(BlockFile::new(opened.handle, facts.file, sink));
        Ok(OpenedFile { handle, key: opened.key })
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let answer = self.files.text(text);
        self.log.write(&Chunk::Text { text: *text, answer: answer.clone().map(in_bytes) });
        answer
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        let answer = self.files.threads(pid);
        self.log.write(&Chunk::Threads { pid, answer: answer.clone() });
        answer
    }
}

struct KeptMemory {
    memory: Arc<dyn Memory>,
    log: Arc<RawLogWriter>,
}

impl Memory for KeptMemory {
    fn read(&self, pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem> {
        let answer = self.memory.read(pid, address, into);
        let kept = answer.map(|Answer { time_ns, value }| {
            in_bytes(Answer { time_ns, value: into.get(..value).unwrap_or(into).to_vec() })
        });
        self.log.write(&Chunk::Memory { pid, address, length: into.len() as u64, answer: kept });
        answer
    }
}

fn in_bytes(answer: Answer<Vec<u8>>) -> Answer<Bytes> {
    Answer { time_ns: answer.time_ns, value: Bytes(answer.value) }
}
