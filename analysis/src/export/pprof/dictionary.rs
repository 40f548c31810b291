//! What samples refer to, numbered as it is needed: strings, mappings, functions, locations.

use std::borrow::Cow;

use microscope_capture::import::pprof::proto::{Function, Line, Location, Mapping, Profile};
use microscope_capture::{FileId, FrameId, FunctionFlags, FunctionId, ModuleId, Tables};
use rustc_hash::FxHashMap;

use crate::KeyKind;
use crate::ask::Question;
use crate::facts::FactIndex;

/// What a function of the profile is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Source<'c> {
    /// A function, and the file of its lines, which is not always the declaration's.
    Named(FunctionId, Option<FileId>),
    /// A frame that only has a text.
    Text(Cow<'c, str>),
}

pub(super) struct Dictionary<'q, 'c> {
    question: &'q Question<'c>,
    facts: FactIndex,
    strings: Vec<Cow<'c, str>>,
    string_numbers: FxHashMap<Cow<'c, str>, i64>,
    functions: Vec<Function>,
    function_ids: FxHashMap<Source<'c>, u64>,
    /// By frame: whether its location was made.
    locations: Vec<Option<Location>>,
    mappings: Vec<Option<Mapping>>,
}

impl<'q, 'c> Dictionary<'q, 'c> {
    pub(super) fn new(question: &'q Question<'c>) -> Self {
        let tables = question.tables;
        let mut dictionary = Self {
            question,
            facts: FactIndex::new(tables),
            strings: Vec::new(),
            string_numbers: FxHashMap::default(),
            functions: Vec::new(),
            function_ids: FxHashMap::default(),
            locations: vec![None; tables.frames.len()],
            mappings: vec![None; tables.modules.len()],
        };
        // The first string of a profile is empty.
        dictionary.text("");
        dictionary
    }

    /// The number of a string.
    pub(super) fn text(&mut self, text: impl Into<Cow<'c, str>>) -> i64 {
        let text = text.into();
        if let Some(number) = self.string_numbers.get(&text) {
            return *number;
        }
        let number = i64::try_from(self.strings.len()).unwrap_or(i64::MAX);
        self.strings.push(text.clone());
        self.string_numbers.insert(text, number);
        number
    }

    /// The id of a frame's location.
    pub(super) fn location(&mut self, frame: FrameId) -> u64 {
        let id = u64::from(frame.get()) + 1;
        if self.locations[frame.index()].is_none() {
            self.locations[frame.index()] = Some(self.new_location(frame, id));
        }
        id
    }

    fn new_location(&mut self, frame: FrameId, id: u64) -> Location {
        let tables = self.question.tables;
        let row = tables.frames.row(frame);
        let address = match row.kind.is_named() {
            true => 0,
            false => row.address.saturating_sub(u64::from(row.kind.is_caller())),
        };
        let mapping_id = row.module.map_or(0, |module| self.mapping(module, address));
        let (line, is_folded) = self.lines(frame);
        Location { id, mapping_id, address, line, is_folded }
    }

    /// The levels of a frame, innermost first, and whether other functions share its code.
    fn lines(&mut self, frame: FrameId) -> (Vec<Line>, bool) {
        let tables = self.question.tables;
        let rows: Vec<usize> = self.facts.rows(frame).iter().map(|row| *row as usize).collect();
        let folded = |row: &usize| {
            tables.functions.flags[tables.facts.function[*row].index()] == FunctionFlags::Folded
        };
        let is_folded = rows.iter().any(folded);
        if rows.is_empty() {
            return (self.text_line(frame).into_iter().collect(), is_folded);
        }
        let line = |row: usize| {
            let source = Source::Named(tables.facts.function[row], tables.facts.file[row]);
            Line { function_id: self.function(source), line: i64::from(tables.facts.line[row]), column: 0 }
        };
        (rows.into_iter().map(line).collect(), is_folded)
    }

    /// A level for a frame that nothing but a text names; an address needs none.
    fn text_line(&mut self, frame: FrameId) -> Option<Line> {
        let tables: &'c Tables = self.question.tables;
        let row = tables.frames.row(frame);
        let of_keys = self.question.keys.of(frame).first().map(|key| self.question.keys.key(tables, *key));
        let text = match of_keys {
            Some(key) if key.kind != KeyKind::Address => key.name,
            None if row.kind.is_named() => {
                let string = u32::try_from(row.address).map_or(0, |number| number);
                Cow::Borrowed(tables.strings.get(microscope_capture::StringId::new(string)))
            }
            _ => return None,
        };
        Some(Line { function_id: self.function(Source::Text(text)), line: 0, column: 0 })
    }

    fn function(&mut self, source: Source<'c>) -> u64 {
        if let Some(id) = self.function_ids.get(&source) {
            return *id;
        }
        let id = self.functions.len() as u64 + 1;
        let message = match &source {
            Source::Named(function, file) => self.named(id, *function, *file),
            Source::Text(text) => Function { id, name: self.text(text.clone()), ..Function::default() },
        };
        self.functions.push(message);
        self.function_ids.insert(source, id);
        id
    }

    fn named(&mut self, id: u64, function: FunctionId, file: Option<FileId>) -> Function {
        let tables: &'c Tables = self.question.tables;
        let row = tables.functions.row(function);
        let text = |id| tables.strings.get(id);
        let path = file.or(row.file).map_or("", |id| text(tables.files.path[id.index()]));
        let linkage_name = text(row.linkage_name);
        Function {
            id,
            name: self.text(text(row.name)),
            system_name: self.text(if linkage_name.is_empty() { text(row.name) } else { linkage_name }),
            filename: self.text(path),
            start_line: i64::from(row.line),
        }
    }

    /// The id of a module's mapping, widened to hold `address`.
    fn mapping(&mut self, module: ModuleId, address: u64) -> u64 {
        let tables: &'c Tables = self.question.tables;
        let row = tables.modules.row(module);
        let filename = self.text(tables.strings.get(row.path));
        let build_id = self.text(tables.strings.get(row.identity));
        let id = u64::from(module.get()) + 1;
        let mapping = self.mappings[module.index()].get_or_insert(Mapping {
            id,
            filename,
            build_id,
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
            ..Mapping::default()
        });
        mapping.memory_limit = mapping.memory_limit.max(address.saturating_add(1));
        id
    }

    /// Everything that was numbered.
    pub(super) fn into_message(self) -> Profile {
        Profile {
            mapping: self.mappings.into_iter().flatten().collect(),
            location: self.locations.into_iter().flatten().collect(),
            function: self.functions,
            string_table: self.strings.into_iter().map(Cow::into_owned).collect(),
            ..Profile::default()
        }
    }
}
