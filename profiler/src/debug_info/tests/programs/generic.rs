// Known answer: `generic::work` holds `generic::Counter<T>::bump` inlined on the line marked A.
use std::hint::black_box;

struct Counter<T> {
    value: T,
}

impl<T: Copy + std::ops::Add<Output = T>> Counter<T> {
    #[inline(always)]
    fn bump(&mut self, by: T) -> T {
        self.value = black_box(self.value + by);
        self.value
    }
}

#[inline(never)]
fn work(rounds: u64) -> u64 {
    let mut counter = Counter { value: 1 };
    let mut total = 0u64;
    for round in 0..rounds {
        total = total.wrapping_add(counter.bump(round)); // A
    }
    total
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let lengths: u64 = words.iter().map(|word| word.len() as u64).sum();
    println!("{}", work(black_box(lengths)));
}
