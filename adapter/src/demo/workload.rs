//! Two threads simulate sand in an hourglass, in known proportions.
//!
//! Of the CPU time, about 70 % falls into `collide`, 20 % into `sort_grains` and 10 % into `render`, with what
//! they call. Each thread measures its own CPU time, so the shares hold on any machine, however busy.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// This file's text, for showing costs beside it.
pub const SOURCE: &str = include_str!("workload.rs");

/// This file's path, as the end of what debug information calls it.
pub const PATH: &str = file!();

const GRAINS: usize = 128;
const STEP: Duration = Duration::from_millis(100);

/// Runs two threads, each for `length` of CPU time.
pub fn run(length: Duration) {
    let names = ["upper-bulb", "lower-bulb"];
    let spawn = |name: &str| thread::Builder::new().name(name.to_owned()).spawn(move || simulate(length));
    for half in names.map(spawn).into_iter().flatten() {
        // A half that panicked has nothing to hand over.
        let _ = half.join();
    }
}

#[inline(never)]
fn simulate(length: Duration) {
    let mut grains = Grains::new();
    for _ in 0..length.as_micros() / STEP.as_micros() {
        for_share(70, || collide(&mut grains));
        for_share(20, || sort_grains(&mut grains));
        for_share(10, || render(&grains));
    }
}

/// Repeats `work` for `percent` of one step of this thread's CPU time.
fn for_share(percent: u32, mut work: impl FnMut()) {
    let end = thread_time() + STEP * percent / 100;
    while thread_time() < end {
        // Reading the clock is a system call: it must stay rare beside the work.
        (0..16).for_each(|_| work());
    }
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::MAX, Duration::from)
}

struct Grains {
    heights: Vec<f64>,
    speeds: Vec<f64>,
}

impl Grains {
    fn new() -> Self {
        let heights: Vec<f64> = (0..GRAINS).map(|grain| f64::from(scatter(grain) % 1000)).collect();
        Self { speeds: vec![0.0; heights.len()], heights }
    }
}

/// Every grain pushes every other: the expensive part.
#[inline(never)]
fn collide(grains: &mut Grains) {
    for one in 0..GRAINS {
        let mut push = 0.0;
        for other in &grains.heights {
            push += repulsion(grains.heights[one] - other);
        }
        grains.speeds[one] = black_box(push);
    }
}

/// How strongly two grains push apart. Inlined into `collide`, and still shown as a line of its own.
#[inline(always)]
fn repulsion(distance: f64) -> f64 {
    let softened = distance * distance + 0.01;
    distance / (softened * softened.sqrt())
}

/// Lets the grains fall, and orders them from the ground up.
#[inline(never)]
fn sort_grains(grains: &mut Grains) {
    for grain in 0..GRAINS {
        grains.heights[grain] = f64::from(scatter(grain + grains.heights[0] as usize) % 1000);
    }
    grains.heights.sort_by(f64::total_cmp);
}

/// Draws the hourglass into rows of characters.
#[inline(never)]
fn render(grains: &Grains) {
    let mut rows = vec![String::new(); 50];
    for height in &grains.heights {
        rows[(*height as usize / 20).min(49)].push('·');
    }
    black_box(rows);
}

/// A number that looks random and is the same in every run.
fn scatter(grain: usize) -> u32 {
    (grain as u32).wrapping_mul(2_654_435_761).rotate_left(15)
}
