//! Two threads simulate sand in an hourglass, in known proportions.
//!
//! Of the CPU time, about 70 % falls into `collide`, 20 % into `sort` and 10 % into `render`, with what
//! they call. Each thread measures its own CPU time, so the shares hold on any machine, however busy.

use std::hint::black_box;
use std::io;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// This file's text, for showing costs beside it.
pub const SOURCE: &str = include_str!("workload.rs");

/// This file's path, as the end of what debug information calls it.
pub const PATH: &str = file!();

const GRAINS: usize = 128;
const ROWS: usize = 50;
const STEP: Duration = Duration::from_millis(100);

/// Two threads, each for `length` of CPU time.
pub fn run(length: Duration) {
    let upper = spawn("upper-bulb", length);
    let lower = spawn("lower-bulb", length);
    for half in [upper, lower].into_iter().flatten() {
        // One that panicked hands nothing over.
        let _ = half.join();
    }
}

fn spawn(name: &str, length: Duration) -> io::Result<JoinHandle<()>> {
    let thread = Builder::new().name(name.to_owned());
    thread.spawn(move || simulate(length))
}

#[inline(never)]
fn simulate(length: Duration) {
    let mut grains = Grains::new();
    let steps = length.as_micros() / STEP.as_micros();
    for _ in 0..steps {
        for_share(70, || collide(&mut grains));
        for_share(20, || sort(&mut grains));
        for_share(10, || render(&grains));
    }
}

/// Repeats `work` for `percent` of one step.
fn for_share(percent: u32, mut work: impl FnMut()) {
    let end = cpu_time() + STEP * percent / 100;
    while cpu_time() < end {
        // The clock is a system call: keep it rare.
        (0..16).for_each(|_| work());
    }
}

/// What this thread has used.
fn cpu_time() -> Duration {
    let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
    clock_gettime(clock).map_or(Duration::MAX, Duration::from)
}

struct Grains {
    heights: Vec<f64>,
    speeds: Vec<f64>,
}

impl Grains {
    fn new() -> Self {
        let heights: Vec<f64> = (0..GRAINS).map(height).collect();
        Self { speeds: vec![0.0; GRAINS], heights }
    }
}

/// Every grain pushes every other: the hot part.
#[inline(never)]
fn collide(grains: &mut Grains) {
    for one in 0..GRAINS {
        let own = grains.heights[one];
        let mut push = 0.0;
        for other in &grains.heights {
            push += repulsion(own - other);
        }
        grains.speeds[one] = black_box(push);
    }
}

/// How strongly two grains push apart. It is inlined,
/// and still has a line of its own.
#[inline(always)]
fn repulsion(distance: f64) -> f64 {
    let square = distance * distance + 0.01;
    distance / (square * square.sqrt())
}

/// Lets the grains fall, then orders them.
#[inline(never)]
fn sort(grains: &mut Grains) {
    let ground = grains.heights[0] as usize;
    for grain in 0..GRAINS {
        grains.heights[grain] = height(grain + ground);
    }
    grains.heights.sort_by(f64::total_cmp);
}

/// Draws the hourglass as rows of characters.
#[inline(never)]
fn render(grains: &Grains) {
    let mut rows = vec![String::new(); ROWS];
    for height in &grains.heights {
        let row = *height as usize / 20;
        rows[row.min(ROWS - 1)].push('·');
    }
    black_box(rows);
}

/// Looks random and is the same in every run.
fn height(grain: usize) -> f64 {
    let bits = (grain as u32).wrapping_mul(2_654_435_761);
    f64::from(bits.rotate_left(15) % 1000)
}
