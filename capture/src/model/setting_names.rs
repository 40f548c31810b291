//! The names of settings that microscope itself writes and reads. Values are text; numbers are decimal.

/// Wall-clock time of the recording's start: nanoseconds since 1970, UTC.
pub const START_REALTIME_NS: &str = "start-realtime-ns";
/// How long was recorded, from the start, in nanoseconds.
pub const DURATION_NS: &str = "duration-ns";
/// Who recorded: `microscope VERSION`.
pub const RECORDER: &str = "recorder";
/// The recorded machine: `x86_64 Linux RELEASE, N processors`.
pub const MACHINE: &str = "machine";
/// What was recorded: the command line, or `pid N` for each process attached to.
pub const TARGET: &str = "target";
/// The working directory of the recording: what lies under it is the user's own code.
pub const DIRECTORY: &str = "directory";
/// The event that triggers samples, such as `cpu-clock`.
pub const EVENT: &str = "event";
/// Samples a second of processor time that were asked for.
pub const RATE_HZ: &str = "rate-hz";
/// The stack policy: `copy`, `frame-pointers`, `both`, `none`.
pub const STACK: &str = "stack";
/// Bytes of stack copied with a sample.
pub const STACK_BYTES: &str = "stack-bytes";
/// How kernel code is covered: `stacks`, `counted`, `excluded`.
pub const KERNEL: &str = "kernel";
/// Why kernel symbols are missing; absent when they are not.
pub const KERNEL_SYMBOLS: &str = "kernel-symbols";
/// How events were spread: `per-thread`, `system-wide`.
pub const TOPOLOGY: &str = "topology";
/// Where the recording differs from what was asked for, one sentence a line; absent when it does not.
pub const NOTES: &str = "notes";
/// Whether names are in: `pending`, `immediate`.
pub const SYMBOLS: &str = "symbols";
/// User time that the targets used while recorded, as the kernel accounts it, in nanoseconds.
pub const TARGET_USER_NS: &str = "target-user-ns";
/// Kernel time that the targets used while recorded, as the kernel accounts it, in nanoseconds.
pub const TARGET_SYSTEM_NS: &str = "target-system-ns";
/// Processor time that the targets had used before sampling began, in nanoseconds.
pub const TARGET_BEFORE_NS: &str = "target-before-ns";
/// Processor time of the recorder itself, all its threads, in nanoseconds.
pub const RECORDER_CPU_NS: &str = "recorder-cpu-ns";
/// The recorder's peak resident memory, in bytes.
pub const RECORDER_MEMORY_BYTES: &str = "recorder-memory-bytes";
/// How a launched program ended: `exit N` or `signal N`; absent when it did not end.
pub const EXIT: &str = "exit";
