//! The dictionaries of all epochs as one: every epoch numbers its rows anew, here equal rows have one id.

use std::hash::Hash;

use microscope_capture::table::Table;
use microscope_capture::{
    Builder, Fact, File, FileId, Frame, FrameId, Function, FunctionId, Measure, MeasureId, Module, ModuleId,
    ModuleKind, Process, ProcessId, StackId, StringId, Tables, Thread, ThreadId,
};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    builder: Builder,
    /// By what makes two rows one, whatever else they say: the row here.
    modules: FxHashMap<(ModuleKind, StringId, StringId), u32>,
    processes: FxHashMap<(u32, u64), u32>,
    threads: FxHashMap<(ProcessId, u32, u64), u32>,
    /// Frames that have their facts.
    named: FxHashSet<FrameId>,
    epoch: Option<u64>,
    numbers: Numbers,
}

/// The ids here of an epoch's rows, by their ids there, as far as it was followed.
#[derive(Debug, Default)]
struct Numbers {
    strings: Vec<StringId>,
    files: Vec<FileId>,
    modules: Vec<ModuleId>,
    functions: Vec<FunctionId>,
    processes: Vec<ProcessId>,
    threads: Vec<ThreadId>,
    measures: Vec<MeasureId>,
    frames: Vec<FrameId>,
    stacks: Vec<StackId>,
    facts: usize,
}

impl Dictionary {
    pub(super) fn tables(&self) -> &Tables {
        &self.builder.tables
    }

    /// Takes in what is new in the dictionaries of an epoch, and what changed of its modules, processes and
    /// threads. Referred tables come first.
    pub(super) fn follow(&mut self, epoch: u64, from: &Tables) {
        if self.epoch != Some(epoch) {
            (self.epoch, self.numbers) = (Some(epoch), Numbers::default());
        }
        self.strings(from);
        self.files(from);
        self.modules(from);
        self.functions(from);
        self.processes(from);
        self.threads(from);
        self.measures(from);
        self.frames(from);
        self.stacks(from);
        self.facts(from);
    }

    /// The id here of a process of the epoch at hand.
    pub(super) fn process(&self, id: ProcessId) -> ProcessId {
        self.numbers.processes[id.index()]
    }

    /// The same of a thread.
    pub(super) fn thread(&self, id: ThreadId) -> ThreadId {
        self.numbers.threads[id.index()]
    }

    /// The same of a stack.
    pub(super) fn stack(&self, id: StackId) -> StackId {
        self.numbers.stacks[id.index()]
    }

    /// The same of a measure.
    pub(super) fn measure(&self, id: MeasureId) -> MeasureId {
        self.numbers.measures[id.index()]
    }

    fn string(&self, id: StringId) -> StringId {
        self.numbers.strings[id.index()]
    }

    fn file(&self, id: Option<FileId>) -> Option<FileId> {
        id.map(|id| self.numbers.files[id.index()])
    }

    fn module(&self, id: Option<ModuleId>) -> Option<ModuleId> {
        id.map(|id| self.numbers.modules[id.index()])
    }

    fn strings(&mut self, from: &Tables) {
        let known = self.numbers.strings.len();
        for number in known..from.strings.len() {
            let text = from.strings.get(StringId::new(u32::try_from(number).unwrap_or(u32::MAX)));
            self.numbers.strings.push(self.builder.string(text));
        }
    }

    fn files(&mut self, from: &Tables) {
        for row in rows_from(&from.files, self.numbers.files.len()) {
            let row = File { path: self.string(row.path), hash: self.string(row.hash), ..row };
            self.numbers.files.push(self.builder.file(row));
        }
    }

    fn modules(&mut self, from: &Tables) {
        self.numbers.modules.clear();
        for (_, row) in from.modules.iter() {
            let row = Module {
                path: self.string(row.path),
                identity: self.string(row.identity),
                debug_path: self.string(row.debug_path),
                ..row
            };
            let rows = &mut self.builder.tables.modules;
            let id = unified(rows, &mut self.modules, (row.kind, row.path, row.identity), row);
            self.numbers.modules.push(ModuleId::new(id));
        }
    }

    fn functions(&mut self, from: &Tables) {
        for row in rows_from(&from.functions, self.numbers.functions.len()) {
            let row = Function {
                name: self.string(row.name),
                linkage_name: self.string(row.linkage_name),
                module: self.module(row.module),
                file: self.file(row.file),
                ..row
            };
            self.numbers.functions.push(self.builder.function(row));
        }
    }

    fn processes(&mut self, from: &Tables) {
        let mut numbers: Vec<ProcessId> = Vec::new();
        for (_, row) in from.processes.iter() {
            let earlier = |id: Option<ProcessId>| id.map(|id| numbers[id.index()]);
            let row = Process {
                parent: earlier(row.parent),
                exec_of: earlier(row.exec_of),
                name: self.string(row.name),
                executable: self.string(row.executable),
                ..row
            };
            let rows = &mut self.builder.tables.processes;
            let id = unified(rows, &mut self.processes, (row.pid, row.start_ns), row);
            numbers.push(ProcessId::new(id));
        }
        self.numbers.processes = numbers;
    }

    fn threads(&mut self, from: &Tables) {
        self.numbers.threads.clear();
        for (_, row) in from.threads.iter() {
            let row = Thread { process: self.process(row.process), name: self.string(row.name), ..row };
            let rows = &mut self.builder.tables.threads;
            let id = unified(rows, &mut self.threads, (row.process, row.tid, row.start_ns), row);
            self.numbers.threads.push(ThreadId::new(id));
        }
    }

    fn measures(&mut self, from: &Tables) {
        for row in rows_from(&from.measures, self.numbers.measures.len()) {
            let row = Measure { name: self.string(row.name), ..row };
            self.numbers.measures.push(self.builder.measure(row));
        }
    }

    fn frames(&mut self, from: &Tables) {
        for row in rows_from(&from.frames, self.numbers.frames.len()) {
            let text = u32::try_from(row.address).ok().filter(|_| row.kind.is_named());
            let address = text.map_or(row.address, |id| u64::from(self.string(StringId::new(id)).get()));
            let row = Frame { module: self.module(row.module), address, ..row };
            self.numbers.frames.push(self.builder.frame(row));
        }
    }

    fn stacks(&mut self, from: &Tables) {
        for row in rows_from(&from.stacks, self.numbers.stacks.len()) {
            let parent = row.parent.map(|parent| self.stack(parent));
            let frame = self.numbers.frames[row.frame.index()];
            self.numbers.stacks.push(self.builder.stack(parent, frame));
        }
    }

    /// The levels of a frame come together; another epoch may tell them again.
    fn facts(&mut self, from: &Tables) {
        let mut is_new = false;
        for row in rows_from(&from.facts, self.numbers.facts) {
            let frame = self.numbers.frames[row.frame.index()];
            is_new = if row.depth == 0 { self.named.insert(frame) } else { is_new };
            if is_new {
                let function = self.numbers.functions[row.function.index()];
                let file = self.file(row.file);
                self.builder.tables.facts.push(Fact { frame, function, file, ..row });
            }
        }
        self.numbers.facts = from.facts.len();
    }
}

/// The rows from number `first` on.
fn rows_from<T: Table>(table: &T, first: usize) -> impl Iterator<Item = T::Row> + '_ {
    (first..table.len()).map(|number| table.row_at(number))
}

/// The number of the row of this identity: a new one, or one that from now on says what `row` does.
fn unified<T: Table, Identity: Hash + Eq>(
    table: &mut T,
    known: &mut FxHashMap<Identity, u32>,
    identity: Identity,
    row: T::Row,
) -> u32 {
    let next = u32::try_from(table.len()).unwrap_or(u32::MAX);
    let number = *known.entry(identity).or_insert(next);
    if number == next {
        table.push_row(row);
    } else {
        table.set_row(number as usize, row);
    }
    number
}
