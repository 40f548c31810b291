//! A stored stack as the functions that were running, read from the capture's tables without any query.

use std::fmt;

use microscope_capture::{Capture, CpuMode, FrameId, ModuleId, StackId};

use crate::Folded;

/// A function of a stack, or the place of code that no name is known of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The function, or `module+0xADDRESS`.
    pub name: String,
    /// The line; 0 when none is known.
    pub line: u32,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.name),
            line => write!(f, "{}:{line}", self.name),
        }
    }
}

/// The stacks of samples in user code, by function.
pub fn user_stacks(capture: &Capture) -> Folded {
    let mut folded = Folded::default();
    for (_, sample) in capture.samples.iter().filter(|(_, sample)| sample.mode == CpuMode::User) {
        let levels = sample.stack.map(|stack| levels(capture, stack)).unwrap_or_default();
        folded.push(levels.into_iter().map(|level| level.name).collect(), sample.weight as f64);
    }
    folded
}

/// The levels of a stack, the outermost first; inlined functions are levels of their own.
pub fn levels(capture: &Capture, innermost: StackId) -> Vec<Level> {
    let (mut levels, mut next) = (Vec::new(), Some(innermost));
    while let Some(stack) = next {
        let row = capture.stacks.row(stack);
        levels.extend(levels_of_frame(capture, row.frame));
        next = row.parent;
    }
    levels.reverse();
    levels
}

/// The functions at a frame, the innermost first.
fn levels_of_frame(capture: &Capture, id: FrameId) -> Vec<Level> {
    // Facts are sorted by frame.
    let frames = &capture.facts.frame;
    let range = frames.partition_point(|frame| *frame < id)..frames.partition_point(|frame| *frame <= id);
    if range.is_empty() {
        return vec![Level { name: place(capture, id), line: 0 }];
    }
    let level = |fact: usize| {
        let function = capture.facts.function[fact];
        let name = capture.strings.get(capture.functions.name[function.index()]).to_owned();
        Level { name, line: capture.facts.line[fact] }
    };
    range.map(level).collect()
}

fn place(capture: &Capture, id: FrameId) -> String {
    let frame = capture.frames.row(id);
    match frame.module {
        Some(module) => format!("{}+{:#x}", module_name(capture, module), frame.address),
        None => format!("{:#x}", frame.address),
    }
}

/// The file name of a module's path, which does not depend on where the test runs.
pub fn module_name(capture: &Capture, id: ModuleId) -> &str {
    let path = capture.strings.get(capture.modules.path[id.index()]);
    path.rsplit('/').next().unwrap_or(path)
}
