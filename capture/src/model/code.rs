//! Where code lives: modules, source files, functions, and the source texts a capture may carry.

use crate::column::coded_enum;
use crate::table::table;
use crate::{FileId, FunctionId, ModuleId, SourceTextId, StringId};

coded_enum! {
    /// What owns a range of code.
    pub enum ModuleKind {
        /// A regular file.
        File = 0 => "file",
        /// The kernel's page of fast system calls.
        Vdso = 1 => "vdso",
        /// The kernel image and its loadable modules.
        Kernel = 2 => "kernel",
        /// A range that a perf map names.
        PerfMap = 3 => "perf-map",
        /// An object a just-in-time compiler registered.
        JitObject = 4 => "jit-object",
        /// Executable memory that nothing describes.
        Anonymous = 5 => "anonymous",
        /// Named by an imported profile only.
        Imported = 6 => "imported",
    }
}

coded_enum! {
    /// What proves which code a module is.
    pub enum IdentityKind {
        /// Nothing: such a module is never symbolized later.
        None = 0 => "none",
        /// The GNU build ID note.
        GnuBuildId = 1 => "gnu-build-id",
        /// Go's own build ID note.
        GoBuildId = 2 => "go-build-id",
        /// A hash of the loaded segments.
        SegmentHash = 3 => "segment-hash",
    }
}

table! {
    /// Owners of code, independent of where a process mapped them.
    pub table Modules("modules") of
    /// One owner of code.
    Module by ModuleId {
        /// What owns the code.
        kind: ModuleKind,
        /// The path as the target saw it; `[vdso]`, `[kernel]` and the like for other kinds.
        path: StringId,
        /// What [`Self::identity`] is.
        identity_kind: IdentityKind,
        /// The identity as lower-case hexadecimal text (Go: its text); empty without one.
        identity: StringId,
        /// The identity's debug file that names came from; empty when none was found or wanted.
        debug_path: StringId,
    }
}

coded_enum! {
    /// How a source file's hash was made.
    pub enum HashKind {
        /// No hash is known.
        None = 0 => "none",
        /// The MD5 that DWARF 5 line tables carry: of the text that was compiled.
        DwarfMd5 = 1 => "dwarf-md5",
        /// MD5 of the text found on the recording machine.
        TextMd5 = 2 => "text-md5",
    }
}

table! {
    /// Source files that address facts name.
    pub table Files("files") of
    /// One source file.
    File by FileId {
        /// The path as the debug information gives it, joined with its directories.
        path: StringId,
        /// What [`Self::hash`] is.
        hash_kind: HashKind,
        /// The hash as lower-case hexadecimal text, or empty.
        hash: StringId,
    }
}

table! {
    /// Source texts kept in the capture, by the rules of what may be read.
    pub table SourceTexts("source-texts") of
    /// One source text.
    SourceText by SourceTextId {
        /// The file it is the text of.
        file: FileId,
        /// The text, UTF-8, at most 4 MiB.
        text: StringId,
    }
}

coded_enum! {
    /// What is known of a function beyond its name.
    pub enum FunctionFlags {
        /// One function, one name.
        Plain = 0 => "plain",
        /// Identical code was folded: other names share these addresses.
        Folded = 1 => "folded",
    }
}

table! {
    /// Functions that address facts name.
    pub table Functions("functions") of
    /// One function.
    Function by FunctionId {
        /// The name for people: demangled, with its namespaces.
        name: StringId,
        /// The name in the symbol table; empty when there is none.
        linkage_name: StringId,
        /// The module that holds it; absent for imported ones without a module.
        module: Option<ModuleId>,
        /// Where it is declared, when known.
        file: Option<FileId>,
        /// The line it is declared at, from 1; 0 is unknown.
        line: u32,
        /// The relative address of its first instruction; 0 for inlined functions, which have none of their own.
        relative_address: u64,
        /// Whether other names share its code.
        flags: FunctionFlags,
    }
}
