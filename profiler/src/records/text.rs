//! Records as lines of text, for tests: one line each, its time after `@`.
//!
//! ```text
//! fork 10 11 @5                     process 10 forks process 11
//! thread 10 12 @5                   process 10 begins thread 12
//! exit 10/12 @5
//! exec 10 program @5
//! name 10/12 worker @5
//! mmap 10 0x1000..0x2000 /a @5      may add off=0x1000, id=abcd (build ID), ino=7, data;
//!                                   a ~ in a path is a space
//! lost 3 @5
//! sample 10/12 0x1234 @5
//! output 10/12 @5
//! ```
#![allow(clippy::unwrap_used, reason = "tests")]

use microscope_capture::CpuMode;

use super::layout::{Layout, Layouts, Role, sample_type as bit};
use super::*;

/// A sampler with every field a recording asks for.
pub(crate) const SAMPLER: Layout = Layout {
    event: 1,
    role: Role::Sampler,
    sample_type: bit::IDENTIFIER
        | bit::IP
        | bit::TID
        | bit::TIME
        | bit::CPU
        | bit::PERIOD
        | bit::CALLCHAIN
        | bit::REGS_USER
        | bit::STACK_USER,
    user_registers: crate::registers::PERF_REGISTER_MASK,
};

/// An event whose records tell of mappings and tasks.
pub(crate) const SIDE_BAND: Layout = Layout { event: 2, role: Role::SideBand, user_registers: 0, ..SAMPLER };

/// An event that a program writes through.
pub(crate) const OUTPUT: Layout = Layout {
    event: 3,
    role: Role::Output,
    sample_type: bit::IDENTIFIER | bit::TID | bit::TIME | bit::CPU | bit::RAW,
    user_registers: 0,
};

/// The layouts of events 1 to 3: a sampler, a side-band event, an output.
pub(crate) fn layouts() -> Layouts {
    Layouts::new([SAMPLER, SIDE_BAND, OUTPUT]).unwrap()
}

/// The bytes of every line.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        write_line(line, &mut bytes);
    }
    bytes
}

/// The time of a line.
pub(crate) fn time_of(line: &str) -> u64 {
    line.rsplit_once('@').unwrap().1.trim().parse().unwrap()
}

fn number(text: &str) -> u64 {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16)).unwrap()
}

fn id(text: &str) -> u32 {
    text.parse().unwrap()
}

/// `10/12` is a process and its thread, `10` its first thread.
fn task_ids(text: &str) -> (u32, u32) {
    let (pid, tid) = text.split_once('/').unwrap_or((text, text));
    (id(pid), id(tid))
}

fn write_line(line: &str, bytes: &mut Vec<u8>) {
    let time_ns = time_of(line);
    let words: Vec<&str> = line.rsplit_once('@').unwrap().0.split_whitespace().collect();
    let (pid, tid) = if words[0] == "lost" { (0, 0) } else { task_ids(words[1]) };
    let (layout, body) = body(&words, pid, tid);
    let stamp = Stamp { event: layout.event, pid, tid, time_ns, cpu: 0 };
    encode(&Record { stamp, body }, &layout, bytes);
}

fn body<'a>(words: &[&'a str], pid: u32, tid: u32) -> (Layout, Body<'a>) {
    let body = match words[0] {
        "fork" | "thread" => Body::Fork(fork(words, pid)),
        "exit" => Body::Exit(Task { pid, tid, parent_pid: 1, parent_tid: 1 }),
        "exec" | "name" => {
            Body::Name(NewName { pid, tid, is_exec: words[0] == "exec", name: words[2].as_bytes() })
        }
        "mmap" => Body::Mapping(mapping(words, pid, tid)),
        "lost" => Body::Lost(Lost { count: number(words[1]), samples_only: false }),
        "sample" => return (SAMPLER, Body::Sample(sample(number(words[2])))),
        "output" => return (OUTPUT, Body::Output(b"attached")),
        other => panic!("no record is called {other}"),
    };
    (SIDE_BAND, body)
}

fn fork(words: &[&str], parent_pid: u32) -> Task {
    let tid = id(words[2]);
    let pid = if words[0] == "fork" { tid } else { parent_pid };
    Task { pid, tid, parent_pid, parent_tid: parent_pid }
}

fn mapping<'a>(words: &[&'a str], pid: u32, tid: u32) -> NewMapping<'a> {
    let (start, end) = words[2].split_once("..").unwrap();
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let evidence = match (option("id="), option("ino=")) {
        (Some(id), _) => build_id(id),
        (None, Some(inode)) => Evidence::Inode(FileKey { inode: number(inode), ..FileKey::default() }),
        (None, None) => Evidence::None,
    };
    NewMapping {
        pid,
        tid,
        start_address: number(start),
        length_bytes: number(end) - number(start),
        file_offset: option("off=").map_or(0, number),
        evidence,
        is_executable: !words.contains(&"data"),
        path: words[3].replace('~', " ").leak().as_bytes(),
    }
}

fn build_id(hex: &str) -> Evidence {
    let mut bytes = [0; 20];
    for (index, byte) in bytes.iter_mut().enumerate().take(hex.len() / 2) {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).unwrap();
    }
    Evidence::BuildId { bytes, length: (hex.len() / 2) as u8 }
}

fn sample(ip: u64) -> Sample<'static> {
    let (kernel_chain, user_chain) = (Words::default(), Words::default());
    Sample { ip, mode: CpuMode::User, period: 1, kernel_chain, user_chain, user: None, raw: &[] }
}
