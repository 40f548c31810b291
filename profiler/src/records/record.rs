//! What a record says, still borrowing the ring's bytes.

use microscope_capture::CpuMode;

use super::Words;
use crate::registers::Registers;

/// One decoded record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Who caused it, when and where.
    pub stamp: Stamp,
    /// What it says.
    pub body: Body<'a>,
}

/// What every record carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The identifier of the event that wrote it. Inherited events keep their parent's.
    pub event: u64,
    /// The process; 0 is idle, [`Stamp::GONE`] a task that had left its namespace.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// When, by CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The processor.
    pub cpu: u32,
}

impl Stamp {
    /// The pid and tid of a task that is past its exit.
    pub const GONE: u32 = u32::MAX;
}

/// What a record says.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// What a BPF program wrote before its sample.
    Output(&'a [u8]),
    /// A mapping came to be.
    Mapping(NewMapping<'a>),
    /// A thread got a name, or a process a new program.
    Name(NewName<'a>),
    /// A thread or process began.
    Fork(Task),
    /// A thread ended.
    Exit(Task),
    /// The kernel found no room for records.
    Lost(Lost),
    /// The kernel stopped or resumed an event that fired too often.
    Throttle(Throttle),
    /// The thread was put on a processor or taken off.
    Switch(Switch),
    /// Kernel code came or went.
    KernelSymbol(KernelSymbol<'a>),
    /// The namespaces a task is in.
    Namespaces(Namespaces<'a>),
}

/// What the kernel saw at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The instruction, in user or kernel code.
    pub ip: u64,
    /// What the processor ran.
    pub mode: CpuMode,
    /// The event's period as the kernel reports it; 0 when it does not.
    pub period: u64,
    /// Kernel frames, innermost first, without context markers.
    pub kernel_chain: Words<'a>,
    /// User frames by frame pointer, innermost first, without context markers.
    pub user_chain: Words<'a>,
    /// The user registers; absent for kernel threads and exiting ones.
    pub user: Option<UserState<'a>>,
    /// Bytes that a tracepoint or program attached, with padding.
    pub raw: &'a [u8],
}

/// User registers and the copied part of the stack.
#[derive(Debug, Clone, Copy)]
pub struct UserState<'a> {
    /// Whether the thread ran 32-bit code.
    pub is_32_bit: bool,
    /// The registers.
    pub registers: Registers,
    /// The copied bytes, from the stack pointer upward: only those the kernel says are valid.
    pub stack: &'a [u8],
    /// Whether the copy filled its room, so that more of the stack may exist.
    pub stack_is_cut: bool,
}

/// A mapping of a file or of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewMapping<'a> {
    /// The process.
    pub pid: u32,
    /// The thread that mapped it.
    pub tid: u32,
    /// The first address.
    pub start_address: u64,
    /// Its length.
    pub length_bytes: u64,
    /// The offset in the file that the first address is.
    pub file_offset: u64,
    /// What proves which file it is.
    pub evidence: Evidence,
    /// Whether its bytes may run.
    pub is_executable: bool,
    /// The path as the target sees it, not necessarily UTF-8.
    pub path: &'a [u8],
}

/// What the kernel says about a mapped file's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The GNU build ID, up to 20 bytes of it.
    BuildId {
        /// The bytes; those past `length` are 0.
        bytes: [u8; 20],
        /// How many count.
        length: u8,
    },
    /// The file's place in its file system.
    Inode(FileKey),
    /// Nothing but the path.
    None,
}

/// A file's place in its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileKey {
    /// The device's major number.
    pub major: u32,
    /// The device's minor number.
    pub minor: u32,
    /// The inode.
    pub inode: u64,
    /// The inode's generation; 0 where the source does not say.
    pub generation: u64,
}

/// A thread's new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewName<'a> {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Whether the process began another program: all its mappings and other threads are gone.
    pub is_exec: bool,
    /// The name, not necessarily UTF-8.
    pub name: &'a [u8],
}

/// A task that began or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Its process.
    pub pid: u32,
    /// The process that began it, or its parent when it ended.
    pub parent_pid: u32,
    /// Its thread.
    pub tid: u32,
    /// The thread that began it.
    pub parent_tid: u32,
}

/// Records that never got into a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// How many.
    pub count: u64,
    /// Whether all of them were samples.
    pub samples_only: bool,
}

/// An event was stopped or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// Whether it was stopped.
    pub is_stopped: bool,
}

/// A thread was put on a processor or taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// Whether it was taken off.
    pub is_out: bool,
    /// Whether it was still runnable when taken off.
    pub is_preempted: bool,
    /// The thread before or after, where the event is of a whole processor.
    pub other: Option<(u32, u32)>,
}

/// Kernel code came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelSymbol<'a> {
    /// The first address.
    pub address: u64,
    /// Its length.
    pub length_bytes: u32,
    /// Whether it went.
    pub is_gone: bool,
    /// Its name.
    pub name: &'a [u8],
}

/// The namespaces a task is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespaces<'a> {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Device and inode of each, in the order net, uts, ipc, pid, user, mnt, cgroup.
    pub links: Words<'a>,
}
