//! Physical frames, what their addresses mean, and the tree of stacks.

use crate::column::coded_enum;
use crate::table::table;
use crate::{FactId, FileId, FrameId, FunctionId, ModuleId, StackId};

coded_enum! {
    /// What a frame is, and what its address means.
    pub enum FrameKind {
        /// Native code at exactly this instruction: the innermost frame, or one that a signal interrupted.
        Native = 0 => "native",
        /// Native code that a call returns to: it is looked up at the address before.
        NativeCaller = 1 => "native-caller",
        /// Kernel code at exactly this instruction.
        Kernel = 2 => "kernel",
        /// Kernel code that a call returns to.
        KernelCaller = 3 => "kernel-caller",
        /// An interpreted frame. Its address is the id of a string: file, function, line, first line.
        Interpreted = 4 => "interpreted",
        /// An awaited future. Its address is the id of a string.
        Awaited = 5 => "awaited",
        /// A frame an imported profile only names. Its address is the id of a string.
        Named = 6 => "named",
    }
}

impl FrameKind {
    /// Whether [`Frame::address`] is the id of a string. Such a frame has no module.
    #[must_use]
    pub const fn is_named(self) -> bool {
        matches!(self, Self::Interpreted | Self::Awaited | Self::Named)
    }

    /// Whether names are looked up at the address before: the call, not the instruction after it.
    #[must_use]
    pub const fn is_caller(self) -> bool {
        matches!(self, Self::NativeCaller | Self::KernelCaller)
    }
}

coded_enum! {
    /// What part code plays, for looks that fold the machinery away.
    pub enum CodeRole {
        /// The program's own or a library's code.
        Plain = 0 => "plain",
        /// The interpreter's loop.
        Interpreter = 1 => "interpreter",
        /// An async runtime's scheduling.
        Scheduler = 2 => "scheduler",
        /// A stub of the linker, such as a PLT entry.
        Stub = 3 => "stub",
    }
}

table! {
    /// Physical frames: no stored id depends on a name.
    pub table Frames("frames") of
    /// One physical frame.
    Frame by FrameId {
        /// What it is.
        kind: FrameKind,
        /// What part its code plays.
        role: CodeRole,
        /// The module its address is relative to; absent for named kinds and for addresses in no known module.
        module: Option<ModuleId>,
        /// The relative address, or absolute without a module, or a string's id for named kinds.
        address: u64,
    }
}

table! {
    /// What frames mean in source: rows sorted by frame, then depth. May be filled in after the stacks.
    pub table Facts("facts") of
    /// One level of a frame's inline chain.
    Fact by FactId {
        /// The frame.
        frame: FrameId,
        /// 0 is the innermost inlined function; the last row of a frame is the physical function.
        depth: u16,
        /// The function.
        function: FunctionId,
        /// The file of [`Self::line`], when known.
        file: Option<FileId>,
        /// The line executed (depth 0) or called from (deeper); 0 is code that belongs to no line.
        line: u32,
    }
}

table! {
    /// The prefix tree of stacks. Invariant: parents precede children.
    pub table Stacks("stacks") of
    /// One stack: a frame called from another stack.
    Stack by StackId {
        /// The stack of the caller; absent for the outermost frame.
        parent: Option<StackId>,
        /// The innermost frame.
        frame: FrameId,
    }
}

coded_enum! {
    /// Why a stack ends where it does.
    pub enum EndReason {
        /// The outermost frame was reached and proved: the rules say it has no caller.
        Complete = 0 => "complete",
        /// The copied stack bytes ended before the stack did.
        StackBytes = 1 => "stack-bytes",
        /// The module has no unwind rule for the address.
        NoRule = 2 => "no-rule",
        /// The address lies in no module that was mapped at the sample's time.
        NoModule = 3 => "no-module",
        /// The module's file could not be opened or read.
        NoFile = 4 => "no-file",
        /// A rule needs a register whose value is not known here.
        NoRegister = 5 => "no-register",
        /// A rule reads memory outside the copied bytes.
        NoMemory = 6 => "no-memory",
        /// The rule is malformed or of a form that is not evaluated.
        BadRule = 7 => "bad-rule",
        /// The frame is the same as the one before, or the stack pointer did not move outward.
        NoProgress = 8 => "no-progress",
        /// The frame limit was reached.
        DepthLimit = 9 => "depth-limit",
        /// The return address is not executable code.
        BadReturnAddress = 10 => "bad-return-address",
        /// The sample has no user registers: a kernel thread, or a thread that was exiting.
        NoRegisters = 11 => "no-registers",
        /// The policy asks for no stack beyond the innermost frame.
        NotWanted = 12 => "not-wanted",
        /// The frame-pointer chain ended; nothing proves that it is whole.
        FramePointers = 13 => "frame-pointers",
        /// Mappings around the sample were lost, so its addresses are uncertain.
        UncertainMapping = 14 => "uncertain-mapping",
        /// The wait for a module's index was full or too long.
        NotIndexed = 15 => "not-indexed",
        /// An imported profile says nothing of it.
        Unknown = 16 => "unknown",
        /// Interpreted frames could not be read.
        InterpretedUnknown = 17 => "interpreted-unknown",
        /// Interpreted frames could not be placed among the native ones.
        InterpretedUnplaced = 18 => "interpreted-unplaced",
        /// The recorder's bound on different stacks was met: this one was not kept.
        NoRoom = 19 => "no-room",
    }
}
