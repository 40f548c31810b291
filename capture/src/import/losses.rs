//! Counts what an imported format could not carry over, by reason.

use std::collections::BTreeMap;

use crate::{Builder, Loss, LossKind};

/// Examples kept of one reason.
const EXAMPLES_MAX: usize = 8;

/// What was lost, by reason.
#[derive(Debug, Default)]
pub(super) struct ImportLosses(BTreeMap<&'static str, Reason>);

#[derive(Debug, Default)]
struct Reason {
    count: u64,
    examples: Vec<String>,
}

impl ImportLosses {
    /// Counts one loss.
    pub(super) fn count(&mut self, reason: &'static str) {
        self.0.entry(reason).or_default().count += 1;
    }

    /// Counts one loss and keeps where it was, for the first few.
    pub(super) fn count_at(&mut self, reason: &'static str, place: impl ToString) {
        let reason = self.0.entry(reason).or_default();
        reason.count += 1;
        if reason.examples.len() < EXAMPLES_MAX {
            reason.examples.push(place.to_string());
        }
    }

    /// Makes a row of each reason.
    pub(super) fn into_rows(self, builder: &mut Builder) {
        for (name, Reason { count, examples }) in self.0 {
            let detail = match examples.len() {
                0 => name.to_owned(),
                kept if (kept as u64) < count => format!("{name}: {}, …", examples.join(", ")),
                _ => format!("{name}: {}", examples.join(", ")),
            };
            let detail = builder.string(&detail);
            builder.tables.losses.push(Loss {
                kind: LossKind::Imported,
                count,
                from_ns: 0,
                until_ns: 0,
                cpu: None,
                process: None,
                thread: None,
                detail,
            });
        }
    }
}
