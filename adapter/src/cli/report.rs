//! `microscope report`: a question to a capture, and its answer as text or JSON.

use std::process::ExitCode;

use microscope_analysis::{Filter, Granularity, Query, Who};
use microscope_capture::Capture;

use super::arguments::{ByArgument, OutputFormat, ReportArguments, ViewArgument};
use super::progress::Ticker;
use super::{Usage, json, output};
use crate::presentation::escape::terminal;
use crate::presentation::numbers::duration_ns;
use crate::presentation::{self, Page, Screen};
use crate::service::open::open;
use crate::service::query::{View, answer};

/// Nodes of a tree below this share are counted, not drawn, unless everything is asked for.
const TREE_MIN_PPM: u32 = 5_000;

/// Buckets of a timeline that a program reads.
const JSON_BUCKETS: u32 = 1_000;

/// Runs the command.
pub(super) fn run(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let working = Ticker::work(format!("reading {}", terminal(&arguments.capture.to_string_lossy())));
    let capture = open(&arguments.capture, None)?;
    let text = report(&capture, arguments, output::screen(), &output::directory())?;
    drop(working);
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The report that the options ask for, as it is shown on `screen` in `directory`.
pub fn report(
    capture: &Capture,
    arguments: &ReportArguments,
    screen: Screen,
    directory: &str,
) -> anyhow::Result<String> {
    if let (Some(from), Some(to)) = (arguments.from, arguments.to)
        && from.ns >= to.ns
    {
        let (from, to) = (duration_ns(from.ns), duration_ns(to.ns));
        return Err(Usage(format!("--to {to} is not after --from {from}")).into());
    }
    let query = query(arguments);
    let view = view(arguments, &screen);
    match arguments.format {
        OutputFormat::Json => {
            let limit = arguments.limit.filter(|limit| *limit > 0);
            json::text(&answer(capture, view, &query, limit)?)
        }
        OutputFormat::Text => {
            let limit = arguments.limit.unwrap_or(default_limit(arguments.view));
            let page = Page { screen, directory, limit };
            Ok(presentation::answer(&answer(capture, view, &query, None)?, query.by, &page))
        }
    }
}

/// The question that the options ask.
fn query(arguments: &ReportArguments) -> Query {
    let who = |names: &[String]| names.iter().filter_map(|name| name.parse::<Who>().ok()).collect();
    Query {
        by: granularity(arguments.by),
        filter: Filter {
            threads: who(&arguments.thread),
            processes: who(&arguments.process),
            from_ns: arguments.from.map(|moment| moment.ns),
            to_ns: arguments.to.map(|moment| moment.ns),
        },
        ..Query::default()
    }
}

fn granularity(by: ByArgument) -> Granularity {
    match by {
        ByArgument::Function => Granularity::Function,
        ByArgument::Line => Granularity::Line,
        ByArgument::Address => Granularity::Address,
        ByArgument::Module => Granularity::Module,
    }
}

fn view(arguments: &ReportArguments, screen: &Screen) -> View {
    let json = arguments.format == OutputFormat::Json;
    match arguments.view {
        ViewArgument::Summary => View::Summary,
        ViewArgument::Tree => View::Tree {
            inverted: arguments.inverted,
            min_ppm: if json || arguments.limit == Some(0) { 0 } else { TREE_MIN_PPM },
        },
        ViewArgument::Flat => View::Flat,
        ViewArgument::Lines => View::Lines,
        ViewArgument::Threads => View::Threads,
        ViewArgument::Timeline => {
            View::Timeline { buckets: if json { JSON_BUCKETS } else { presentation::buckets(screen) } }
        }
        ViewArgument::Losses => View::Losses,
    }
}

/// Rows of text when nobody asked for a number: what a person reads.
const fn default_limit(view: ViewArgument) -> usize {
    match view {
        ViewArgument::Tree => 100,
        _ => 30,
    }
}
