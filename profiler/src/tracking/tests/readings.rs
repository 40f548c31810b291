//! What `/proc` says, and from when it counts.

use super::*;
use crate::files::{Memory, OsFiles, OsMemory};

const MAPS: &str = "7000-8000 r-xp 00001000 00:00 1 /a\n8000-9000 rw-p 00000000 00:00 0 [heap]\n";

fn running(pid: u32, maps: &str, threads: &[(u32, &'static str)], time_ns: u64) -> Run {
    let run = Run::new(OPTIONS);
    set(&run, pid, maps, threads, time_ns);
    run
}

fn set(run: &Run, pid: u32, maps: &str, threads: &[(u32, &'static str)], time_ns: u64) {
    run.world.with(|machine| {
        machine.time_ns = time_ns;
        machine.maps.insert(pid, maps.to_owned());
        machine.threads.insert(pid, threads.to_vec());
    });
}

#[test]
fn attaching_reads_mappings_threads_and_names() {
    let mut run = running(10, MAPS, &[(10, "main"), (12, "worker")], 5);
    run.tracker.attach(10).unwrap();
    run.tracker.advance(5, &mut run.rows);
    check(&run.mappings(), "10 0x7000..0x8000 /a+0x11000 @5..");
    check(&run.threads(), "10/10 main @5..\n10/12 worker @5..");
    check(&run.processes(), "10 main  @5..");
    assert_eq!(run.rows.tables.threads.namespace_tid, [Some(0), Some(2)]);
}

#[test]
fn a_reading_serves_no_earlier_time() {
    let mut run = running(10, MAPS, &[(10, "main")], 5);
    run.tracker.attach(10).unwrap();
    run.records("thread 10 13 @3\nname 10/13 early @4");
    assert_eq!(run.find(10, 0x7000, 4), "nothing");
    run.records("name 10/13 later @6");
    assert_eq!(run.find(10, 0x7000, 4), "nothing");
    assert_eq!(run.find(10, 0x7000, 5), "/a+0x11000");
}

#[test]
fn a_record_proves_that_what_was_read_began_before() {
    let mut run = running(10, MAPS, &[(10, "main")], 5);
    run.tracker.attach(10).unwrap();
    run.records("name 10 main @6\nmmap 10 0x7000..0x8000 /a off=0x1000 ino=1 @4");
    check(&run.mappings(), "10 0x7000..0x8000 /a+0x11000 @4..");
}

#[test]
fn a_process_that_cannot_be_read_cannot_be_attached() {
    let mut run = Run::new(OPTIONS);
    assert_eq!(run.tracker.attach(10), Err(crate::files::FileProblem::Missing));
}

#[test]
fn a_process_that_cannot_be_read_is_not_asked_for_again_at_once() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nlost 1 @5\nlost 1 @6\nlost 1 @7");
    run.tracker.advance(super::super::READ_AGAIN_NS, &mut run.rows);
    assert_eq!(run.tracker.counts().maps_unreadable, 1);
}

#[test]
fn after_a_loss_mappings_are_read_again_and_uncertain_in_between() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x9000..0xa000 /b off=0x1000 id=bb @6",
    );
    // While records were lost, /b went and /c came.
    let maps = "7000-8000 r-xp 00001000 00:00 1 /a\nb000-c000 r-xp 00001000 00:00 3 /c\n";
    set(&run, 10, maps, &[(10, "a")], 20);
    run.records("lost 7 @15");
    assert_eq!(run.find(10, 0x7000, 16), "/a+0x11000?");
    assert_eq!(run.find(10, 0xb000, 16), "nothing?");
    run.records("name 10 a @21");
    assert_eq!(run.find(10, 0x7000, 21), "/a+0x11000");
    assert_eq!(run.find(10, 0x9000, 21), "nothing");
    assert_eq!(run.find(10, 0xb000, 21), "/c+0x11000");
    assert_eq!(run.find(10, 0x9000, 16), "/b+0x11000?");
    check(
        &run.mappings(),
        "10 0x7000..0x8000 /a+0x11000 @5..?
         10 0x9000..0xa000 /b+0x11000 @6..20?
         10 0xb000..0xc000 /c+0x11000 @20..?",
    );
    assert_eq!((run.tracker.counts().side_band_lost, run.tracker.counts().maps_read_again), (7, 1));
}

#[test]
fn threads_whose_end_was_lost_end_with_the_reading() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nthread 10 11 @5\nthread 10 12 @5");
    set(&run, 10, "", &[(10, "a"), (12, "worker"), (13, "new")], 20);
    run.records("lost 1 @15\nname 10 a @21");
    check(&run.threads(), "10/10 a @4..\n10/11 a @5..20\n10/12 worker @5..\n10/13 new @20..");
}

#[test]
fn a_reading_of_another_program_is_not_believed_before_its_exec() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nmmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5");
    // By the time of reading the process runs /b; the record of its exec comes before that time.
    set(&run, 10, "7000-8000 r-xp 00001000 00:00 2 /b\n", &[(10, "b")], 20);
    run.records("lost 1 @15\nexec 10 b @18\nname 10 b @21");
    assert_eq!(run.find(10, 0x7000, 16), "/a+0x11000?");
    assert_eq!(run.find(10, 0x7000, 19), "nothing");
    assert_eq!(run.find(10, 0x7000, 21), "/b+0x11000");
}

#[test]
fn losses_in_a_row_are_read_once() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4");
    for loss in 0..10_u64 {
        set(&run, 10, "", &[(10, "a")], 1_000_000 * (loss + 1));
        run.records(&format!("lost 1 @{}", 1_000_000 * (loss + 1)));
    }
    run.tracker.advance(50_000_000, &mut run.rows);
    assert_eq!(run.tracker.counts().maps_read_again, 1);
    set(&run, 10, "", &[(10, "a")], 150_000_000);
    run.tracker.advance(140_000_000, &mut run.rows);
    run.tracker.advance(160_000_000, &mut run.rows);
    assert_eq!(run.tracker.counts().maps_read_again, 2);
}

#[test]
fn a_process_found_gone_without_a_record_ends_with_the_recording() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nlost 1 @15\nexec 11 b @20");
    run.tracker.finish(&mut run.rows);
    check(&run.processes(), "10 a  @4..20\n11 b  @20..");
    assert_eq!(run.tracker.counts().maps_unreadable, 1);
}

#[test]
fn this_very_process_is_found_in_its_own_program() {
    let pid = std::process::id();
    let mut rows = Builder::new();
    let mut tracker =
        Tracker::new(TrackerOptions { limits: Limits::default(), ..OPTIONS }, Arc::new(OsFiles));
    tracker.attach(pid).unwrap();
    tracker.advance(u64::MAX - 1, &mut rows);
    let process = tracker.resolve(pid, pid, u64::MAX - 1, &mut rows).unwrap().process;
    let address = this_very_process_is_found_in_its_own_program as fn() as usize as u64;
    let view = tracker.find(process, address, u64::MAX - 1).unwrap();
    assert_eq!(std::path::Path::new(&*view.module.path), std::env::current_exe().unwrap());
    // The code at the relative address is the code at the address.
    let (mut in_file, mut in_memory) = ([0; 16], [0; 16]);
    let image = view.module.image.as_ref().unwrap();
    image.read_loaded(view.relative_address(address), &mut in_file).unwrap();
    OsMemory.read(pid, address, &mut in_memory).unwrap();
    assert_eq!(in_file, in_memory);
    let vdso = tracker.modules().iter().find(|module| &*module.path == "[vdso]").unwrap();
    assert!(vdso.image.is_ok());
}

#[test]
fn a_process_met_without_a_record_is_read() {
    let mut run = running(10, MAPS, &[(10, "main")], 5);
    run.resolve(10, 10, 3).unwrap();
    assert_eq!(run.find(10, 0x7000, 4), "nothing");
    run.tracker.advance(6, &mut run.rows);
    assert_eq!(run.find(10, 0x7000, 6), "/a+0x11000");
}
