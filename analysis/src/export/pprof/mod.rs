//! pprof: gzip around protobuf, samples added up by thread and stack.
//!
//! Messages are written in parts: protobuf merges the parts of a message that follow one another, so no more
//! than [`SAMPLES_PER_PART`] samples are in memory as messages. Modules become mappings from address 0, so
//! addresses stay those of the module's file.

mod dictionary;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use microscope_capture::import::pprof::proto::{Label, Profile, Sample, ValueType};
use microscope_capture::{MeasureId, StackId, Tables, ThreadId, Unit, setting_names};
use prost::Message;
use rustc_hash::FxHashMap;

use crate::ask::Question;
use crate::select::Selection;
use dictionary::Dictionary;

pub(super) const LOSES: &[&str] = &[
    "times: samples are added up by thread and stack",
    "how stacks ended, the processor, losses, marks",
    "which frames are exact and which are return addresses: addresses are those that names were looked up at",
    "values above 2^63 - 1",
];

/// Samples that are encoded at once.
const SAMPLES_PER_PART: usize = 4096;
/// The value that counts samples, where no quantity of the capture has this name.
const SAMPLES: &str = "samples";

/// Writes every quantity of the capture; the one asked for is the one that viewers show first.
pub(super) fn write(question: &Question<'_>, selection: &Selection, out: &mut impl Write) -> io::Result<()> {
    let tables = question.tables;
    let mut out = Parts { out: GzEncoder::new(out, Compression::default()), buffer: Vec::new() };
    let mut dictionary = Dictionary::new(question);
    let values = Values::new(tables);
    out.part(&header(question, &values, &mut dictionary))?;
    let sums = sums(tables, selection, &values);
    for chunk in sums.chunks(SAMPLES_PER_PART) {
        let messages = chunk.iter().map(|(place, sums)| sample(&mut dictionary, tables, *place, sums));
        out.part(&Profile { sample: messages.collect(), ..Profile::default() })?;
    }
    out.part(&dictionary.into_message())?;
    out.out.finish()?;
    Ok(())
}

/// Encodes messages one after the other.
struct Parts<W: Write> {
    out: GzEncoder<W>,
    buffer: Vec<u8>,
}

impl<W: Write> Parts<W> {
    fn part(&mut self, part: &Profile) -> io::Result<()> {
        self.buffer.clear();
        part.encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}

/// What each sample has a value of.
struct Values {
    measures: Vec<MeasureId>,
    /// Whether the first value counts samples.
    counts_samples: bool,
}

impl Values {
    fn new(tables: &Tables) -> Self {
        let named = |name: &microscope_capture::StringId| tables.strings.get(*name) == SAMPLES;
        Self {
            measures: tables.measures.ids().collect(),
            counts_samples: !tables.measures.name.iter().any(named),
        }
    }

    fn len(&self) -> usize {
        self.measures.len() + usize::from(self.counts_samples)
    }

    /// The place of a measure's value.
    fn place(&self, measure: MeasureId) -> usize {
        measure.index() + usize::from(self.counts_samples)
    }
}

fn header<'c>(question: &Question<'c>, values: &Values, dictionary: &mut Dictionary<'_, 'c>) -> Profile {
    let tables = question.tables;
    let mut sample_type = Vec::new();
    if values.counts_samples {
        sample_type.push(ValueType { r#type: dictionary.text(SAMPLES), unit: dictionary.text("count") });
    }
    for measure in &values.measures {
        sample_type.push(value_type(tables, *measure, dictionary));
    }
    let number = |name| tables.setting(name).and_then(|text| text.parse().ok()).unwrap_or(0);
    let period = tables.measures.period[question.measure.index()];
    Profile {
        sample_type,
        time_nanos: number(setting_names::START_REALTIME_NS),
        duration_nanos: number(setting_names::DURATION_NS),
        period_type: period.map(|_| value_type(tables, question.measure, dictionary)),
        period: period.map_or(0, signed),
        default_sample_type: dictionary.text(question.quantity().name),
        ..Profile::default()
    }
}

fn value_type<'c>(tables: &'c Tables, measure: MeasureId, dictionary: &mut Dictionary<'_, 'c>) -> ValueType {
    let row = tables.measures.row(measure);
    let unit = match row.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Count => "count",
        Unit::Bytes => "bytes",
    };
    ValueType { r#type: dictionary.text(tables.strings.get(row.name)), unit: dictionary.text(unit) }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

type Place = (ThreadId, Option<StackId>);

/// The values of each thread and stack, in the order of their ids.
fn sums(tables: &Tables, selection: &Selection, values: &Values) -> Vec<(Place, Vec<u64>)> {
    let samples = &tables.samples;
    let mut sums: FxHashMap<Place, Vec<u64>> = FxHashMap::default();
    for at in selection.range(tables).filter(|at| selection.takes_thread(samples.thread[*at])) {
        let sum =
            sums.entry((samples.thread[at], samples.stack[at])).or_insert_with(|| vec![0; values.len()]);
        if values.counts_samples {
            sum[0] += 1;
        }
        sum[values.place(samples.measure[at])] += samples.weight[at];
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(place, _)| *place);
    sums
}

fn sample<'c>(
    dictionary: &mut Dictionary<'_, 'c>,
    tables: &'c Tables,
    (thread, stack): Place,
    sums: &[u64],
) -> Sample {
    let row = tables.threads.row(thread);
    let process = tables.processes.row(row.process);
    let mut text = |key: &'static str, value| Label {
        key: dictionary.text(key),
        str: dictionary.text(tables.strings.get(value)),
        ..Label::default()
    };
    let names = [text("process", process.name), text("thread", row.name)];
    let mut number = |key: &'static str, value: u32| Label {
        key: dictionary.text(key),
        num: i64::from(value),
        ..Label::default()
    };
    let numbers = [number("pid", process.pid), number("tid", row.tid)];
    let parent = |stack: &StackId| tables.stacks.parent[stack.index()];
    let path = std::iter::successors(stack, parent);
    let location_id = path.map(|stack| dictionary.location(tables.stacks.frame[stack.index()])).collect();
    let label = names.into_iter().filter(|label| label.str != 0).chain(numbers).collect();
    Sample { location_id, value: sums.iter().map(|sum| signed(*sum)).collect(), label }
}
