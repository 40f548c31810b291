//! Makes rows: equal strings, files, modules, functions, frames and stacks get one id.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::increment::{Increment, Told};
use crate::{
    Capture, File, FileId, Frame, FrameId, Function, FunctionId, Invalid, Measure, MeasureId, Module,
    ModuleId, ProcessId, Sample, SampleId, Setting, Stack, StackId, StringId, Tables,
};

/// Tables under construction, with an index for each dictionary.
///
/// Dictionaries intern through the methods here; other rows are pushed into [`Builder::tables`] directly.
/// While recording, [`Builder::take_increment`] hands rows on to the spool and to segments, which keeps
/// memory bounded; [`Builder::restore`] brings them back at the end.
#[derive(Debug, Default)]
pub struct Builder {
    /// The rows so far.
    pub tables: Tables,
    strings: FxHashMap<Box<str>, StringId>,
    files: FxHashMap<File, FileId>,
    modules: FxHashMap<Module, ModuleId>,
    functions: FxHashMap<Function, FunctionId>,
    frames: FxHashMap<Frame, FrameId>,
    stacks: FxHashMap<Stack, StackId>,
    told: Told,
}

impl Builder {
    /// Empty tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of `text`.
    pub fn string(&mut self, text: &str) -> StringId {
        if text.is_empty() {
            return StringId::new(0);
        }
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = self.tables.strings.push(text);
        self.strings.insert(text.into(), id);
        id
    }

    /// The id of the file `row`.
    pub fn file(&mut self, row: File) -> FileId {
        intern(&mut self.files, row, |row| self.tables.files.push(row))
    }

    /// The id of the module `row`.
    pub fn module(&mut self, row: Module) -> ModuleId {
        intern(&mut self.modules, row, |row| self.tables.modules.push(row))
    }

    /// The id of the function `row`.
    pub fn function(&mut self, row: Function) -> FunctionId {
        intern(&mut self.functions, row, |row| self.tables.functions.push(row))
    }

    /// The id of the frame `row`.
    pub fn frame(&mut self, row: Frame) -> FrameId {
        intern(&mut self.frames, row, |row| self.tables.frames.push(row))
    }

    /// The id of the stack in which `frame` was called from `parent`.
    pub fn stack(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        intern(&mut self.stacks, Stack { parent, frame }, |row| self.tables.stacks.push(row))
    }

    /// The id of the measure `row`.
    pub fn measure(&mut self, row: Measure) -> MeasureId {
        let measures = &mut self.tables.measures;
        let known = measures.iter().find(|(_, measure)| *measure == row).map(|(id, _)| id);
        known.unwrap_or_else(|| measures.push(row))
    }

    /// The id of the stack in which `frame` was called from `parent`, if there is a row of it.
    #[must_use]
    pub fn known_stack(&self, parent: Option<StackId>, frame: Frame) -> Option<StackId> {
        let frame = *self.frames.get(&frame)?;
        self.stacks.get(&Stack { parent, frame }).copied()
    }

    /// Appends a sample. Its id counts from the epoch's beginning, earlier increments included.
    pub fn sample(&mut self, row: Sample) -> SampleId {
        let id = self.tables.samples.push(row);
        SampleId::new(self.told.samples.saturating_add(id.get()))
    }

    /// Gives the setting `name` of the recording, or of one process, a value in place of any before.
    pub fn set(&mut self, process: Option<ProcessId>, name: &str, value: &str) {
        let (name, value) = (self.string(name), self.string(value));
        let settings = &mut self.tables.settings;
        let row = settings.iter().find(|(_, row)| row.process == process && row.name == name);
        match row.map(|(id, _)| id) {
            Some(id) => settings.value[id.index()] = value,
            None => {
                settings.push(Setting { process, name, value });
            }
        }
    }

    /// Takes the rows made since the last increment. Dictionaries stay, other rows leave [`Self::tables`].
    pub fn take_increment(&mut self) -> Increment {
        self.told.take(&mut self.tables)
    }

    /// Puts back all rows of this epoch, as the spool gives them, to finish the capture here.
    pub fn restore(&mut self, tables: Tables) {
        self.told = Told::all_of(&tables);
        self.tables = tables;
    }

    /// Begins a new epoch: dictionaries are empty, every id minted before is void. Take the last increment
    /// first; rows not taken are dropped.
    pub fn begin_epoch(&mut self) {
        *self = Self::default();
    }

    /// The rows as a capture, canonically ordered; the builder goes on.
    pub fn capture(&self) -> Result<Capture, Invalid> {
        seal(self.tables.clone())
    }

    /// The rows as a capture, canonically ordered.
    pub fn finish(self) -> Result<Capture, Invalid> {
        seal(self.tables)
    }
}

fn seal(mut tables: Tables) -> Result<Capture, Invalid> {
    tables.canonicalize()?;
    Capture::validate(tables)
}

fn intern<Row: Copy + Eq + Hash, Id: Copy>(
    index: &mut FxHashMap<Row, Id>,
    row: Row,
    push: impl FnOnce(Row) -> Id,
) -> Id {
    *index.entry(row).or_insert_with(|| push(row))
}
