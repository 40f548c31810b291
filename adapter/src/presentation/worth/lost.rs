//! What was lost, in one sentence: how much of each kind, when and where.

use std::collections::BTreeMap;

use microscope_analysis::views::LossRow;
use microscope_capture::LossKind;

use crate::presentation::losses::{loss_amount, period};
use crate::presentation::prose::list;
use crate::presentation::words;

/// The sentence.
pub(super) fn lost(rows: &[LossRow<'_>]) -> String {
    if rows.is_empty() {
        return "None was lost.".to_owned();
    }
    let mut kinds = BTreeMap::<LossKind, Lost>::new();
    rows.iter().for_each(|row| kinds.entry(row.kind).or_default().add(row));
    let said: Vec<String> = kinds.iter().map(|(kind, lost)| lost.sentence(*kind)).collect();
    let remedy = kinds.keys().find_map(|kind| words::loss_remedy(*kind));
    let help = remedy.map_or_else(String::new, |remedy| format!(" What would help: {remedy}."));
    format!("Of others, {}.{help}", list(&said))
}

/// Losses of one kind together.
#[derive(Default)]
struct Lost {
    count: u64,
    unit: &'static str,
    times_ns: Option<(u64, u64)>,
    cpus: Vec<u16>,
}

impl Lost {
    fn add(&mut self, row: &LossRow<'_>) {
        let (from, until) = self.times_ns.unwrap_or((row.from_ns, row.until_ns));
        self.count = self.count.saturating_add(row.count);
        self.unit = row.unit;
        self.times_ns = Some((from.min(row.from_ns), until.max(row.until_ns)));
        if let Some(cpu) = row.cpu
            && let Err(at) = self.cpus.binary_search(&cpu)
        {
            self.cpus.insert(at, cpu);
        }
    }

    /// `120 samples found no room in a ring (1.20 s – 1.40 s, CPU 1)`.
    fn sentence(&self, kind: LossKind) -> String {
        let amount = match self.count {
            0 => "an unknown number of".to_owned(),
            number => loss_amount(self.unit, number),
        };
        let (from, until) = self.times_ns.unwrap_or_default();
        let place = match self.cpus.as_slice() {
            [] => String::new(),
            [only] => format!(", CPU {only}"),
            several => format!(", on {} CPUs", several.len()),
        };
        format!("{amount} {} ({}{place})", words::loss(kind), period(from, until))
    }
}
