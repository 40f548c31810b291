//! Folded stacks: `outermost;…;innermost weight`, one line per path, the format of flame graph tools.

use std::io::{self, Write};

use crate::ask::Question;
use crate::views::{self, TreeOptions};

pub(super) const LOSES: &[&str] = &[
    "times, threads, processes, and how stacks ended",
    "files, lines, addresses and modules, unless stacks are folded by them",
    "a ';' in a name becomes ':', a line break a space: the format has no escape that its readers know",
];

/// Separates frames.
const SEPARATOR: char = ';';

pub(super) fn write(question: &Question<'_>, out: &mut impl Write) -> io::Result<()> {
    let tree = views::tree_of(question, &TreeOptions::default());
    let names: Vec<String> = tree.keys.iter().map(|key| escaped(&key.name)).collect();
    let mut path = String::new();
    // By depth: how long the path is before that level.
    let mut lengths: Vec<usize> = Vec::new();
    for row in &tree.rows {
        lengths.truncate(row.depth as usize + 1);
        path.truncate(lengths.get(row.depth as usize).copied().unwrap_or(path.len()));
        if lengths.len() == row.depth as usize {
            lengths.push(path.len());
        }
        if row.depth > 0 {
            path.push(SEPARATOR);
        }
        path.push_str(&names[row.key as usize]);
        if row.own.weight > 0 {
            writeln!(out, "{path} {}", row.own.weight)?;
        }
    }
    Ok(())
}

/// A name that no reader splits. As inferno writes it; empty names are said to be unknown.
fn escaped(name: &str) -> String {
    if name.is_empty() {
        return "[unknown]".to_owned();
    }
    let replace = |character: char| match character {
        SEPARATOR => ':',
        '\n' | '\r' => ' ',
        other => other,
    };
    name.chars().map(replace).collect()
}
