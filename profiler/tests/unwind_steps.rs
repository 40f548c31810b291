//! Steps real programs instruction by instruction and unwinds at every one: the callers must be those of a
//! shadow stack that only watches calls and returns.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod stepping;

use microscope_capture::EndReason;
use microscope_profiler::unwind::{RawFrame, SampledInput, StackPolicy, Unwinder};
use nix::sys::signal::Signal;
use stepping::{Stopped, Tracee, compile};

/// What a test steps through.
#[derive(Clone, Copy)]
struct Program<'a> {
    compiler: &'a str,
    file: &'a str,
    source: &'a str,
    flags: &'a [&'a str],
}

/// What stepping found.
#[derive(Debug, Default)]
struct Found {
    steps: usize,
    deepest: usize,
    signals: usize,
}

/// The callers, by watching instructions.
struct Shadow {
    /// Callers of the function that stopped itself; it does not return while stepped.
    outer: Vec<RawFrame>,
    /// Calls since: where the return address lies, and the caller.
    calls: Vec<(u64, RawFrame)>,
}

impl Shadow {
    /// The stack with the innermost frame at `ip`.
    fn stack(&self, ip: u64) -> Vec<RawFrame> {
        let calls = self.calls.iter().rev().map(|(_, frame)| *frame);
        [RawFrame::exact(ip)].into_iter().chain(calls).chain(self.outer.iter().copied()).collect()
    }

    /// A call leaves the address of the next instruction on the stack and goes elsewhere.
    fn after_step(&mut self, tracee: &Tracee, (old_ip, old_sp): (u64, u64), (ip, sp): (u64, u64)) {
        self.calls.retain(|(slot, _)| *slot >= sp);
        if sp == old_sp - 8 {
            let pushed = tracee.word(sp);
            if (old_ip + 2..=old_ip + 9).contains(&pushed) && ip != pushed {
                self.calls.push((sp, RawFrame::return_address(pushed)));
            }
        }
    }

    /// The kernel leaves the interrupted state and the address of the signal return.
    fn after_signal(&mut self, tracee: &Tracee, (ip, sp): (u64, u64), handler_sp: u64) {
        self.calls.push((sp - 1, RawFrame::exact(ip)));
        self.calls.push((handler_sp, RawFrame::return_address(tracee.word(handler_sp))));
    }
}

/// The instruction and stack pointers.
fn place(tracee: &Tracee) -> (u64, u64) {
    let registers = tracee.registers();
    (registers.ip().unwrap(), registers.sp().unwrap())
}

/// Walks the current state and fails unless the stack is exactly the expected one.
fn check_walk(unwinder: &mut Unwinder, tracee: &Tracee, expected: Option<&[RawFrame]>) -> Vec<RawFrame> {
    let registers = tracee.registers();
    let stack = tracee.memory(registers.sp().unwrap(), 32 * 1024);
    let input = SampledInput { registers, stack: &stack, stack_is_cut: true, user_chain: &[], thread: 1 };
    let mut frames = Vec::new();
    let end = unwinder.walk(&input, &tracee.maps, StackPolicy::Copy, &mut frames);
    let ip = registers.ip().unwrap();
    assert_eq!(end.reason, EndReason::Complete, "at {ip:#x}: {end:x?} {frames:x?}\nwanted {expected:x?}");
    if let Some(expected) = expected {
        assert_eq!(frames, expected, "at {ip:#x}: {frames:x?}\nwanted {expected:x?}");
    }
    frames
}

/// Compiles a program, steps from its first stop to its second, and checks the stack at every instruction.
fn check_every_instruction(program: Program<'_>) -> Found {
    let directory = tempfile::tempdir().unwrap();
    let path = compile(directory.path(), program.compiler, program.file, program.source, program.flags);
    let mut tracee = Tracee::start(&path);
    let mut unwinder = Unwinder::new();
    let outer = check_walk(&mut unwinder, &tracee, None).split_off(1);
    assert!(outer.len() >= 2, "main has callers: {outer:x?}");
    let mut shadow = Shadow { outer, calls: Vec::new() };
    let mut found = Found::default();
    let mut deliver = None;
    loop {
        let before = place(&tracee);
        let stopped = tracee.step(deliver);
        let after = place(&tracee);
        match (stopped, deliver.take()) {
            (Stopped::Signal(Signal::SIGSTOP), _) => break,
            (Stopped::Signal(signal), _) => {
                deliver = Some(signal);
                found.signals += 1;
                continue;
            }
            (Stopped::Stepped, Some(_)) => shadow.after_signal(&tracee, before, after.1),
            (Stopped::Stepped, None) => shadow.after_step(&tracee, before, after),
        }
        if !tracee.maps.holds(after.0) {
            tracee.read_maps();
        }
        let expected = shadow.stack(after.0);
        check_walk(&mut unwinder, &tracee, Some(&expected));
        found.steps += 1;
        found.deepest = found.deepest.max(expected.len());
    }
    println!("{}: {found:?}, {:?}", program.file, unwinder.counters());
    found
}

/// `stop()` for C: the signal is raised in the caller's own frame.
const STOP: &str = r#"
static inline __attribute__((always_inline)) void stop(void) {
    long pid, ignored;
    __asm__ volatile("syscall" : "=a"(pid) : "a"(39) : "rcx", "r11", "memory");
    __asm__ volatile("syscall; nop; nop" : "=a"(ignored) : "a"(62), "D"(pid), "S"(19) : "rcx", "r11", "memory");
}
"#;

/// Calls of many shapes: recursion, many saved registers, `alloca`, over-aligned frames, tail and indirect
/// calls, a library function.
const SHAPES: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <alloca.h>
volatile int sink;
__attribute__((noinline)) int leaf(int a) { return a * 3 + sink; }
__attribute__((noinline)) int recursive(int n) { return n ? recursive(n - 1) + leaf(n) : leaf(0); }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h) {
    int x = leaf(a) + leaf(b), y = leaf(c) * leaf(d), z = leaf(e) - leaf(f), w = leaf(g) ^ leaf(h);
    return leaf(x) + leaf(y) + leaf(z) + leaf(w) + x + y + z + w + a + b + c + d;
}
__attribute__((noinline)) int dynamic(int n) {
    char *bytes = alloca(n * 16 + 1);
    memset(bytes, n, n * 16);
    return leaf(bytes[n]);
}
__attribute__((noinline)) int aligned(int n) {
    _Alignas(64) volatile char bytes[64];
    bytes[n & 63] = n;
    return leaf(bytes[n & 63]) + ((size_t)bytes & 63);
}
__attribute__((noinline)) int aligned_dynamic(int n) {
    _Alignas(64) volatile char bytes[64];
    char *more = alloca(n * 8);
    more[0] = bytes[n] = n;
    return leaf(bytes[n]) + leaf(more[0]);
}
__attribute__((noinline)) int tail(int n) { return many(n, 1, 2, 3, 4, 5, 6, 7); }
__attribute__((noinline)) int big(int n) { volatile char bytes[5000]; bytes[n] = 1; return leaf(bytes[n]); }
int (*volatile indirect)(int) = recursive;
static int compare(const void *a, const void *b) { return leaf(*(int *)a) - leaf(*(int *)b); }
__attribute__((noinline)) int scenario(void) {
    int values[] = {5, 3, 1, 4}; char text[40];
    qsort(values, 4, sizeof *values, compare);
    sink = snprintf(text, sizeof text, "%d %s", values[0], "text");
    return indirect(6) + tail(1) + dynamic(3) + aligned(4) + aligned_dynamic(5) + big(9);
}
int main(void) { stop(); sink = scenario(); stop(); return 0; }
"#;

fn check_shapes(file: &str, flags: &[&str]) {
    let source = format!("{STOP}{SHAPES}");
    let found = check_every_instruction(Program { compiler: "gcc", file, source: &source, flags });
    assert!(found.steps > 1000 && found.deepest > 8, "{found:?}");
}

#[test]
fn every_instruction_of_optimized_code_without_frame_pointers() {
    check_shapes("o2.c", &["-O2", "-fomit-frame-pointer"]);
}

#[test]
fn every_instruction_of_unoptimized_code() {
    check_shapes("o0.c", &["-O0"]);
}

#[test]
fn every_instruction_of_code_with_frame_pointers() {
    check_shapes("fp.c", &["-O2", "-fno-omit-frame-pointer"]);
}

#[test]
fn every_instruction_of_a_fixed_address_program() {
    check_shapes("fixed.c", &["-O2", "-no-pie", "-fno-pie"]);
}

#[test]
fn every_instruction_of_a_static_program() {
    check_shapes("static.c", &["-O1", "-static"]);
}

#[test]
fn every_instruction_of_a_static_pie_program() {
    check_shapes("staticpie.c", &["-Os", "-static-pie"]);
}

#[test]
fn every_instruction_with_eager_binding_and_branch_tracking() {
    check_shapes("now.c", &["-O3", "-Wl,-z,now", "-fcf-protection=full", "-mavx2"]);
}

#[test]
fn every_instruction_of_a_program_with_debug_frame_only() {
    let flags = ["-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];
    check_shapes("debugframe.c", &flags);
}

#[test]
fn every_instruction_without_a_search_table() {
    check_shapes("nohdr.c", &["-O2", "-Wl,--no-eh-frame-hdr"]);
}
