//! Histories that a machine cannot be made to have on demand, written by the simulated kernel and recorded by the
//! real processor.

use microscope_profiler::collector::Delivery;
use microscope_profiler::records::{Layout, Layouts, decode_any};
use microscope_tests::describe::describe;
use microscope_tests::simulator::{Kernel, Map, Thread, layouts, record};

const SHELL: Thread = Thread::leader(100);
const LIST: Thread = Thread::leader(101);

/// The first library at the address that both are mapped at in turn.
const FIRST: Map<'static> =
    Map { start: 0x40_0000, length: 0x2000, file_offset: 0x1000, path: "/lib/first.so", build_id: 1 };
const SECOND: Map<'static> = Map { path: "/lib/second.so", build_id: 2, ..FIRST };

/// A kernel that has just started the shell.
fn kernel() -> Kernel {
    let mut kernel = Kernel::new(2, 1000);
    kernel.at(1000).exec(SHELL, "shell");
    kernel
}

/// Records the kernel's history and compares with what must be known of it.
fn check(kernel: &mut Kernel, expected: &str) {
    let described = describe(&record(kernel, SHELL.pid).unwrap());
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let found: Vec<_> = described.lines().map(str::trim).collect();
    assert_eq!(found, expected, "\n{described}");
}

#[test]
fn simulated_records_are_what_the_decoder_reads() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).fork(SHELL, LIST).rename(SHELL.other(102), "worker");
    kernel.on(1).at(2000).lose_side_band(LIST, 3).lose_samples(LIST, 2).exit(LIST);
    kernel.on(0).at(3000).sample(SHELL, 0x40_0100, &[0x40_0200, 0]).drain(4000);
    let layouts = Layouts::new(layouts(2).iter().map(Layout::from)).unwrap();
    let (mut decoded, mut refused) = (0, 0);
    for delivery in kernel.take_deliveries() {
        if let Delivery::Batch(batch) = delivery {
            let (good, bad) = decode_any(batch.read().parts().0, &layouts);
            (decoded, refused) = (decoded + good, refused + bad);
        }
    }
    assert_eq!((decoded, refused), (8, 0));
}

#[test]
fn an_address_belongs_to_what_was_mapped_there_at_the_samples_time() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).at(2000).sample(SHELL, 0x40_0100, &[]);
    kernel.at(3000).map(SHELL, SECOND).at(4000).sample(SHELL, 0x40_0100, &[]).drain(5000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              mapping 0x400000-0x402000 of first.so at 0x1000, ended
              mapping 0x400000-0x402000 of second.so at 0x1000
            1 × 100/100 shell: first.so+0x1100 (no-file)
            1 × 100/100 shell: second.so+0x1100 (no-file)
        ",
    );
}

#[test]
fn a_mapping_of_another_processors_ring_is_known_to_the_samples_after_it() {
    let mut kernel = kernel();
    // The sample's ring is drained first; the mapping is older all the same.
    kernel.on(0).at(3000).sample(SHELL, 0x40_0100, &[]).on(1).at(2000).map(SHELL, FIRST).drain(4000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              mapping 0x400000-0x402000 of first.so at 0x1000
            1 × 100/100 shell: first.so+0x1100 (no-file)
        ",
    );
}

#[test]
fn a_forked_process_has_its_parents_mappings() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).at(2000).fork(SHELL, LIST).at(3000).sample(LIST, 0x40_0100, &[]);
    kernel.at(4000).exit(LIST).drain(5000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              mapping 0x400000-0x402000 of first.so at 0x1000
            process 101 shell, by fork, ended
              thread 101 shell, ended
              mapping 0x400000-0x402000 of first.so at 0x1000, ended
            1 × 101/101 shell: first.so+0x1100 (no-file)
        ",
    );
}

#[test]
fn exec_of_a_thread_that_is_not_the_leader_takes_over_the_leaders_number() {
    let second = SHELL.other(102);
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).fork(SHELL, second).at(2000).sample(second, 0x40_0100, &[]);
    // The leader ends; the thread that executes changes its number without a record.
    kernel.at(3000).exit(SHELL).at(3100).exec(SHELL, "other").map(SHELL, SECOND);
    kernel.at(4000).sample(SHELL, 0x40_0100, &[]).drain(5000);
    check(
        &mut kernel,
        "
            process 100 shell, ended
              thread 100 shell, ended
              thread 102 shell, ended
              mapping 0x400000-0x402000 of first.so at 0x1000, ended
            process 100 other, by exec
              thread 100 other
              mapping 0x400000-0x402000 of second.so at 0x1000
            1 × 100/100 other: second.so+0x1100 (no-file)
            1 × 100/102 shell: first.so+0x1100 (no-file)
        ",
    );
}

#[test]
fn samples_after_a_loss_of_the_side_band_are_uncertain() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).at(2000).sample(SHELL, 0x40_0100, &[]);
    kernel.at(3000).lose_side_band(SHELL, 2).at(4000).sample(SHELL, 0x40_0100, &[]).drain(5000);
    check(
        &mut kernel,
        "
            process 100 shell, ended
              thread 100 shell, ended
              mapping 0x400000-0x402000 of first.so at 0x1000, uncertain, ended
            1 × 100/100 shell: 0x400100 (uncertain-mapping)
            1 × 100/100 shell: first.so+0x1100 (no-file)
            lost: 2 side-band-full
        ",
    );
}

#[test]
fn lost_samples_are_counted() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).at(2000).lose_samples(SHELL, 7).drain(5000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              mapping 0x400000-0x402000 of first.so at 0x1000
            lost: 7 ring-full
        ",
    );
}

#[test]
fn a_record_older_than_its_round_is_counted_late_and_kept() {
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).at(4000).sample(SHELL, 0x40_0100, &[]).drain(5000);
    kernel.on(1).at(3000).sample(SHELL, 0x40_0200, &[]).drain(6000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              mapping 0x400000-0x402000 of first.so at 0x1000
            1 × 100/100 shell: first.so+0x1100 (no-file)
            1 × 100/100 shell: first.so+0x1200 (no-file)
            lost: 1 late
        ",
    );
}

#[test]
fn a_thread_keeps_the_name_it_took() {
    let second = SHELL.other(102);
    let mut kernel = kernel();
    kernel.map(SHELL, FIRST).fork(SHELL, second).at(2000).rename(second, "worker");
    kernel.at(3000).sample(second, 0x40_0100, &[]).drain(4000);
    check(
        &mut kernel,
        "
            process 100 shell
              thread 100 shell
              thread 102 worker
              mapping 0x400000-0x402000 of first.so at 0x1000
            1 × 100/102 worker: first.so+0x1100 (no-file)
        ",
    );
}
