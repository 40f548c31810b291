//! `perf record --call-graph dwarf` with `perf script` as an independent witness of the same binaries: function
//! shares within what two samplings may differ, and the median depth within one frame.

use microscope_tests::folded::Folded;
use microscope_tests::{Answer, Claim, Program, Record, Share, perf, requirement};

use crate::programs::{library, program};

/// Two independent samplings of one share: each within a point and two standard deviations of the truth.
const SHARES_MAY_DIFFER: f64 = 2.0;

/// Compares a program's functions and depth as both see them.
fn compare(program: &Program) {
    if !requirement::program("perf", "linux-perf") {
        return;
    }
    let built = program.build().unwrap();
    let theirs = perf::record(&built).unwrap();
    let ours = Record::default().run(&built).unwrap().user_stacks().unwrap();
    for function in functions(&Answer::of(&built.source).unwrap()) {
        compare_shares(&function, &ours, &theirs);
    }
    let (our_depth, their_depth) = (ours.middle_frames().unwrap(), theirs.middle_frames().unwrap());
    let agrees = *our_depth.start() <= their_depth.end() + 1 && *their_depth.start() <= our_depth.end() + 1;
    assert!(agrees, "median depth {our_depth:?}, perf's {their_depth:?}");
}

fn compare_shares(function: &str, ours: &Folded, theirs: &Folded) {
    let (our_share, their_share) = (ours.total_percent(function), theirs.total_percent(function));
    let difference = (our_share - their_share).abs();
    assert!(difference <= SHARES_MAY_DIFFER, "{function}: {our_share:.2} %, perf says {their_share:.2} %");
}

/// A share that is only known to lie in a wide range may differ between two runs of the program itself.
const STEADY_WIDTH: f64 = 10.0;

/// The functions whose shares the claims know.
fn functions(answer: &Answer) -> Vec<String> {
    let steady = |share: &Share| share.high - share.low <= STEADY_WIDTH;
    let named = answer.claims.iter().filter_map(|claim| match claim {
        Claim::Total(function, share) | Claim::OwnCost(function, share) => {
            steady(share).then(|| vec![function.clone()])
        }
        Claim::Path(path, share) => steady(share).then(|| path.clone()),
        _ => None,
    });
    let mut functions: Vec<_> = named.flatten().collect();
    functions.sort();
    functions.dedup();
    functions
}

macro_rules! agrees {
    ($($name:ident: $program:expr;)*) => {
        $(#[test] fn $name() { compare(&$program); })*
    };
}

agrees! {
    perf_agrees_on_c: program("shares.c", "-O2");
    perf_agrees_on_c_unoptimized: program("shares.c", "-O0");
    perf_agrees_on_c_at_a_fixed_address: program("shares.c", "-O2 -no-pie");
    perf_agrees_on_recursion: program("recursion.c", "-O2");
    perf_agrees_on_a_shared_library: library("-O2");
    perf_agrees_on_leaves: program("leaf.c", "-O2");
    perf_agrees_on_signals: program("signals.c", "-O2");
    perf_agrees_on_threads: program("stacks.cpp", "-O2");
    perf_agrees_on_inlined_cpp: program("inlined.cpp", "-O2");
    perf_agrees_on_rust: program("shares.rs", "-O");
    perf_agrees_on_rust_iterators: program("iterators.rs", "-O");
}
