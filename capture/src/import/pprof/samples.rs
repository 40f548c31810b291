//! Samples, their values and labels become rows: one sample row per value that is not 0.

use rustc_hash::FxHashMap;

use super::PprofError;
use super::frames::Frames;
use super::profile::Profile;
use super::proto::{self, ValueType};
use crate::import::losses::ImportLosses;
use crate::import::{process, thread};
use crate::{
    Builder, CpuMode, EndReason, Measure, MeasureId, MeasureSource, ProcessId, Sample, StackId, ThreadId,
    Unit,
};

/// A measure, and what a value is multiplied with to be in its unit.
struct Type {
    measure: MeasureId,
    factor: u64,
}

/// Who a sample's labels say ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Who<'a> {
    pid: u32,
    tid: u32,
    process: &'a str,
    thread: &'a str,
}

/// The import of samples.
pub(super) struct Samples<'a, 'b> {
    profile: &'a Profile<'b>,
    builder: &'a mut Builder,
    losses: &'a mut ImportLosses,
    types: Vec<Type>,
    threads: FxHashMap<Who<'a>, ThreadId>,
    processes: FxHashMap<(u32, &'a str), ProcessId>,
    /// Weights so far; their sum must fit 64 bits.
    weight: u64,
}

impl<'a, 'b> Samples<'a, 'b> {
    pub(super) fn import(
        profile: &'a Profile<'b>,
        frames: &Frames,
        builder: &'a mut Builder,
        losses: &'a mut ImportLosses,
    ) -> Result<(), PprofError> {
        let types = profile.message.sample_type.iter().map(|kind| add_type(profile, kind, builder));
        let types = types.collect::<Result<_, PprofError>>()?;
        let mut samples = Self {
            profile,
            builder,
            losses,
            types,
            threads: FxHashMap::default(),
            processes: FxHashMap::default(),
            weight: 0,
        };
        profile.message.sample.iter().try_for_each(|sample| samples.add(sample, frames))
    }

    fn add(&mut self, sample: &proto::Sample, frames: &Frames) -> Result<(), PprofError> {
        let mut stack = None;
        for location in sample.location_id.iter().rev() {
            let frame = frames.at(self.profile.location(*location)?);
            stack = Some(self.builder.stack(stack, frame));
        }
        let who = self.who(sample)?;
        let thread = self.thread(who);
        for (at, value) in sample.value.iter().enumerate() {
            self.add_value(at, *value, stack, thread);
        }
        Ok(())
    }

    fn add_value(&mut self, at: usize, value: i64, stack: Option<StackId>, thread: ThreadId) {
        let Some(Type { measure, factor }) = self.types.get(at).filter(|_| value != 0) else { return };
        let weight = u64::try_from(value).ok().and_then(|value| value.checked_mul(*factor));
        let Some(weight) = weight.filter(|weight| self.weight.checked_add(*weight).is_some()) else {
            self.losses.count("values that are negative or too large");
            return;
        };
        self.weight += weight;
        self.builder.sample(Sample {
            time_ns: 0,
            thread,
            stack,
            weight,
            measure: *measure,
            cpu: 0,
            mode: CpuMode::Unknown,
            end: EndReason::Unknown,
        });
    }

    /// Reads the labels that name threads and processes. Others have no place in the model.
    fn who(&mut self, sample: &proto::Sample) -> Result<Who<'a>, PprofError> {
        let mut who = Who { pid: 0, tid: 0, process: "imported", thread: "imported" };
        for label in &sample.label {
            let text = self.profile.text("a label", label.str)?;
            let number = u32::try_from(label.num).unwrap_or(0);
            match self.profile.text("a label", label.key)? {
                "thread" | "thread_name" if !text.is_empty() => who.thread = text,
                "process" | "process_name" | "comm" if !text.is_empty() => who.process = text,
                "tid" | "thread_id" if text.is_empty() => who.tid = number,
                "pid" | "process_id" if text.is_empty() => who.pid = number,
                _ => self.losses.count("labels other than of threads and processes"),
            }
        }
        Ok(who)
    }

    fn thread(&mut self, who: Who<'a>) -> ThreadId {
        let builder = &mut *self.builder;
        let of = self.processes.entry((who.pid, who.process));
        let of = *of.or_insert_with(|| process(builder, who.pid, who.process));
        *self.threads.entry(who).or_insert_with(|| thread(builder, of, who.tid, who.thread))
    }
}

fn add_type(profile: &Profile<'_>, kind: &ValueType, builder: &mut Builder) -> Result<Type, PprofError> {
    let name = profile.text("a sample type", kind.r#type)?;
    let (unit, factor) = unit(profile.text("a sample type", kind.unit)?);
    let period_type = profile.message.period_type.filter(|period| period.r#type == kind.r#type);
    let period = period_type.and_then(|_| u64::try_from(profile.message.period).ok()).filter(|p| *p > 0);
    let period = period.and_then(|period| period.checked_mul(factor));
    let name = builder.string(name);
    let measure = builder.measure(Measure { name, source: MeasureSource::Imported, unit, period });
    Ok(Type { measure, factor })
}

/// The unit of the model for a unit of pprof, and the factor between them.
fn unit(name: &str) -> (Unit, u64) {
    match name {
        "nanoseconds" | "ns" => (Unit::Nanoseconds, 1),
        "microseconds" | "us" => (Unit::Nanoseconds, 1_000),
        "milliseconds" | "ms" => (Unit::Nanoseconds, 1_000_000),
        "seconds" | "s" => (Unit::Nanoseconds, 1_000_000_000),
        "bytes" => (Unit::Bytes, 1),
        "kilobytes" => (Unit::Bytes, 1 << 10),
        "megabytes" => (Unit::Bytes, 1 << 20),
        _ => (Unit::Count, 1),
    }
}
