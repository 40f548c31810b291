//! Histories that a machine cannot be made to have on demand, written by the simulated kernel.

use microscope_profiler::collector::Delivery;
use microscope_profiler::records::{Layout, Layouts, decode_any};
use microscope_tests::simulator::{Kernel, Map, Thread, layouts};

const SHELL: Thread = Thread::leader(100);
const LIST: Thread = Thread::leader(101);
const CODE: Map<'static> =
    Map { start: 0x40_0000, length: 0x2000, file_offset: 0x1000, path: "/usr/bin/example", build_id: 0xab };

#[test]
fn simulated_records_are_what_the_decoder_reads() {
    let mut kernel = Kernel::new(2, 1000);
    kernel.exec(SHELL, "sh").map(SHELL, CODE).fork(SHELL, LIST).rename(SHELL.other(102), "worker");
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
