// answer: threads parser 70 %, writer 30 %
// answer: total rust_threads::parse 70 %, rust_threads::write 30 %
//
// Named threads of the Rust standard library, whose stacks begin in its shims.
use std::hint::black_box;
use std::thread::Builder;

#[path = "burn.rs"]
#[allow(dead_code, reason = "each program needs a part of it")]
mod burn;

fn main() {
    let budget = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000u64);
    let parser = Builder::new().name("parser".to_owned()).spawn(move || work(parse, budget * 7 / 10));
    let writer = Builder::new().name("writer".to_owned()).spawn(move || work(write, budget * 3 / 10));
    parser.unwrap().join().unwrap();
    writer.unwrap().join().unwrap();
}

/// Repeats a part until this thread has consumed its time.
fn work(part: fn(u64) -> u64, milliseconds: u64) {
    while burn::thread_cpu_ns() < milliseconds * 1_000_000 {
        black_box(part(black_box(64_000)));
    }
}

#[inline(never)]
fn parse(steps: u64) -> u64 {
    (0..steps).fold(7u64, |x, _| burn::step(x))
}

#[inline(never)]
fn write(steps: u64) -> u64 {
    (0..steps).fold(3u64, |x, _| burn::step(x))
}
