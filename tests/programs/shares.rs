// answer: total shares::hot 70 %, shares::warm 20 %, shares::cold 10 %
// answer: total shares::spin 97-100 %
// answer: path shares::main > shares::hot > shares::spin 70 %, shares::main > shares::warm > shares::spin 20 %
//
// Three callers of one kernel, 7 : 2 : 1.
use std::hint::black_box;

#[path = "burn.rs"]
#[allow(dead_code, reason = "each program needs a part of it")]
mod burn;

fn main() {
    let budget = burn::Budget::from_arguments();
    let mut rounds = burn::Rounds::default();
    while !budget.is_spent() {
        let units = rounds.units();
        black_box(hot(units));
        black_box(warm(units));
        black_box(cold(units));
    }
}

#[inline(never)]
fn spin(steps: u64) -> u64 {
    (0..steps).fold(1u64, |x, _| burn::step(x))
}

// Each adds a number of its own, so that the three are not merged and none of the calls becomes a jump.
#[inline(never)]
fn hot(units: u64) -> u64 {
    black_box(spin(black_box(7 * 64 * units))) + 7
}

#[inline(never)]
fn warm(units: u64) -> u64 {
    black_box(spin(black_box(2 * 64 * units))) + 2
}

#[inline(never)]
fn cold(units: u64) -> u64 {
    black_box(spin(black_box(64 * units))) + 1
}
