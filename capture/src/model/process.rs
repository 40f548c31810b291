//! Who ran: processes, threads, and what they had mapped.

use crate::table::table;
use crate::{MappingId, ModuleId, ProcessId, StringId, ThreadId};

table! {
    /// Program images of processes. An exec ends a row and begins another with the same pid.
    pub table Processes("processes") of
    /// One program image of a process.
    Process by ProcessId {
        /// The process id in the recorder's pid namespace.
        pid: u32,
        /// The process id in its own pid namespace, where that was proved.
        namespace_pid: Option<u32>,
        /// The process that forked it, when recorded. Invariant: an earlier row.
        parent: Option<ProcessId>,
        /// The row that this image replaced by exec. Invariant: an earlier row of the same pid.
        exec_of: Option<ProcessId>,
        /// The command name (comm).
        name: StringId,
        /// The path of the executable; empty when unknown.
        executable: StringId,
        /// When this image began, or was first seen.
        start_ns: u64,
        /// When it ended; absent when it outlived the recording.
        end_ns: Option<u64>,
    }
}

table! {
    /// Threads of process rows.
    pub table Threads("threads") of
    /// One thread.
    Thread by ThreadId {
        /// The process image it ran in.
        process: ProcessId,
        /// The thread id in the recorder's pid namespace.
        tid: u32,
        /// The thread id in its own pid namespace, where that was proved.
        namespace_tid: Option<u32>,
        /// Its last name (comm).
        name: StringId,
        /// When it began, or was first seen.
        start_ns: u64,
        /// When it ended; absent when it outlived the recording.
        end_ns: Option<u64>,
        /// User CPU time the kernel accounted to it while recorded, where that was read.
        user_time_ns: Option<u64>,
        /// Kernel CPU time the kernel accounted to it while recorded, where that was read.
        system_time_ns: Option<u64>,
    }
}

table! {
    /// Executable mappings, each valid for a time.
    pub table Mappings("mappings") of
    /// One executable mapping.
    Mapping by MappingId {
        /// The process image that mapped it.
        process: ProcessId,
        /// What was mapped.
        module: ModuleId,
        /// The first address.
        start_address: u64,
        /// One past the last address. Invariant: greater than the first.
        end_address: u64,
        /// The module-relative address that [`Self::start_address`] is: `address - start + relative_start`.
        relative_start: u64,
        /// The offset in the file that [`Self::start_address`] is.
        file_offset: u64,
        /// When it became valid, or was first seen.
        valid_from_ns: u64,
        /// When it stopped being valid; absent when it lasted.
        valid_until_ns: Option<u64>,
        /// Whether records were lost around it, so that times and addresses are uncertain.
        uncertain: bool,
    }
}
