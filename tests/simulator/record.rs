//! The bytes of records, as `perf_event_header` and the fields after it.

use microscope_profiler::collector::{SampleFields, USER_REGISTERS, USER_REGISTERS_MASK};

use super::Thread;

/// `PERF_RECORD_*`.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;

/// `PERF_RECORD_MISC_*`.
const MISC_USER: u16 = 2;
const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// Where bp, sp and ip stand among the copied registers.
const REGISTER_BP: usize = 6;
const REGISTER_SP: usize = 7;
const REGISTER_IP: usize = 8;

/// Bytes of stack that a simulated sample asks for.
const STACK_BYTES: usize = 1024;

/// What simulated samples hold.
pub(super) const FIELDS: SampleFields =
    SampleFields { callchain: false, user_registers: USER_REGISTERS_MASK, stack_bytes: STACK_BYTES as u32 };

/// Who writes a record, when and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) event: u64,
    pub(super) thread: Thread,
    pub(super) time_ns: u64,
    pub(super) cpu: u32,
}

/// A record under construction.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Type and misc; the size is filled in at the end.
    fn new(record: u32, misc: u16) -> Self {
        let mut writer = Self { bytes: Vec::new() };
        writer.u32(record);
        writer.bytes.extend(misc.to_ne_bytes());
        writer.bytes.extend([0; 2]);
        writer
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_ne_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_ne_bytes());
    }

    fn pair(&mut self, first: u32, second: u32) {
        self.u32(first);
        self.u32(second);
    }

    /// A text with its zero, padded to whole words.
    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes());
        let length = (self.bytes.len() + 1).next_multiple_of(8);
        self.bytes.resize(length, 0);
    }

    /// `struct sample_id`, which ends every record but samples.
    fn trailer(mut self, stamp: Stamp) -> Vec<u8> {
        self.pair(stamp.thread.pid, stamp.thread.tid);
        self.u64(stamp.time_ns);
        self.pair(stamp.cpu, 0);
        self.u64(stamp.event);
        self.finish()
    }

    fn finish(mut self) -> Vec<u8> {
        let size = u16::try_from(self.bytes.len()).unwrap_or(u16::MAX);
        self.bytes[6..8].copy_from_slice(&size.to_ne_bytes());
        self.bytes
    }
}

/// `PERF_RECORD_COMM`: a new name, and a new program when it comes from exec.
pub(super) fn name(stamp: Stamp, name: &str, is_exec: bool) -> Vec<u8> {
    let mut writer = Writer::new(COMM, if is_exec { MISC_COMM_EXEC } else { 0 });
    writer.pair(stamp.thread.pid, stamp.thread.tid);
    writer.text(name);
    writer.trailer(stamp)
}

/// `PERF_RECORD_FORK`: a thread or process begins.
pub(super) fn fork(stamp: Stamp, child: Thread, parent: Thread) -> Vec<u8> {
    task(Writer::new(FORK, 0), stamp, child, parent)
}

/// `PERF_RECORD_EXIT`: a thread ends.
pub(super) fn exit(stamp: Stamp, thread: Thread, parent: Thread) -> Vec<u8> {
    task(Writer::new(EXIT, 0), stamp, thread, parent)
}

fn task(mut writer: Writer, stamp: Stamp, thread: Thread, parent: Thread) -> Vec<u8> {
    writer.pair(thread.pid, parent.pid);
    writer.pair(thread.tid, parent.tid);
    writer.u64(stamp.time_ns);
    writer.trailer(stamp)
}

/// `PERF_RECORD_MMAP2` with the file's build ID.
pub(super) fn mapping(stamp: Stamp, map: &super::Map<'_>) -> Vec<u8> {
    const PROT_READ_EXEC: u32 = 5;
    const MAP_PRIVATE: u32 = 2;
    let mut writer = Writer::new(MMAP2, MISC_MMAP_BUILD_ID | MISC_USER);
    writer.pair(stamp.thread.pid, stamp.thread.tid);
    writer.u64(map.start);
    writer.u64(map.length);
    writer.u64(map.file_offset);
    writer.bytes.extend([20, 0, 0, 0]);
    writer.bytes.extend([map.build_id; 20]);
    writer.pair(PROT_READ_EXEC, MAP_PRIVATE);
    writer.text(map.path);
    writer.trailer(stamp)
}

/// `PERF_RECORD_LOST`: the ring had no room for so many records.
pub(super) fn lost(stamp: Stamp, count: u64) -> Vec<u8> {
    let mut writer = Writer::new(LOST, 0);
    writer.u64(stamp.event);
    writer.u64(count);
    writer.trailer(stamp)
}

/// `PERF_RECORD_SAMPLE` with registers and copied stack: words from the stack pointer upward.
pub(super) fn sample(stamp: Stamp, period_ns: u64, ip: u64, sp: u64, stack: &[u64]) -> Vec<u8> {
    let mut writer = Writer::new(SAMPLE, MISC_USER);
    writer.u64(stamp.event);
    writer.u64(ip);
    writer.pair(stamp.thread.pid, stamp.thread.tid);
    writer.u64(stamp.time_ns);
    writer.pair(stamp.cpu, 0);
    writer.u64(period_ns);
    registers(&mut writer, ip, sp);
    writer.u64(STACK_BYTES as u64);
    let valid = (stack.len() * 8).min(STACK_BYTES);
    let words = stack.iter().copied().chain(std::iter::repeat(0xdead_beef_dead_beef));
    words.take(STACK_BYTES / 8).for_each(|word| writer.u64(word));
    writer.u64(valid as u64);
    writer.finish()
}

fn registers(writer: &mut Writer, ip: u64, sp: u64) {
    const ABI_64: u64 = 2;
    let mut values = [0; USER_REGISTERS];
    values[REGISTER_BP] = sp;
    values[REGISTER_SP] = sp;
    values[REGISTER_IP] = ip;
    writer.u64(ABI_64);
    values.into_iter().for_each(|value| writer.u64(value));
}
