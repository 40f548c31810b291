//! From a [`Record`] to the bytes a kernel would write: what the simulator and tests fill rings with.
//!
//! The inverse of [`decode`](super::decode) for everything a record keeps.

use microscope_capture::CpuMode;

use super::decode::{HEADER_BYTES, record_type as of};
use super::layout::{Layout, sample_type as bit};
use super::record::*;
use super::side_band::misc;

/// Appends the bytes of `record`, written by the event of `layout`.
pub fn encode(record: &Record<'_>, layout: &Layout, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend([0; HEADER_BYTES]);
    let (kind, misc) = match &record.body {
        Body::Sample(sample) => (of::SAMPLE, write_sample(&record.stamp, sample, layout, bytes)),
        Body::Output(raw) => (of::SAMPLE, write_output(&record.stamp, raw, layout, bytes)),
        body => {
            let written = write_body(body, record.stamp.time_ns, bytes);
            write_trailer(&record.stamp, layout, bytes);
            written
        }
    };
    let size = u16::try_from(bytes.len() - start).unwrap_or(!7);
    bytes.truncate(start + usize::from(size));
    let header = (u64::from(kind) | u64::from(misc) << 32 | u64::from(size) << 48).to_ne_bytes();
    if let Some(place) = bytes.get_mut(start..start + HEADER_BYTES) {
        place.copy_from_slice(&header);
    }
}

fn words(bytes: &mut Vec<u8>, values: &[u64]) {
    bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
}

fn pair(bytes: &mut Vec<u8>, first: u32, second: u32) {
    bytes.extend([first, second].iter().flat_map(|value| value.to_ne_bytes()));
}

/// A text ends with a zero and fills its last word with zeros.
fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend(text);
    bytes.extend(std::iter::repeat_n(0, 8 - text.len() % 8));
}

fn write_sample(stamp: &Stamp, sample: &Sample<'_>, layout: &Layout, bytes: &mut Vec<u8>) -> u16 {
    write_sample_head(stamp, sample.ip, sample.period, layout, bytes);
    if layout.has(bit::CALLCHAIN) {
        write_chain(sample, bytes);
    }
    if layout.has(bit::RAW) {
        write_raw(sample.raw, bytes);
    }
    if layout.has(bit::REGS_USER) {
        write_registers(sample, layout, bytes);
    }
    if layout.has(bit::STACK_USER) {
        write_stack(sample, bytes);
    }
    match sample.mode {
        CpuMode::Kernel => 1,
        CpuMode::User => 2,
        CpuMode::Unknown => 0,
    }
}

fn write_output(stamp: &Stamp, raw: &[u8], layout: &Layout, bytes: &mut Vec<u8>) -> u16 {
    write_sample_head(stamp, 0, 1, layout, bytes);
    write_raw(raw, bytes);
    1
}

fn write_sample_head(stamp: &Stamp, ip: u64, period: u64, layout: &Layout, bytes: &mut Vec<u8>) {
    words(bytes, &[stamp.event]);
    if layout.has(bit::IP) {
        words(bytes, &[ip]);
    }
    pair(bytes, stamp.pid, stamp.tid);
    words(bytes, &[stamp.time_ns]);
    for field in [bit::ADDR, bit::ID, bit::STREAM_ID] {
        if layout.has(field) {
            words(bytes, &[0]);
        }
    }
    pair(bytes, stamp.cpu, 0);
    if layout.has(bit::PERIOD) {
        words(bytes, &[period]);
    }
}

fn write_chain(sample: &Sample<'_>, bytes: &mut Vec<u8>) {
    let contexts = [(sample.kernel_chain, 128_u64), (sample.user_chain, 512)];
    let filled = || contexts.iter().filter(|(frames, _)| !frames.is_empty());
    words(bytes, &[filled().map(|(frames, _)| frames.len() as u64 + 1).sum()]);
    for (frames, context) in filled() {
        words(bytes, &[context.wrapping_neg()]);
        bytes.extend(frames.iter().flat_map(u64::to_ne_bytes));
    }
}

/// The length counts the padding that brings it and the bytes to whole words.
fn write_raw(raw: &[u8], bytes: &mut Vec<u8>) {
    let padded = (raw.len() + 4).next_multiple_of(8) - 4;
    bytes.extend(u32::try_from(padded).unwrap_or(u32::MAX).to_ne_bytes());
    bytes.extend(raw);
    bytes.extend(std::iter::repeat_n(0, padded - raw.len()));
}

fn write_registers(sample: &Sample<'_>, layout: &Layout, bytes: &mut Vec<u8>) {
    let Some(user) = &sample.user else { return words(bytes, &[0]) };
    words(bytes, &[if user.is_32_bit { 1 } else { 2 }]);
    bytes.extend(user.registers.to_perf(layout.user_registers).flat_map(u64::to_ne_bytes));
}

fn write_stack(sample: &Sample<'_>, bytes: &mut Vec<u8>) {
    let Some(user) = sample.user.as_ref().filter(|user| !user.stack.is_empty()) else {
        return words(bytes, &[0]);
    };
    let valid = user.stack.len();
    let room = if user.stack_is_cut { valid } else { (valid + 1).next_multiple_of(8) };
    words(bytes, &[room as u64]);
    bytes.extend(user.stack);
    bytes.extend(std::iter::repeat_n(0xAA, room - valid));
    words(bytes, &[valid as u64]);
}

fn write_trailer(stamp: &Stamp, layout: &Layout, bytes: &mut Vec<u8>) {
    pair(bytes, stamp.pid, stamp.tid);
    words(bytes, &[stamp.time_ns]);
    for field in [bit::ID, bit::STREAM_ID] {
        if layout.has(field) {
            words(bytes, &[stamp.event]);
        }
    }
    pair(bytes, stamp.cpu, 0);
    words(bytes, &[stamp.event]);
}

/// Writes what comes before the trailer; gives the record's type and its `misc` bits.
fn write_body(body: &Body<'_>, time_ns: u64, bytes: &mut Vec<u8>) -> (u32, u16) {
    match body {
        Body::Mapping(mapping) => (of::MMAP2, write_mapping(mapping, bytes)),
        Body::Name(name) => {
            pair(bytes, name.pid, name.tid);
            text(bytes, name.name);
            (of::COMM, if name.is_exec { misc::COMM_EXEC } else { 0 })
        }
        Body::Fork(task) => (of::FORK, write_task(task, time_ns, bytes)),
        Body::Exit(task) => (of::EXIT, write_task(task, time_ns, bytes)),
        Body::Lost(lost) if lost.samples_only => {
            words(bytes, &[lost.count]);
            (of::LOST_SAMPLES, 0)
        }
        Body::Lost(lost) => {
            words(bytes, &[0, lost.count]);
            (of::LOST, 0)
        }
        Body::Throttle(throttle) => {
            words(bytes, &[time_ns, 0, 0]);
            (if throttle.is_stopped { of::THROTTLE } else { of::UNTHROTTLE }, 0)
        }
        Body::Switch(switch) => write_switch(switch, bytes),
        Body::KernelSymbol(symbol) => {
            words(bytes, &[symbol.address]);
            pair(bytes, symbol.length_bytes, 1 | u32::from(symbol.is_gone) << 16);
            text(bytes, symbol.name);
            (of::KSYMBOL, 0)
        }
        Body::Namespaces(namespaces) => {
            pair(bytes, namespaces.pid, namespaces.tid);
            words(bytes, &[namespaces.links.len() as u64 / 2]);
            bytes.extend(namespaces.links.iter().flat_map(u64::to_ne_bytes));
            (of::NAMESPACES, 0)
        }
        Body::Sample(_) | Body::Output(_) => (of::SAMPLE, 0),
    }
}

fn write_mapping(mapping: &NewMapping<'_>, bytes: &mut Vec<u8>) -> u16 {
    pair(bytes, mapping.pid, mapping.tid);
    words(bytes, &[mapping.start_address, mapping.length_bytes, mapping.file_offset]);
    let misc = match mapping.evidence {
        Evidence::BuildId { bytes: id, length } => {
            bytes.extend([length, 0, 0, 0]);
            bytes.extend(id);
            misc::MMAP_BUILD_ID
        }
        Evidence::Inode(key) => {
            pair(bytes, key.major, key.minor);
            words(bytes, &[key.inode, key.generation]);
            0
        }
        Evidence::None => {
            bytes.extend([0; 24]);
            0
        }
    };
    pair(bytes, if mapping.is_executable { 5 } else { 3 }, 2);
    text(bytes, mapping.path);
    misc
}

fn write_task(task: &Task, time_ns: u64, bytes: &mut Vec<u8>) -> u16 {
    pair(bytes, task.pid, task.parent_pid);
    pair(bytes, task.tid, task.parent_tid);
    words(bytes, &[time_ns]);
    0
}

fn write_switch(switch: &Switch, bytes: &mut Vec<u8>) -> (u32, u16) {
    let out = if switch.is_out { misc::SWITCH_OUT } else { 0 };
    let preempted = if switch.is_preempted { misc::SWITCH_PREEMPT } else { 0 };
    match switch.other {
        Some((pid, tid)) => {
            pair(bytes, pid, tid);
            (of::SWITCH_CPU_WIDE, out | preempted)
        }
        None => (of::SWITCH, out | preempted),
    }
}
