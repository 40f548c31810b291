//! Steps real programs instruction by instruction and unwinds at every one: the callers must be those of a
//! shadow stack that only watches calls and returns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod stepping;

use microscope_capture::EndReason;
use microscope_profiler::unwind::{RawFrame, SampledInput, StackPolicy, Unwinder, WalkEnd};
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
    /// Stacks that ended, typed, at code without rules.
    cut: usize,
    /// Stacks while libgcc transferred control: it overwrites what its own frames saved, so for some
    /// instructions there is no one true stack.
    rewritten: usize,
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

/// Walks the current state.
fn walk(unwinder: &mut Unwinder, tracee: &Tracee) -> (Vec<RawFrame>, WalkEnd) {
    let registers = tracee.registers();
    let stack = tracee.memory(registers.sp().unwrap(), 32 * 1024);
    let input = SampledInput { registers, stack: &stack, stack_is_cut: true, user_chain: &[] };
    let mut frames = Vec::new();
    let end = unwinder.walk(&input, &tracee.maps, StackPolicy::Copy, &mut frames);
    (frames, end)
}

/// Compiles a program, steps from its first stop to its second, and checks the stack at every instruction.
fn check_every_instruction(program: Program<'_>) -> Found {
    let directory = tempfile::tempdir().unwrap();
    let path = compile(directory.path(), program.compiler, program.file, program.source, program.flags);
    let mut tracee = Tracee::start(&path);
    let mut unwinder = Unwinder::new();
    let (mut outer, end) = walk(&mut unwinder, &tracee);
    assert!(outer.len() > 2 && end.reason == EndReason::Complete, "main has callers: {end:x?} {outer:x?}");
    outer.remove(0);
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
        let (frames, end) = walk(&mut unwinder, &tracee);
        let difference = || format!("{end:x?}\nfound  {frames:x?}\nwanted {expected:x?}");
        if frames == expected && end.reason == EndReason::Complete {
        } else if end.reason == EndReason::NoRule && expected.starts_with(&frames) {
            found.cut += 1;
        } else if tracee.maps.is_in(after.0, "libgcc") {
            found.rewritten += 1;
        } else {
            panic!("{}", difference());
        }
        found.steps += 1;
        found.deepest = found.deepest.max(expected.len());
    }
    println!("{}: {found:?}, {:?}", program.file, unwinder.counters());
    found
}

/// The same for a program all of whose code has rules.
fn check_every_instruction_whole(program: Program<'_>) -> Found {
    let found = check_every_instruction(program);
    assert!(found.cut == 0 && found.rewritten * 50 <= found.steps, "{found:?}");
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
    let found = check_every_instruction_whole(Program { compiler: "gcc", file, source: &source, flags });
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

const SIGNALS: &str = r#"
#include <signal.h>
#include <unistd.h>
volatile int sink;
__attribute__((noinline)) int leaf(int a) { return a * 3 + sink; }
static void handler(int signal) { sink += leaf(signal); }
__attribute__((noinline)) int interrupted(int n) {
    long ignored;
    int x = leaf(n);
    __asm__ volatile("syscall" : "=a"(ignored) : "a"(62), "D"(getpid()), "S"(SIGUSR1) : "rcx", "r11", "memory");
    return x + leaf(n + 1);
}
int main(void) { signal(SIGUSR1, handler); stop(); sink = interrupted(4); stop(); return 0; }
"#;

#[test]
fn every_instruction_of_a_signal_handler_and_what_it_interrupted() {
    let source = format!("{STOP}{SIGNALS}");
    for (file, flags) in [("signal.c", ["-O2", "-g"]), ("signalstatic.c", ["-O0", "-static"])] {
        let program = Program { compiler: "gcc", file, source: &source, flags: &flags };
        assert_eq!(check_every_instruction_whole(program).signals, 1);
    }
}

const EXCEPTIONS: &str = r#"
#include <stdexcept>
#include <string>
volatile int sink;
struct Guard { int n; ~Guard() { sink += n; } };
__attribute__((noinline)) int thrower(int n) {
    Guard guard{n};
    if (n == 0) throw std::runtime_error("deep");
    return thrower(n - 1) + guard.n;
}
__attribute__((noinline)) int catcher(int n) {
    try { return thrower(n); } catch (const std::runtime_error &error) { return error.what()[0]; }
}
int main() { stop(); sink = catcher(3); stop(); return 0; }
"#;

#[test]
fn every_instruction_of_an_exception_in_flight() {
    let source = format!("{STOP}{EXCEPTIONS}");
    let flags = &["-O2", "-Wl,-z,now"];
    let found = check_every_instruction_whole(Program {
        compiler: "g++",
        file: "exception.cpp",
        source: &source,
        flags,
    });
    assert!(found.steps > 10_000, "{found:?}");
}

const RUST: &str = r#"
use std::hint::black_box;
#[inline(always)]
fn stop() {
    unsafe {
        let pid: u64;
        std::arch::asm!("syscall", inout("rax") 39u64 => pid, out("rcx") _, out("r11") _);
        std::arch::asm!("syscall", "nop", "nop", inout("rax") 62u64 => _, in("rdi") pid, in("rsi") 19u64, out("rcx") _, out("r11") _);
    }
}
#[inline(never)]
fn sorted(n: u64) -> Vec<u64> {
    let mut values: Vec<u64> = (0..n).map(|value| value * 7919 % 101).collect();
    values.sort_by(|a, b| black_box(b).cmp(black_box(a)));
    values
}
#[inline(never)]
fn dynamic(calls: &[Box<dyn Fn(u64) -> u64>]) -> u64 { calls.iter().map(|call| call(3)).sum() }
#[inline(never)]
fn scenario() -> usize {
    let calls: Vec<Box<dyn Fn(u64) -> u64>> = vec![Box::new(|x| x + 1), Box::new(|x| black_box(x) * 2)];
    let text = format!("{:?} {:.3}", sorted(30), dynamic(&calls) as f64);
    let caught = std::panic::catch_unwind(|| if black_box(true) { std::panic::resume_unwind(Box::new(1)) });
    text.len() + usize::from(caught.is_err())
}
fn main() { stop(); black_box(scenario()); stop(); }
"#;

#[test]
fn every_instruction_of_optimized_rust() {
    let flags = &["-Copt-level=3", "-Cforce-frame-pointers=no"];
    let found = check_every_instruction_whole(Program {
        compiler: "rustc",
        file: "optimized.rs",
        source: RUST,
        flags,
    });
    assert!(found.steps > 10_000, "{found:?}");
}

#[test]
fn every_instruction_of_unoptimized_rust() {
    let found = check_every_instruction_whole(Program {
        compiler: "rustc",
        file: "debug.rs",
        source: RUST,
        flags: &[],
    });
    assert!(found.steps > 10_000, "{found:?}");
}

const ASSEMBLY: &str = r#"
__asm__(
".text\n"
".globl by_hand\n.type by_hand, @function\nby_hand:\n.cfi_startproc\n"
"  push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
"  mov %rsp, %rbx\n.cfi_def_cfa_register rbx\n"          // the frame hangs on rbx
"  and $-128, %rsp\n  sub $256, %rsp\n"
"  call inner\n"
"  mov %rbx, %rsp\n.cfi_def_cfa_register rsp\n"
"  pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx\n  ret\n.cfi_endproc\n"
".type inner, @function\ninner:\n.cfi_startproc\n"
"  push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset r12, -16\n"
"  lea 16(%rsp), %r12\n.cfi_def_cfa r12, 0\n"            // and here on r12
"  push $7\n  call leaf_by_hand\n  pop %rax\n"
"  lea -16(%r12), %rsp\n.cfi_def_cfa rsp, 16\n"
"  pop %r12\n.cfi_def_cfa_offset 8\n.cfi_restore r12\n  ret\n.cfi_endproc\n"
".type leaf_by_hand, @function\nleaf_by_hand:\n.cfi_startproc\n"
"  mov (%rsp), %rcx\n.cfi_register rip, rcx\n  nop\n.cfi_offset rip, -8\n" // the return address in a register
"  mov %rbx, %rdx\n.cfi_remember_state\n.cfi_escape 0x2e, 0x10\n" // DW_CFA_GNU_args_size
"  push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n  xor %ebp, %ebp\n  pop %rbp\n"
".cfi_restore_state\n  ret\n.cfi_endproc\n"
);
extern void by_hand(void);
int main(void) { stop(); by_hand(); stop(); return 0; }
"#;

#[test]
fn every_instruction_of_assembly_that_uses_rare_rules() {
    let source = format!("{STOP}{ASSEMBLY}");
    let found = check_every_instruction_whole(Program {
        compiler: "gcc",
        file: "asm.c",
        source: &source,
        flags: &["-O1"],
    });
    assert!(found.steps > 20, "{found:?}");
}

const LIBRARY: &str = r#"
#include <dlfcn.h>
#include <time.h>
#include <stdio.h>
volatile double sink;
int main(int count, char **arguments) {
    struct timespec now;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*function)(double) = (double (*)(double))dlsym(library, "lgamma");
    stop();
    clock_gettime(CLOCK_MONOTONIC, &now);
    sink = function(now.tv_nsec);
    library = dlopen("libz.so.1", RTLD_NOW);
    if (library) dlclose(library);
    stop();
    return 0;
}
"#;

#[test]
fn every_instruction_of_the_vdso_and_of_loading_a_library() {
    let source = format!("{STOP}{LIBRARY}");
    let flags = &["-O2", "-Wl,-z,lazy"];
    let found =
        check_every_instruction(Program { compiler: "gcc", file: "library.c", source: &source, flags });
    // The start files' few functions have no call-frame information.
    assert!(found.steps > 10_000 && found.cut * 200 < found.steps, "{found:?}");
}

/// Where rustc keeps `ld.lld`, for gcc's `-B`.
fn rust_lld() -> Option<String> {
    let output = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let directory = format!("{}/lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld", sysroot.trim());
    std::path::Path::new(&directory).join("ld.lld").exists().then_some(directory)
}

#[test]
fn every_instruction_of_a_program_linked_by_lld() {
    let Some(directory) = rust_lld() else {
        println!("skipped: rustc's sysroot has no ld.lld");
        return;
    };
    // lld describes no PLT stubs: lazily bound calls go through code without rules.
    let place = format!("-B{directory}");
    let flags = ["-O2", "-fuse-ld=lld", &place, "-Wl,-z,lazy"];
    check_shapes("lld.c", &flags);
    check_shapes("lldibt.c", &[&flags[..], &["-Wl,-z,force-ibt", "-fcf-protection=full"]].concat());
}

#[test]
fn every_instruction_of_a_program_linked_by_mold() {
    if std::process::Command::new("mold").arg("--version").output().is_err() {
        println!("skipped: no mold on this machine");
        return;
    }
    check_shapes("mold.c", &["-O2", "-fuse-ld=mold", "-Wl,-z,lazy"]);
}
