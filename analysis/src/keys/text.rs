//! A key as results show it: the names of the capture, unescaped; escaping belongs to presentation.

use std::borrow::Cow;

use microscope_capture::{FileId, FunctionFlags, FunctionId, ModuleId, StringId, Tables};
use serde::Serialize;

use super::Identity;

/// What a row of a result is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key<'c> {
    /// Which fields say what it is.
    pub kind: KeyKind,
    /// The function, `path:line`, `module+0xADDRESS`, module path, or text.
    pub name: Cow<'c, str>,
    /// The path of the module that holds it.
    pub module: Option<&'c str>,
    /// The function: of a line the first that has it, of an address the physical one.
    pub function: Option<&'c str>,
    /// The source file: of a function where it is declared.
    pub file: Option<&'c str>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The address relative to the module.
    pub address: Option<u64>,
    /// Whether other functions share its code, so that the name may be another's.
    pub folded: bool,
}

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// A function.
    Function,
    /// A source line.
    Line,
    /// Code that debug information attributes to no line.
    Unlined,
    /// Code without debug information.
    NoDebug,
    /// An instruction, or a place that has no better name.
    Address,
    /// A module.
    Module,
    /// Kernel code whose symbols were not readable.
    KernelHidden,
    /// Known by its text only.
    Named,
    /// Samples without any frame.
    NoStack,
}

impl<'c> Key<'c> {
    pub(crate) fn new(tables: &'c Tables, identity: Identity) -> Self {
        let texts = Texts(tables);
        match identity {
            Identity::Function(id) => Self::of_function(tables, KeyKind::Function, id),
            Identity::Unlined(id) => Self::of_function(tables, KeyKind::Unlined, id),
            Identity::NoDebug(id) => Self::of_function(tables, KeyKind::NoDebug, id),
            Identity::Line { path, line, function } => Self::of_line(tables, path, line, function),
            Identity::Address { module, address, function } => {
                Self::of_address(tables, module, address, function)
            }
            Identity::NoDebugIn(module) => Self::of_module(tables, KeyKind::NoDebug, module),
            Identity::Module(module) => Self::of_module(tables, KeyKind::Module, module),
            Identity::KernelHidden => Self::named(KeyKind::KernelHidden, "kernel (hidden)"),
            Identity::Named(text) => Self::named(KeyKind::Named, texts.text(text)),
            Identity::NoStack => Self::named(KeyKind::NoStack, "no stack"),
        }
    }

    fn named(kind: KeyKind, name: &'c str) -> Self {
        Self {
            kind,
            name: Cow::Borrowed(name),
            module: None,
            function: None,
            file: None,
            line: None,
            address: None,
            folded: false,
        }
    }

    fn of_function(tables: &'c Tables, kind: KeyKind, id: FunctionId) -> Self {
        let (texts, functions, at) = (Texts(tables), &tables.functions, id.index());
        let (name, line) = (texts.text(functions.name[at]), functions.line[at]);
        Self {
            module: functions.module[at].map(|id| texts.module(id)),
            function: Some(name),
            file: functions.file[at].map(|id| texts.file(id)),
            line: (line != 0).then_some(line),
            folded: functions.flags[at] == FunctionFlags::Folded,
            ..Self::named(kind, name)
        }
    }

    fn of_line(tables: &'c Tables, path: StringId, line: u32, function: FunctionId) -> Self {
        let path = Texts(tables).text(path);
        Self {
            kind: KeyKind::Line,
            name: Cow::Owned(format!("{path}:{line}")),
            file: Some(path),
            line: Some(line),
            ..Self::of_function(tables, KeyKind::Line, function)
        }
    }

    fn of_address(
        tables: &'c Tables,
        module: Option<ModuleId>,
        address: u64,
        function: Option<FunctionId>,
    ) -> Self {
        let path = module.map(|id| Texts(tables).module(id));
        let base = function
            .map_or(Self::named(KeyKind::Address, ""), |id| Self::of_function(tables, KeyKind::Address, id));
        let name = path.map_or_else(
            || format!("{address:#x}"),
            |path| format!("{}+{address:#x}", path.rsplit('/').next().unwrap_or(path)),
        );
        Self { name: Cow::Owned(name), module: path, address: Some(address), ..base }
    }

    fn of_module(tables: &'c Tables, kind: KeyKind, module: Option<ModuleId>) -> Self {
        let path = module.map(|id| Texts(tables).module(id));
        Self { module: path, ..Self::named(kind, path.unwrap_or("no known module")) }
    }
}

struct Texts<'c>(&'c Tables);

impl<'c> Texts<'c> {
    fn text(&self, id: StringId) -> &'c str {
        self.0.strings.get(id)
    }
    fn module(&self, id: ModuleId) -> &'c str {
        self.text(self.0.modules.path[id.index()])
    }
    fn file(&self, id: FileId) -> &'c str {
        self.text(self.0.files.path[id.index()])
    }
}
