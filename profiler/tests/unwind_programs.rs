//! How stacks of real programs end, and what each stack policy makes of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod stepping;

use microscope_capture::EndReason;
use microscope_profiler::registers::{RIP, Registers};
use microscope_profiler::unwind::{RawFrame, RawFrameKind, SampledInput, StackPolicy, Unwinder, WalkEnd};
use stepping::{Tracee, compile};

/// A program stopped in its `stop()`, and what a sample there would hold.
struct Sample {
    tracee: Tracee,
    registers: Registers,
    stack: Vec<u8>,
    kernel_chain: Vec<u64>,
}

const STOP: &str = r#"
#include <stdlib.h>
volatile int sink;
static inline __attribute__((always_inline)) void stop(void) {
    long pid, ignored;
    __asm__ volatile("syscall" : "=a"(pid) : "a"(39) : "rcx", "r11", "memory");
    __asm__ volatile("syscall; nop; nop" : "=a"(ignored) : "a"(62), "D"(pid), "S"(19) : "rcx", "r11", "memory");
}
"#;

impl Sample {
    fn of(file: &str, source: &str, flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = compile(directory.path(), "gcc", file, &format!("{STOP}{source}"), flags);
        Self::taken(Tracee::start(&program), 16 * 1024)
    }

    fn taken(tracee: Tracee, stack_bytes: usize) -> Self {
        let registers = tracee.registers();
        let stack = tracee.memory(registers.sp().unwrap(), stack_bytes);
        let mut kernel_chain = vec![registers.ip().unwrap()];
        let mut record = registers.bp().unwrap();
        // What perf_callchain_user does.
        while let [next, return_address] = [tracee.word(record), tracee.word(record.wrapping_add(8))]
            && return_address != 0
            && kernel_chain.len() < 127
        {
            kernel_chain.push(return_address);
            record = next;
        }
        Self { tracee, registers, stack, kernel_chain }
    }

    fn walk(&self, policy: StackPolicy) -> (Vec<RawFrame>, WalkEnd) {
        let input = SampledInput {
            registers: self.registers,
            stack: &self.stack,
            stack_is_cut: true,
            user_chain: &self.kernel_chain,
        };
        let mut frames = Vec::new();
        let end = Unwinder::new().walk(&input, &self.tracee.maps, policy, &mut frames);
        (frames, end)
    }

    /// The word of the sample's stack that holds a value.
    fn replace_word(&mut self, value: u64, by: u64) {
        let words = self.stack.chunks_exact_mut(8);
        let mut found = words.filter(|word| **word == value.to_le_bytes());
        found.next().unwrap().copy_from_slice(&by.to_le_bytes());
    }
}

#[test]
fn a_threads_stack_ends_at_its_start_routine() {
    let source = r#"
        #include <pthread.h>
        // Another thread may take the signal, and this one run on for a moment.
        __attribute__((noinline)) void deeper(void) { stop(); while (!sink) {} }
        void *routine(void *argument) { deeper(); return argument; }
        int main(void) { pthread_t thread; pthread_create(&thread, 0, routine, 0); pthread_join(thread, 0); }
    "#;
    let directory = tempfile::tempdir().unwrap();
    let source = format!("{STOP}{source}");
    let program = compile(directory.path(), "gcc", "thread.c", &source, &["-O1", "-pthread"]);
    let mut tracee = Tracee::start_where_stopped(&program);
    tracee.switch_to_other_thread();
    let sample = Sample::taken(tracee, 16 * 1024);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!((end.reason, frames.len()), (EndReason::Complete, 4), "{end:x?} {frames:x?}");
}

#[test]
fn a_stack_before_main_ends_at_the_loaders_entry() {
    let source = r#"
        __attribute__((constructor)) void early(void) { stop(); sink++; }
        int main(void) { return 0; }
    "#;
    let sample = Sample::of("constructor.c", source, &["-O1"]);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!(end.reason, EndReason::Complete, "{end:x?} {frames:x?}");
}

const ALTERNATE: &str = r#"
    #include <signal.h>
    #include <string.h>
    __attribute__((noinline)) void handler(int signal) { stop(); sink = signal; }
    __attribute__((noinline)) int interrupted(int n) { raise(SIGUSR1); return n + sink; }
    int main(void) {
        static char elsewhere[65536];
        char *below = (char *)__builtin_frame_address(0) - 96 * 1024;
        stack_t stack = {.ss_sp = PLACE, .ss_size = sizeof elsewhere};
        memset(stack.ss_sp, 0, stack.ss_size);
        struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
        sigaltstack(&stack, 0); sigaction(SIGUSR1, &action, 0);
        return interrupted(3);
    }
"#;

#[test]
fn a_handler_on_its_own_stack_is_whole_when_both_stacks_were_copied() {
    // The alternate stack lies a little below the main one, so that one copy holds both.
    let source = ALTERNATE.replace("PLACE", "below");
    let mut sample = Sample::of("below.c", &source, &["-O1"]);
    sample = Sample::taken(sample.tracee, 128 * 1024);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!(end.reason, EndReason::Complete, "{end:x?} {frames:x?}");
    let exact = frames.iter().filter(|frame| frame.kind == RawFrameKind::Exact).count();
    assert_eq!(exact, 2, "the innermost frame and the interrupted one: {frames:x?}");
}

#[test]
fn a_handler_on_a_stack_elsewhere_keeps_what_it_interrupted() {
    let source = ALTERNATE.replace("PLACE", "elsewhere");
    let sample = Sample::of("elsewhere.c", &source, &["-O1"]);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!(end.reason, EndReason::StackBytes, "{end:x?} {frames:x?}");
    // The handler, the signal return, the interrupted instruction.
    assert_eq!(frames.last().unwrap().kind, RawFrameKind::Exact, "{frames:x?}");
    assert_eq!(frames.len(), 3, "{frames:x?}");
}

const RECURSION: &str = r#"
    __attribute__((noinline)) int deep(int n) {
        volatile char bytes[200];
        bytes[n & 127] = n;
        if (n == 0) { stop(); return bytes[0]; }
        return deep(n - 1) + bytes[n & 127];
    }
    int main(void) { return deep(100); }
"#;

#[test]
fn a_stack_deeper_than_the_copied_bytes_says_so() {
    let sample = Sample::of("deep.c", RECURSION, &["-O1", "-fomit-frame-pointer"]);
    for policy in [StackPolicy::Copy, StackPolicy::Both] {
        let (frames, end) = sample.walk(policy);
        assert_eq!((end.reason, end.seam), (EndReason::StackBytes, None), "{policy:?} {end:x?}");
        assert!((50..100).contains(&frames.len()), "{}", frames.len());
    }
}

#[test]
fn the_kernels_chain_goes_on_where_rules_ask_for_its_words() {
    let sample = Sample::of("deepfp.c", RECURSION, &["-O1", "-fno-omit-frame-pointer"]);
    let (copied, end) = sample.walk(StackPolicy::Copy);
    assert_eq!(end.reason, EndReason::StackBytes);
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!(end.seam, Some(u32::try_from(copied.len()).unwrap()), "{end:x?}");
    assert_eq!(frames[..copied.len()], copied);
    // All of `deep`, then main and its caller, whose rule asks for other words.
    assert_eq!((end.reason, frames.len()), (EndReason::StackBytes, 103), "{end:x?} {frames:x?}");
}

#[test]
fn a_kernel_chain_that_read_other_words_is_not_used() {
    let mut sample = Sample::of("deepother.c", RECURSION, &["-O1", "-fno-omit-frame-pointer"]);
    sample.kernel_chain[3] += 1;
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!((end.reason, end.seam), (EndReason::StackBytes, None), "{end:x?}");
    assert!(frames.len() < 100);
}

const WITH_FRAME_POINTERS: &[&str] = &["-O0"];

/// `undescribed` has no call-frame information, calls `inner` and is called by main.
fn undescribed(prologue: &str, epilogue: &str) -> String {
    format!(
        r#"
        __attribute__((noinline)) void inner(void) {{ stop(); sink++; }}
        __asm__(".text\n.type undescribed, @function\nundescribed:\n{prologue}\n  call inner\n{epilogue}\n  ret\n");
        extern void undescribed(void);
        int main(void) {{ undescribed(); sink++; return 0; }}
    "#
    )
}

#[test]
fn a_frame_pointer_crosses_code_without_rules_where_it_alone_explains_the_stack() {
    let source = undescribed("  push %rbp\\n  mov %rsp, %rbp\\n  sub $32, %rsp\\n", "  leave\\n");
    let sample = Sample::of("crossed.c", &source, WITH_FRAME_POINTERS);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!((end.reason, frames.len()), (EndReason::NoRule, 2), "{end:x?} {frames:x?}");
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!((end.reason, end.seam), (EndReason::Complete, Some(2)), "{end:x?} {frames:x?}");
    assert!(
        sample.kernel_chain.starts_with(&frames[..4].iter().map(|frame| frame.address).collect::<Vec<_>>())
    );
}

#[test]
fn no_caller_is_skipped_where_code_without_rules_left_the_frame_pointer_alone() {
    let source = undescribed("  sub $8, %rsp\\n", "  add $8, %rsp\\n");
    let sample = Sample::of("skipped.c", &source, WITH_FRAME_POINTERS);
    // The chain goes from `undescribed` straight to main's caller.
    assert_eq!(sample.kernel_chain.len(), 3);
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!((end.reason, end.seam, frames.len()), (EndReason::NoRule, None, 2), "{end:x?} {frames:x?}");
}

#[test]
fn an_undescribed_leaf_has_no_caller_even_by_frame_pointer() {
    let source = r#"
        __asm__(".text\n.type leaf, @function\nleaf:\n  mov $39, %eax\n  syscall\n  mov %eax, %edi\n  mov $19, %esi\n  mov $62, %eax\n  syscall\n  nop\n  nop\n  ret\n");
        extern void leaf(void);
        int main(void) { leaf(); sink++; return 0; }
    "#;
    let sample = Sample::of("leaf.c", source, &["-O1", "-fno-omit-frame-pointer"]);
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!((end.reason, end.seam, frames.len()), (EndReason::NoRule, None, 1), "{end:x?} {frames:x?}");
}

#[test]
fn policies_take_their_own_evidence() {
    let sample = Sample::of("policies.c", RECURSION, &["-O1", "-fno-omit-frame-pointer"]);
    let (frames, end) = sample.walk(StackPolicy::None);
    assert_eq!((end.reason, frames.len()), (EndReason::NotWanted, 1));
    let (frames, end) = sample.walk(StackPolicy::FramePointers);
    assert_eq!(end.reason, EndReason::FramePointers);
    let addresses: Vec<u64> = frames.iter().map(|frame| frame.address).collect();
    assert_eq!(addresses, sample.kernel_chain);
    // Without the kernel's chain, the copied bytes serve.
    let (whole, _) = sample.walk(StackPolicy::FramePointers);
    let sample = Sample { kernel_chain: Vec::new(), ..sample };
    let (frames, end) = sample.walk(StackPolicy::FramePointers);
    assert_eq!(end.reason, EndReason::FramePointers);
    assert!(frames.len() > 50 && whole.starts_with(&frames), "{}", frames.len());
}

#[test]
fn a_return_address_outside_code_is_no_frame() {
    let mut sample = Sample::of("garbage.c", RECURSION, &["-O1"]);
    let (whole, _) = sample.walk(StackPolicy::Copy);
    sample.replace_word(whole[1].address, 0x1234);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!((end.reason, end.at_address), (EndReason::BadReturnAddress, 0x1234));
    assert_eq!(frames, whole[..1]);
}

#[test]
fn an_innermost_address_outside_code_has_no_module() {
    let mut sample = Sample::of("nowhere.c", RECURSION, &["-O1"]);
    sample.registers.set(RIP, 0x10);
    let (frames, end) = sample.walk(StackPolicy::Both);
    assert_eq!((end.reason, end.at_address), (EndReason::NoModule, 0x10));
    assert_eq!(frames, [RawFrame::exact(0x10)]);
    sample.registers.forget(RIP);
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!((end.reason, frames.len()), (EndReason::NoRegisters, 0));
}

#[test]
fn a_file_that_is_not_at_hand_ends_the_stack_there() {
    let mut sample = Sample::of("nofile.c", RECURSION, &["-O3"]);
    sample.stack = sample.tracee.memory(sample.registers.sp().unwrap(), 64 * 1024);
    sample.tracee.maps.forget("libc");
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!(end.reason, EndReason::NoFile, "{end:x?}");
    assert!(sample.tracee.maps.is_in(frames.last().unwrap().address, "libc"));
}

#[test]
fn a_stack_of_no_copied_bytes_is_one_frame() {
    let mut sample = Sample::of("empty.c", RECURSION, &["-O1"]);
    sample.stack.clear();
    let (frames, end) = sample.walk(StackPolicy::Copy);
    assert_eq!((end.reason, frames.len()), (EndReason::StackBytes, 1));
}
