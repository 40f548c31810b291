//! The fields of a sample, in the order the kernel writes them (`perf_output_sample`).

use microscope_capture::CpuMode;

use super::bytes::{Cursor, Words};
use super::decode::Header;
use super::layout::{Layout, sample_type as bit};
use super::record::{Sample, Stamp, UserState};
use crate::registers::Registers;

/// Context markers stand in a call chain before the frames of their context; they are the highest numbers.
const CONTEXT_FIRST: u64 = 0_u64.wrapping_sub(4095);
const CONTEXT_KERNEL: u64 = 0_u64.wrapping_sub(128);
const CONTEXT_USER: u64 = 0_u64.wrapping_sub(512);

/// `PERF_SAMPLE_REGS_ABI_*`.
const ABI_NONE: u64 = 0;
const ABI_32: u64 = 1;

pub(crate) fn decode_sample<'a>(
    header: Header,
    fields: &'a [u8],
    layout: &Layout,
) -> Option<(Stamp, Sample<'a>)> {
    let mut cursor = Cursor::new(fields);
    let mode = cpu_mode(header.misc);
    let event = cursor.u64()?;
    let ip = word_if(&mut cursor, layout, bit::IP)?;
    let (pid, tid) = cursor.pair()?;
    let time_ns = cursor.u64()?;
    for field in [bit::ADDR, bit::ID, bit::STREAM_ID] {
        word_if(&mut cursor, layout, field)?;
    }
    let (cpu, _reserved) = cursor.pair()?;
    let period = word_if(&mut cursor, layout, bit::PERIOD)?;
    let chain = if layout.has(bit::CALLCHAIN) { chain(&mut cursor)? } else { Words::default() };
    let raw = if layout.has(bit::RAW) { raw(&mut cursor)? } else { &[] };
    let registers = if layout.has(bit::REGS_USER) { registers(&mut cursor, layout)? } else { None };
    let stack = if layout.has(bit::STACK_USER) { stack(&mut cursor)? } else { Stack::default() };
    let (kernel_chain, user_chain) = split_chain(chain, mode);
    let user = registers.map(|(is_32_bit, registers)| UserState {
        is_32_bit,
        registers,
        stack: stack.valid,
        stack_is_cut: stack.is_cut,
    });
    let sample = Sample { ip, mode, period, kernel_chain, user_chain, user, raw };
    Some((Stamp { event, pid, tid, time_ns, cpu }, sample))
}

fn word_if(cursor: &mut Cursor<'_>, layout: &Layout, field: u64) -> Option<u64> {
    if layout.has(field) { cursor.u64() } else { Some(0) }
}

const fn cpu_mode(misc: u16) -> CpuMode {
    match misc & 7 {
        1 => CpuMode::Kernel,
        2 => CpuMode::User,
        _ => CpuMode::Unknown,
    }
}

fn chain<'a>(cursor: &mut Cursor<'a>) -> Option<Words<'a>> {
    let count = cursor.u64()?;
    cursor.words(count)
}

fn raw<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = cursor.u32()?;
    cursor.take(usize::try_from(length).ok()?)
}

/// The registers, if the thread has a user side; whether it runs 32-bit code before them.
#[expect(clippy::option_option, reason = "the outer one says that the record is short")]
fn registers(cursor: &mut Cursor<'_>, layout: &Layout) -> Option<Option<(bool, Registers)>> {
    let abi = cursor.u64()?;
    if abi == ABI_NONE {
        return Some(None);
    }
    let count = layout.user_registers.count_ones();
    let words = cursor.words(u64::from(count))?;
    let mut values = [0; 64];
    for (value, word) in values.iter_mut().zip(words.iter()) {
        *value = word;
    }
    let registers = Registers::from_perf(layout.user_registers, values.get(..count as usize)?)?;
    Some(Some((abi == ABI_32, registers)))
}

#[derive(Default)]
struct Stack<'a> {
    valid: &'a [u8],
    is_cut: bool,
}

/// ```text
/// size u64 | size bytes, of which the first `valid` were copied | valid u64, only when size is not 0
/// ```
fn stack<'a>(cursor: &mut Cursor<'a>) -> Option<Stack<'a>> {
    let size = usize::try_from(cursor.u64()?).ok()?;
    if size == 0 {
        return Some(Stack::default());
    }
    let bytes = cursor.take(size)?;
    let claimed = usize::try_from(cursor.u64()?).unwrap_or(usize::MAX);
    Some(Stack { valid: &bytes[..claimed.min(size)], is_cut: claimed >= size })
}

/// Kernel and user frames, without the markers between them.
fn split_chain(chain: Words<'_>, mode: CpuMode) -> (Words<'_>, Words<'_>) {
    let (mut kernel, mut user) = (Words::default(), Words::default());
    let mut rest = chain;
    let mut context = match mode {
        CpuMode::Kernel => CONTEXT_KERNEL,
        CpuMode::User => CONTEXT_USER,
        CpuMode::Unknown => 0,
    };
    loop {
        let marker = rest.iter().position(|word| word >= CONTEXT_FIRST);
        let (frames, from_marker) = rest.split(marker.unwrap_or(rest.len()));
        match context {
            CONTEXT_KERNEL if kernel.is_empty() => kernel = frames,
            CONTEXT_USER if user.is_empty() => user = frames,
            _ => {}
        }
        let Some(next) = from_marker.get(0) else { return (kernel, user) };
        context = next;
        rest = from_marker.split(1).1;
    }
}
