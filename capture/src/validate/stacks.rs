//! Rules of frames and address facts. That stacks form a tree is part of the structure.

use super::{Invalid, Rule};
use crate::{TableKind, Tables};

/// A frame that a string names belongs to no module.
pub(super) fn named_frames_have_no_module(tables: &Tables) -> Result<(), Invalid> {
    for (row, (kind, module)) in tables.frames.kind.iter().zip(&tables.frames.module).enumerate() {
        if kind.is_named() && module.is_some() {
            let rule = Rule::NamedWithModule { kind: kind.name() };
            return Err(Invalid::cell(TableKind::Frames, row, "module", rule));
        }
    }
    Ok(())
}

/// Facts ascend by frame, and each frame's depths are 0, 1, 2…
pub(super) fn facts_are_dense(tables: &Tables) -> Result<(), Invalid> {
    let mut before = None;
    for (row, (frame, depth)) in tables.facts.frame.iter().zip(&tables.facts.depth).enumerate() {
        let expected = match before {
            Some((same, depth)) if same == frame => depth + 1,
            Some((other, _)) if other > frame => {
                let rule = Rule::Unsorted { by: "frame, depth" };
                return Err(Invalid::cell(TableKind::Facts, row, "frame", rule));
            }
            _ => 0,
        };
        if *depth != expected || *depth == u16::MAX {
            let rule = Rule::DepthNotDense { expected, found: *depth };
            return Err(Invalid::cell(TableKind::Facts, row, "depth", rule));
        }
        before = Some((frame, *depth));
    }
    Ok(())
}
