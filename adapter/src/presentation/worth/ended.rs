//! How stacks ended, in one sentence: the share that is whole, why others are not, and what would help.

use microscope_analysis::views::{EndRow, Remedy, Summary};
use microscope_capture::EndReason;

use crate::presentation::names::cut_end;
use crate::presentation::numbers::percent;
use crate::presentation::prose::list;
use crate::presentation::{places, words};

/// Columns of a module's name in a sentence at most.
const MODULE_COLUMNS: usize = 60;

/// Reasons of cut stacks that are told one by one; the others are added up.
const REASONS: usize = 3;

/// The sentence; none where a profile says nothing of it.
pub(super) fn ended(summary: &Summary<'_>) -> Option<String> {
    let whole = summary.whole.samples;
    let mut reasons = by_reason(&summary.ends);
    let complete = reasons.iter().position(|group| group.reason == EndReason::Complete);
    let complete = complete.map_or(0, |at| reasons.remove(at).samples);
    if reasons.is_empty() && whole > 0 {
        return Some("All stacks are whole.".to_owned());
    }
    if reasons.iter().all(|group| group.reason == EndReason::Unknown) {
        return None;
    }
    let rest: u64 = reasons.iter().skip(REASONS).map(|group| group.samples).sum();
    let mut said: Vec<String> = reasons.iter().take(REASONS).map(|group| group.words(whole)).collect();
    if rest > 0 {
        said.push(format!("{} end early for other reasons", percent(rest, whole)));
    }
    let help = reasons.iter().find_map(|group| group.remedy).map(words::end_remedy);
    let help = help.map_or_else(String::new, |remedy| format!(" What would help: {remedy}."));
    Some(format!("{} of the stacks are whole; {}.{help}", percent(complete, whole), list(&said)))
}

/// Stacks that ended for one reason, the most first.
struct Ended<'a> {
    reason: EndReason,
    samples: u64,
    /// The module that most of them ended in.
    module: Option<&'a str>,
    remedy: Option<Remedy>,
}

impl Ended<'_> {
    fn words(&self, whole: u64) -> String {
        let share = percent(self.samples, whole);
        let module = self.module.map_or_else(String::new, |path| {
            format!(" (most in {})", cut_end(&places::module(path), MODULE_COLUMNS))
        });
        format!("{share} {}{module}", words::end_reason(self.reason))
    }
}

/// Rows come with the most samples first, so the first row of a reason names its module.
fn by_reason<'a>(rows: &[EndRow<'a>]) -> Vec<Ended<'a>> {
    let mut groups: Vec<Ended<'a>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.reason == row.reason) {
            Some(group) => group.samples += row.cost.samples,
            None => groups.push(Ended {
                reason: row.reason,
                samples: row.cost.samples,
                module: row.module,
                remedy: row.remedy,
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.samples));
    groups
}
