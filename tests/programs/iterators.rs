// answer: total iterators::heavy 75 %, iterators::light 25 %
// answer: path iterators::main > iterators::heavy 75 %, iterators::main > iterators::light 25 %
//
// Rust iterators with closures, inlined by the optimizer: adapters and closures are known to debug information only.
use std::hint::black_box;

#[path = "burn.rs"]
#[allow(dead_code, reason = "each program needs a part of it")]
mod burn;

fn main() {
    let budget = burn::Budget::from_arguments();
    let mut rounds = burn::Rounds::default();
    while !budget.is_spent() {
        let steps = 64 * rounds.units();
        black_box(heavy(black_box(3 * steps)));
        black_box(light(black_box(steps)));
    }
}

#[inline(never)]
fn heavy(steps: u64) -> u64 {
    (0..steps).fold(1u64, |x, _| burn::step(x))
}

#[inline(never)]
fn light(steps: u64) -> u64 {
    let mut x = 2u64;
    (0..steps).for_each(|_| x = burn::step(x));
    x
}
