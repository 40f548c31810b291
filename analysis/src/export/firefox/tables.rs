//! The tables of one thread: stacks, frames, functions, resources and strings, each numbered from 0.

use std::io::{self, Write};

use microscope_capture::{FrameKind, IdentityKind, ModuleId, StackId, Tables};
use rustc_hash::FxHashMap;

use crate::export::json::Json;
use crate::export::levels::{Levels, Node};
use crate::keys::KeyId;

/// Modules, as the whole profile numbers them: by module id.
pub(super) struct Libraries<'c> {
    tables: &'c Tables,
}

impl<'c> Libraries<'c> {
    pub(super) const fn new(tables: &'c Tables) -> Self {
        Self { tables }
    }

    pub(super) fn write<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        let text = |id| self.tables.strings.get(id);
        json.column(
            "libs",
            self.tables.modules.iter().map(|(_, row)| {
                let path = text(row.path);
                let gnu = row.identity_kind == IdentityKind::GnuBuildId;
                let code_id = if gnu { text(row.identity) } else { "" };
                serde_json::json!({
                    "name": file_name(path), "path": path, "debugName": file_name(path), "debugPath": path,
                    "breakpadId": breakpad_id(code_id), "codeId": gnu.then_some(code_id), "arch": null,
                })
            }),
        )
    }

    fn name(&self, module: ModuleId) -> &'c str {
        file_name(self.tables.strings.get(self.tables.modules.path[module.index()]))
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The first 16 bytes of a build ID as a GUID (its first three fields are little-endian), then age 0.
fn breakpad_id(build_id: &str) -> String {
    const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let byte = |at: usize| build_id.get(2 * at..2 * at + 2).unwrap_or("00");
    let mut id: String = ORDER.into_iter().map(byte).collect::<String>().to_uppercase();
    id.push('0');
    id
}

/// A column of optional numbers.
type Numbers = Vec<Option<u32>>;

/// The tables of one thread.
pub(super) struct ThreadTables<'c> {
    strings: Strings<'c>,
    stacks: Stacks,
    frames: Frames,
    functions: Functions,
    resources: Resources,
}

#[derive(Default)]
struct Strings<'c> {
    texts: Vec<std::borrow::Cow<'c, str>>,
    index: FxHashMap<std::borrow::Cow<'c, str>, u32>,
}

#[derive(Default)]
struct Stacks {
    prefix: Numbers,
    frame: Vec<u32>,
    /// By level of a stack: its row.
    rows: FxHashMap<u32, u32>,
}

#[derive(Default)]
struct Frames {
    address: Vec<i64>,
    inline_depth: Vec<u32>,
    category: Vec<u32>,
    function: Vec<u32>,
    line: Numbers,
    /// By frame and level: its row.
    rows: FxHashMap<(u32, u32), u32>,
}

#[derive(Default)]
struct Functions {
    name: Vec<u32>,
    resource: Vec<i64>,
    file: Numbers,
    line: Numbers,
    /// By key and module: its row.
    rows: FxHashMap<(KeyId, Option<ModuleId>), u32>,
}

#[derive(Default)]
struct Resources {
    library: Vec<u32>,
    name: Vec<u32>,
    rows: FxHashMap<ModuleId, u32>,
}

fn row_number(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

impl<'c> ThreadTables<'c> {
    /// The tables that `stacks` need; callers come first among them.
    pub(super) fn new(
        tables: &'c Tables,
        levels: &Levels<'_, 'c>,
        libraries: &Libraries<'c>,
        stacks: &[StackId],
    ) -> Self {
        let mut local = Self {
            strings: Strings::default(),
            stacks: Stacks::default(),
            frames: Frames::default(),
            functions: Functions::default(),
            resources: Resources::default(),
        };
        for (number, node) in stacks.iter().flat_map(|stack| levels.of_stack(*stack)) {
            let frame = local.frame(tables, levels, libraries, node);
            let prefix = node.parent.and_then(|parent| local.stack(parent));
            local.stacks.rows.insert(number, row_number(local.stacks.frame.len()));
            local.stacks.prefix.push(prefix);
            local.stacks.frame.push(frame);
        }
        local
    }

    /// The row of a level of a stack.
    pub(super) fn stack(&self, level: u32) -> Option<u32> {
        self.stacks.rows.get(&level).copied()
    }

    fn frame(
        &mut self,
        tables: &'c Tables,
        levels: &Levels<'_, 'c>,
        libraries: &Libraries<'c>,
        node: Node,
    ) -> u32 {
        if let Some(row) = self.frames.rows.get(&(node.frame.get(), node.level)) {
            return *row;
        }
        let function = self.function(levels, libraries, node);
        let row = tables.frames.row(node.frame);
        let depth = levels.physical_level(node) - node.level;
        let frames = &mut self.frames;
        let number = row_number(frames.function.len());
        frames.rows.insert((node.frame.get(), node.level), number);
        let in_module = row.module.is_some();
        frames.address.push(if in_module { i64::try_from(row.address).unwrap_or(-1) } else { -1 });
        frames.inline_depth.push(depth);
        frames.category.push(match row.kind {
            FrameKind::Kernel | FrameKind::KernelCaller => 2,
            _ => 1,
        });
        frames.function.push(function);
        let line = levels.text(node).line;
        frames.line.push((line != 0).then_some(line));
        number
    }

    fn function(&mut self, levels: &Levels<'_, 'c>, libraries: &Libraries<'c>, node: Node) -> u32 {
        let text = levels.text(node);
        let key = (levels.key(node), text.module);
        if let Some(row) = self.functions.rows.get(&key) {
            return *row;
        }
        let name = self.strings.number(text.name);
        let file = (!text.file.is_empty()).then(|| self.strings.number(text.file.into()));
        let resource = text.module.map_or(-1, |module| i64::from(self.resource(libraries, module)));
        let functions = &mut self.functions;
        let number = row_number(functions.name.len());
        functions.rows.insert(key, number);
        functions.name.push(name);
        functions.resource.push(resource);
        functions.file.push(file);
        functions.line.push((text.declared != 0).then_some(text.declared));
        number
    }

    fn resource(&mut self, libraries: &Libraries<'c>, module: ModuleId) -> u32 {
        if let Some(row) = self.resources.rows.get(&module) {
            return *row;
        }
        let name = self.strings.number(libraries.name(module).into());
        let number = row_number(self.resources.name.len());
        self.resources.rows.insert(module, number);
        self.resources.library.push(module.get());
        self.resources.name.push(name);
        number
    }

    pub(super) fn write<W: Write>(self, json: &mut Json<W>) -> io::Result<()> {
        self.stacks.write(json)?;
        self.frames.write(json)?;
        self.functions.write(json)?;
        self.resources.write(json)?;
        let none =
            serde_json::json!({"length": 0, "address": [], "functionSize": [], "libIndex": [], "name": []});
        json.field("nativeSymbols", &none)?;
        json.column("stringArray", &self.strings.texts)
    }
}

impl<'c> Strings<'c> {
    fn number(&mut self, text: std::borrow::Cow<'c, str>) -> u32 {
        if let Some(number) = self.index.get(&text) {
            return *number;
        }
        let number = row_number(self.texts.len());
        self.texts.push(text.clone());
        self.index.insert(text, number);
        number
    }
}

/// Opens a table and states how many rows it has.
fn table<W: Write>(json: &mut Json<W>, name: &str, rows: usize) -> io::Result<()> {
    json.key(name)?;
    json.object()?;
    json.field("length", &rows)
}

/// A column whose cells are all the same.
fn same<T: Copy>(cell: T, rows: usize) -> impl Iterator<Item = T> {
    std::iter::repeat_n(cell, rows)
}

const NULL: Option<u32> = None;

impl Stacks {
    fn write<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        table(json, "stackTable", self.frame.len())?;
        json.column("prefix", &self.prefix)?;
        json.column("frame", &self.frame)?;
        json.end_object()
    }
}

impl Frames {
    fn write<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        let rows = self.function.len();
        table(json, "frameTable", rows)?;
        json.column("address", &self.address)?;
        json.column("inlineDepth", &self.inline_depth)?;
        json.column("category", &self.category)?;
        json.column("subcategory", same(0, rows))?;
        json.column("func", &self.function)?;
        json.column("nativeSymbol", same(NULL, rows))?;
        json.column("innerWindowID", same(0, rows))?;
        json.column("line", &self.line)?;
        json.column("column", same(NULL, rows))?;
        json.end_object()
    }
}

impl Functions {
    fn write<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        let rows = self.name.len();
        table(json, "funcTable", rows)?;
        json.column("name", &self.name)?;
        json.column("isJS", same(false, rows))?;
        json.column("relevantForJS", same(false, rows))?;
        json.column("resource", &self.resource)?;
        json.column("fileName", &self.file)?;
        json.column("lineNumber", &self.line)?;
        json.column("columnNumber", same(NULL, rows))?;
        json.end_object()
    }
}

impl Resources {
    fn write<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        /// A library, as opposed to a web site or an add-on.
        const LIBRARY: u32 = 1;
        let rows = self.name.len();
        table(json, "resourceTable", rows)?;
        json.column("lib", &self.library)?;
        json.column("name", &self.name)?;
        json.column("host", same(NULL, rows))?;
        json.column("type", same(LIBRARY, rows))?;
        json.end_object()
    }
}
