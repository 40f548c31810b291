//! Reads a raw log: checks all of it, keeps its answers, and gives its deliveries again.

use std::collections::VecDeque;
use std::fs::File;
use std::hash::Hash;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::RawLogError;
use super::chunk::{Chunk, FileFacts, Start};
use super::codec::Bytes;
use super::file::{Blocks, KeptFile};
use super::frame::{Found, HEAD_BYTES, read_chunk, read_head};
use crate::collector::{Batch, Delivery};
use crate::files::{Answer, FileProblem, Files, Memory, OpenedFile, Place, Text};

/// Answers that are held in memory at most.
const ANSWER_BYTES_MAX: u64 = 2 << 30;

/// A raw log that was read through once: every chunk is whole and well formed.
pub struct RawLog {
    start: Start,
    answers: Arc<Answers>,
    input: BufReader<File>,
    is_whole: bool,
}

impl RawLog {
    /// Opens and checks a log.
    pub fn open(path: &Path) -> Result<Self, RawLogError> {
        let mut input = BufReader::new(File::open(path)?);
        read_head(&mut input)?;
        let mut chunks = Chunks { input: &mut input, offset: HEAD_BYTES };
        let Some(Chunk::Start { start }) = chunks.next()? else { return Err(RawLogError::NoStart) };
        let mut gathering = Gathering::default();
        let is_whole = gathering.gather(&mut chunks)?;
        let answers = Arc::new(gathering.answers());
        Ok(Self { start, answers, input, is_whole })
    }

    /// What the recording began with.
    #[must_use]
    pub const fn start(&self) -> &Start {
        &self.start
    }

    /// Whether the log was ended and nothing was left out.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Files that answer as they did then: the nth question of a kind gets the nth answer, and the last one
    /// again after that. What was never asked is [`FileProblem::NotRecorded`].
    #[must_use]
    pub fn files(&self) -> Arc<dyn Files> {
        Arc::<Answers>::clone(&self.answers)
    }

    /// Memory that answers as it did then, by the same rule.
    #[must_use]
    pub fn memory(&self) -> Arc<dyn Memory> {
        Arc::<Answers>::clone(&self.answers)
    }

    /// Everything the collector delivered, in order.
    pub fn deliveries(&mut self) -> Result<Deliveries<'_>, RawLogError> {
        self.input.seek(SeekFrom::Start(HEAD_BYTES))?;
        Ok(Deliveries { chunks: Chunks { input: &mut self.input, offset: HEAD_BYTES } })
    }
}

/// Deliveries of a raw log.
pub struct Deliveries<'a> {
    chunks: Chunks<'a>,
}

impl Iterator for Deliveries<'_> {
    type Item = Result<Delivery, RawLogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let delivery = match self.chunks.next() {
                Ok(Some(Chunk::Events { layouts })) => Delivery::Events(layouts),
                Ok(Some(Chunk::Batch { ring, position, bytes })) => {
                    Delivery::Batch(Batch::owned(ring, position, bytes.0))
                }
                Ok(Some(Chunk::Round { complete_to_ns })) => Delivery::Round { complete_to_ns },
                Ok(Some(Chunk::Finished { report })) => Delivery::Finished(Box::new(report)),
                Ok(Some(_)) => continue,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            return Some(Ok(delivery));
        }
    }
}

struct Chunks<'a> {
    input: &'a mut BufReader<File>,
    offset: u64,
}

impl Chunks<'_> {
    fn next(&mut self) -> Result<Option<Chunk>, RawLogError> {
        match read_chunk(self.input, self.offset)? {
            Found::Chunk(chunk, length) => {
                self.offset += length;
                Ok(Some(chunk))
            }
            Found::End => Ok(None),
        }
    }
}

/// The answers to each question, in the order given.
type ByQuestion<Question, Value> = FxHashMap<Question, VecDeque<Result<Value, FileProblem>>>;
/// Process, address and length.
type MemoryQuestion = (u32, u64, u64);

/// Answers as they are met.
#[derive(Default)]
struct Gathering {
    opened: ByQuestion<Place, FileFacts>,
    blocks: FxHashMap<u32, Blocks>,
    texts: ByQuestion<Text, Answer<Bytes>>,
    threads: ByQuestion<u32, Answer<Vec<u32>>>,
    memory: ByQuestion<MemoryQuestion, Answer<Bytes>>,
    bytes: u64,
}

impl Gathering {
    /// Takes every chunk to the end; tells whether the log is whole.
    fn gather(&mut self, chunks: &mut Chunks<'_>) -> Result<bool, RawLogError> {
        let mut is_whole = false;
        while let Some(chunk) = chunks.next()? {
            match chunk {
                Chunk::End { is_whole: told } => is_whole = told,
                Chunk::Start { .. } => return Err(RawLogError::Malformed { offset: chunks.offset }),
                answer => self.add(answer)?,
            }
        }
        Ok(is_whole)
    }

    fn add(&mut self, chunk: Chunk) -> Result<(), RawLogError> {
        let length =
            |answer: &Result<Answer<Bytes>, _>| answer.as_ref().map_or(0, |a| a.value.0.len() as u64);
        match chunk {
            Chunk::Opened { place, answer } => self.opened.entry(place).or_default().push_back(answer),
            Chunk::Blocks { file, offset, bytes } => {
                self.bytes += bytes.0.len() as u64;
                self.blocks.entry(file).or_default().add(offset, &bytes.0);
            }
            Chunk::Text { text, answer } => {
                self.bytes += length(&answer);
                self.texts.entry(text).or_default().push_back(answer);
            }
            Chunk::Threads { pid, answer } => self.threads.entry(pid).or_default().push_back(answer),
            Chunk::Memory { pid, address, length: asked, answer } => {
                self.bytes += length(&answer);
                self.memory.entry((pid, address, asked)).or_default().push_back(answer);
            }
            _ => {}
        }
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(RawLogError::TooLarge { bytes_max: ANSWER_BYTES_MAX });
        }
        Ok(())
    }

    fn answers(self) -> Answers {
        Answers {
            opened: Mutex::new(self.opened),
            blocks: self.blocks.into_iter().map(|(file, blocks)| (file, Arc::new(blocks))).collect(),
            texts: Mutex::new(self.texts),
            threads: Mutex::new(self.threads),
            memory: Mutex::new(self.memory),
        }
    }
}

/// Answers to give again.
struct Answers {
    opened: Mutex<ByQuestion<Place, FileFacts>>,
    blocks: FxHashMap<u32, Arc<Blocks>>,
    texts: Mutex<ByQuestion<Text, Answer<Bytes>>>,
    threads: Mutex<ByQuestion<u32, Answer<Vec<u32>>>>,
    memory: Mutex<ByQuestion<MemoryQuestion, Answer<Bytes>>>,
}

/// The next answer to a question.
fn next<Q: Hash + Eq, V: Clone>(answers: &Mutex<ByQuestion<Q, V>>, question: &Q) -> Result<V, FileProblem> {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = answers.get_mut(question).ok_or(FileProblem::NotRecorded)?;
    let answer = if waiting.len() > 1 { waiting.pop_front() } else { waiting.front().cloned() };
    answer.unwrap_or(Err(FileProblem::NotRecorded))
}

impl Files for Answers {
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem> {
        let facts = next(&self.opened, place)?;
        let blocks = self.blocks.get(&facts.file).cloned().unwrap_or_default();
        Ok(OpenedFile { handle: Arc::new(KeptFile { len: facts.len, blocks }), key: facts.key })
    }

    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        let Answer { time_ns, value } = next(&self.texts, text)?;
        Ok(Answer { time_ns, value: value.0 })
    }

    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        next(&self.threads, &pid)
    }
}

impl Memory for Answers {
    fn read(&self, pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem> {
        let Answer { time_ns, value } = next(&self.memory, &(pid, address, into.len() as u64))?;
        let count = value.0.len().min(into.len());
        into[..count].copy_from_slice(&value.0[..count]);
        Ok(Answer { time_ns, value: count })
    }
}
