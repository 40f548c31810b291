//! The namers' answers → rows of facts, functions, files and failures.

use std::collections::BTreeMap;

use microscope_capture::{
    Builder, Fact, Failure as FailureRow, File, FileId, FrameId, Function, FunctionId, HashKind, Loss,
    LossKind, ModuleId,
};

use super::Found;
use crate::debug_info::{Failure, FunctionName, Level, NamedAddress, SourceFile};

/// Levels of an inline chain that are kept; deeper ones are no program's, but a broken file's.
const LEVELS_MAX: usize = 256;

impl Found {
    /// Writes what was found. Rows follow the order of frames, whatever order the answers came in.
    pub(super) fn write(self, builder: &mut Builder) {
        let mut names: Vec<_> = self.names.into_iter().filter(|(_, name)| name.is_named()).collect();
        names.sort_unstable_by_key(|(frame, _)| *frame);
        for (frame, name) in &names {
            write_frame(builder, *frame, name);
        }
        write_failures(builder, self.failures);
        if self.panicked > 0 {
            write_panics(builder, self.panicked);
        }
    }
}

fn write_frame(builder: &mut Builder, frame: FrameId, name: &NamedAddress) {
    let module = builder.tables.frames.row(frame).module;
    builder.tables.frames.role[frame.index()] = name.role;
    let kept = name.levels.len().saturating_sub(LEVELS_MAX);
    for (depth, level) in (0..).zip(name.levels.iter().skip(kept)) {
        let fact = fact(builder, frame, module, depth, level);
        builder.tables.facts.push(fact);
    }
}

fn fact(builder: &mut Builder, frame: FrameId, module: Option<ModuleId>, depth: u16, level: &Level) -> Fact {
    let function = function(builder, module, &level.function);
    let file = level.file.as_deref().map(|file| source_file(builder, file));
    Fact { frame, depth, function, file, line: level.line }
}

fn function(builder: &mut Builder, module: Option<ModuleId>, name: &FunctionName) -> FunctionId {
    let row = Function {
        name: builder.string(&name.name),
        linkage_name: builder.string(&name.linkage_name),
        module,
        file: name.decl_file.as_deref().map(|file| source_file(builder, file)),
        line: name.decl_line,
        relative_address: name.relative_address,
        flags: name.flags,
    };
    builder.function(row)
}

fn source_file(builder: &mut Builder, file: &SourceFile) -> FileId {
    let path = builder.string(&file.path);
    let hash = file.md5.map_or_else(String::new, |md5| crate::image::hex(&md5));
    let hash_kind = if file.md5.is_some() { HashKind::DwarfMd5 } else { HashKind::None };
    let hash = builder.string(&hash);
    builder.file(File { path, hash_kind, hash })
}

/// One row for each module and start of a range without names.
fn write_failures(builder: &mut Builder, failures: Vec<(ModuleId, Failure)>) {
    let mut by_start: BTreeMap<(ModuleId, u64), (u64, Failure)> = BTreeMap::new();
    for (module, failure) in failures {
        let end = failure.range.end;
        let row = by_start.entry((module, failure.range.start)).or_insert((end, failure));
        row.0 = row.0.max(end);
    }
    for ((module, from_address), (to_address, failure)) in by_start {
        let paths: Vec<_> = failure.tried.iter().map(|tried| one_line(&tried.path)).collect();
        let reasons: Vec<_> = failure.tried.iter().map(|tried| one_line(refusal(tried))).collect();
        let (tried, reason) = (builder.string(&paths.join("\n")), builder.string(&reasons.join("\n")));
        builder.tables.failures.push(FailureRow { module, from_address, to_address, tried, reason });
    }
}

/// A file that was used and still had no name for the range says so.
fn refusal(tried: &crate::debug_info::Tried) -> &str {
    tried.refused.as_deref().unwrap_or("it names no function here")
}

/// Newlines separate entries, so none may lie within one.
fn one_line(text: &str) -> String {
    text.replace('\n', "\u{fffd}")
}

fn write_panics(builder: &mut Builder, count: u64) {
    let detail = builder.string("lookups of names that failed in the recorder itself");
    builder.tables.losses.push(Loss {
        kind: LossKind::Bound,
        count,
        from_ns: 0,
        until_ns: 0,
        cpu: None,
        process: None,
        thread: None,
        detail,
    });
}
