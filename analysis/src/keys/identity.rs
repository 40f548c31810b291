//! What a key stands for, and which identities the levels of a frame have at a granularity.

use std::cmp::Ordering;

use microscope_capture::{FrameId, FrameKind, FunctionId, ModuleId, StringId, Tables};
use rustc_hash::FxHashMap;

use crate::Granularity;
use crate::facts::{FactIndex, LineFact, line_of};

/// What a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Identity {
    /// A function; the id is the first row of the same name, module and declaring file.
    Function(FunctionId),
    /// A line of the files of one path.
    Line {
        /// The path.
        path: StringId,
        /// From 1.
        line: u32,
        /// The function of the first fact that has the line.
        function: FunctionId,
    },
    /// Code of a function that has debug information, but no line.
    Unlined(FunctionId),
    /// Code of a function that only a symbol names.
    NoDebug(FunctionId),
    /// Code of a module (or of none that is known) that nothing describes.
    NoDebugIn(Option<ModuleId>),
    /// An instruction.
    Address {
        /// What the address is relative to; without one it is absolute.
        module: Option<ModuleId>,
        /// The address that names were looked up at.
        address: u64,
        /// The physical function, when known.
        function: Option<FunctionId>,
    },
    /// A module, or all code in no known module.
    Module(Option<ModuleId>),
    /// Kernel code whose symbols were not readable.
    KernelHidden,
    /// A frame that is known by its text only.
    Named(StringId),
    /// Samples without any frame.
    NoStack,
}

impl Identity {
    /// A total order by content: names before ids, so that it holds across captures of the same rows.
    pub(crate) fn compare(self, tables: &Tables, other: Self) -> Ordering {
        self.sort_key(tables).cmp(&other.sort_key(tables)).then_with(|| self.cmp(&other))
    }

    /// Name, module or path, and number, in the order that a person would sort by.
    fn sort_key(self, tables: &Tables) -> (u8, &str, &str, u64) {
        let text = |id: StringId| tables.strings.get(id);
        let path = |module: Option<ModuleId>| module.map_or("", |id| text(tables.modules.path[id.index()]));
        let function = |id: FunctionId| {
            let (functions, at) = (&tables.functions, id.index());
            (text(functions.name[at]), path(functions.module[at]), functions.relative_address[at])
        };
        let ranked = |rank: u8, (name, module, number)| (rank, name, module, number);
        match self {
            Self::Function(id) => ranked(0, function(id)),
            Self::Line { path, line, .. } => (1, text(path), "", u64::from(line)),
            Self::Unlined(id) => ranked(2, function(id)),
            Self::NoDebug(id) => ranked(3, function(id)),
            Self::NoDebugIn(module) => (4, path(module), "", 0),
            Self::Address { module, address, .. } => (5, path(module), "", address),
            Self::Module(module) => (6, path(module), "", 0),
            Self::KernelHidden => (7, "", "", 0),
            Self::Named(name) => (8, text(name), "", 0),
            Self::NoStack => (9, "", "", 0),
        }
    }
}

/// Gives the identities of frames at one granularity.
pub(crate) struct Namer<'c> {
    tables: &'c Tables,
    by: Granularity,
    /// By function: the first row of the same name, module and declaring path.
    same_function: Vec<FunctionId>,
    /// By path and line: the function of the first fact there.
    line_functions: FxHashMap<(StringId, u32), FunctionId>,
}

impl<'c> Namer<'c> {
    pub(crate) fn new(tables: &'c Tables, by: Granularity) -> Self {
        let line_functions =
            if by == Granularity::Line { line_functions(tables) } else { FxHashMap::default() };
        Self { tables, by, same_function: same_functions(tables), line_functions }
    }

    /// Calls `found` with the identity of each level of `frame`, innermost first.
    pub(crate) fn each_identity(&self, frame: FrameId, facts: &FactIndex, mut found: impl FnMut(Identity)) {
        let row = self.tables.frames.row(frame);
        match (row.kind, self.by) {
            (FrameKind::Interpreted | FrameKind::Awaited, _) => {}
            (FrameKind::Named, _) if facts.rows(frame).is_empty() => found(self.named(row.address)),
            (FrameKind::Named, Granularity::Address) => found(self.named(row.address)),
            (_, Granularity::Module) => found(Identity::Module(row.module)),
            (_, Granularity::Address) => found(self.address(frame, facts)),
            (_, Granularity::Function) => self.functions(frame, facts, found),
            (_, Granularity::Line) => self.lines(frame, facts, found),
        }
    }

    fn named(&self, address: u64) -> Identity {
        let text = u32::try_from(address).map_or(StringId::new(0), StringId::new);
        if self.by == Granularity::Module { Identity::Module(None) } else { Identity::Named(text) }
    }

    fn address(&self, frame: FrameId, facts: &FactIndex) -> Identity {
        let row = self.tables.frames.row(frame);
        let physical = facts.rows(frame).last().map(|fact| self.function(*fact));
        let address = row.address.saturating_sub(u64::from(row.kind.is_caller()));
        Identity::Address { module: row.module, address, function: physical }
    }

    fn functions(&self, frame: FrameId, facts: &FactIndex, mut found: impl FnMut(Identity)) {
        let rows = facts.rows(frame);
        if rows.is_empty() {
            return found(self.unnamed(frame, facts));
        }
        rows.iter().for_each(|row| found(Identity::Function(self.function(*row))));
    }

    fn lines(&self, frame: FrameId, facts: &FactIndex, mut found: impl FnMut(Identity)) {
        let rows = facts.rows(frame);
        if rows.is_empty() {
            return found(self.unnamed(frame, facts));
        }
        rows.iter().for_each(|row| found(self.line(*row)));
    }

    fn line(&self, row: u32) -> Identity {
        match line_of(self.tables, row) {
            LineFact::Unlined => Identity::Unlined(self.function(row)),
            LineFact::NoDebug => Identity::NoDebug(self.function(row)),
            LineFact::Line(file, line) => {
                let path = self.tables.files.path[file.index()];
                let function = self.line_functions.get(&(path, line)).copied();
                Identity::Line { path, line, function: function.unwrap_or_else(|| self.function(row)) }
            }
        }
    }

    /// A frame without facts. An unnamed kernel address means nothing after the next boot.
    fn unnamed(&self, frame: FrameId, facts: &FactIndex) -> Identity {
        let row = self.tables.frames.row(frame);
        match (row.kind, self.by) {
            (FrameKind::Kernel | FrameKind::KernelCaller, _) => Identity::KernelHidden,
            (_, Granularity::Line) => Identity::NoDebugIn(row.module),
            _ => self.address(frame, facts),
        }
    }

    fn function(&self, fact: u32) -> FunctionId {
        self.same_function[self.tables.facts.function[fact as usize].index()]
    }
}

fn same_functions(tables: &Tables) -> Vec<FunctionId> {
    let mut first = FxHashMap::default();
    let path = |file: Option<microscope_capture::FileId>| file.map(|id| tables.files.path[id.index()]);
    tables
        .functions
        .iter()
        .map(|(id, row)| *first.entry((row.name, row.module, path(row.file))).or_insert(id))
        .collect()
}

fn line_functions(tables: &Tables) -> FxHashMap<(StringId, u32), FunctionId> {
    let mut first = FxHashMap::default();
    for (_, fact) in tables.facts.iter() {
        if let Some(file) = fact.file {
            first.entry((tables.files.path[file.index()], fact.line)).or_insert(fact.function);
        }
    }
    first
}
