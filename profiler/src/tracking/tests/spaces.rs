//! Which module lies where, and when.

use super::*;

#[test]
fn a_mapping_begins_at_its_segments_relative_address() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x7000..0x9000 /a off=0x1000 id=aa @5
         mmap 10 0x9000..0xa000 /b off=0x3000 id=bb @6",
        "10 0x7000..0x9000 /a+0x11000 @5..
         10 0x9000..0xa000 /b+0x13000 @6..",
    );
}

#[test]
fn a_mapping_ends_where_another_overlaps_it() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x7000..0x9000 /a off=0x1000 id=aa @5
         mmap 10 0x7000..0x9000 /b off=0x1000 id=bb @6",
        "10 0x7000..0x9000 /a+0x11000 @5..6
         10 0x7000..0x9000 /b+0x11000 @6..",
    );
}

#[test]
fn what_an_overlap_leaves_goes_on() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x6000..0xa000 /a off=0x1000 id=aa @5
         mmap 10 0x7000..0x8000 /b off=0x1000 id=bb @6",
        "10 0x6000..0xa000 /a+0x11000 @5..6
         10 0x6000..0x7000 /a+0x11000 @6..
         10 0x8000..0xa000 /a+0x13000 @6..
         10 0x7000..0x8000 /b+0x11000 @6..",
    );
}

#[test]
fn data_over_code_ends_it() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x6000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x7000..0x9000 /data data @6",
        "10 0x6000..0x8000 /a+0x11000 @5..6
         10 0x6000..0x7000 /a+0x11000 @6..",
    );
}

#[test]
fn the_same_mapping_again_changes_nothing() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x6000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x7000..0x8000 /a off=0x2000 id=aa @6",
        "10 0x6000..0x8000 /a+0x11000 @5..",
    );
}

#[test]
fn memory_that_grows_adds_only_what_is_new() {
    check_mappings(
        "exec 10 a @4
         mmap 10 0x6000..0x7000 //anon @5
         mmap 10 0x6000..0x9000 //anon @6",
        "10 0x6000..0x7000 //anon+0x6000 @5..
         10 0x7000..0x9000 //anon+0x7000 @6..",
    );
}

#[test]
fn a_late_mapping_does_not_displace_a_newer_one() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /b off=0x1000 id=bb @8
         mmap 10 0x6000..0x8000 /a off=0x1000 id=aa @5",
    );
    check(
        &run.mappings(),
        "10 0x7000..0x8000 /b+0x11000 @8..
         10 0x7000..0x8000 /a+0x12000 @5..8
         10 0x6000..0x7000 /a+0x11000 @5..",
    );
    assert_eq!(run.find(10, 0x7000, 6), "/a+0x12000");
    assert_eq!(run.find(10, 0x7000, 9), "/b+0x11000");
}

#[test]
fn a_late_question_is_answered_by_what_was_then() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x7000..0x8000 /b off=0x2000 id=bb @8",
    );
    assert_eq!(run.find(10, 0x7010, 8), "/b+0x12010");
    assert_eq!(run.find(10, 0x7010, 7), "/a+0x11010");
    assert_eq!(run.find(10, 0x7010, 4), "nothing");
    assert_eq!(run.find(10, 0x8000, 8), "nothing");
}

#[test]
fn answers_that_changed_have_another_number() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nmmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5");
    let process = run.resolve(10, 10, 6).unwrap().process;
    let number = |run: &Run, time| run.tracker.space(process, time).unwrap().generation();
    let first = number(&run, 6);
    run.records("mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @7");
    assert_eq!(number(&run, 8), first, "the same mapping again");
    run.records("mmap 10 0x9000..0xa000 /b off=0x1000 id=bb @9");
    assert_ne!(number(&run, 9), first);
    assert_ne!(number(&run, 6), number(&run, 6), "answers about the past are not kept");
}

#[test]
fn a_child_shares_its_parents_mappings_until_either_changes() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         fork 10 11 @6",
    );
    let generation = |run: &mut Run, pid| {
        let process = run.resolve(pid, pid, 7).unwrap().process;
        run.tracker.space(process, 7).unwrap().generation()
    };
    assert_eq!(generation(&mut run, 10), generation(&mut run, 11));
    run.records("mmap 10 0x7000..0x8000 /b off=0x1000 id=bb @8");
    assert_eq!(run.find(11, 0x7000, 9), "/a+0x11000");
    assert_eq!(run.find(10, 0x7000, 9), "/b+0x11000");
}

#[test]
fn an_inherited_mapping_has_a_row_once_it_is_asked_about() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         fork 10 11 @6
         fork 10 12 @7",
    );
    run.resolve(11, 11, 8).unwrap();
    run.records("exec 12 b @9\nexit 11 @10");
    check(
        &run.mappings(),
        "10 0x7000..0x8000 /a+0x11000 @5..
         11 0x7000..0x8000 /a+0x11000 @6..10",
    );
}

#[test]
fn the_vdso_has_its_own_image_wherever_it_lies() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nmmap 10 0x7000..0x9000 [vdso] @5");
    let module = &run.tracker.modules()[0];
    assert_eq!((module.kind, module.image.is_ok()), (microscope_capture::ModuleKind::Vdso, true));
    assert!(module.identity.text.starts_with("0d"));
}

#[test]
fn a_file_is_opened_once_for_all_who_map_it() {
    let mut run = Run::new(OPTIONS);
    for pid in 10..60 {
        run.records(&format!("exec {pid} a @4\nmmap {pid} 0x7000..0x8000 /a off=0x1000 id=aa @5"));
    }
    let opened = run.world.0.lock().unwrap().opened.len();
    assert_eq!((opened, run.tracker.modules().len()), (1, 1));
}

#[test]
fn a_file_of_a_process_that_is_gone_is_found_on_the_host_by_its_build_id() {
    let mut run = Run::new(OPTIONS);
    run.world.with(|machine| machine.gone.push(10));
    run.records(
        "exec 10 a @4\nmmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5\nmmap 10 0x8000..0x9000 /b id=cc @5",
    );
    let found: Vec<_> = run.tracker.modules().iter().map(|module| module.image.as_ref().err()).collect();
    assert_eq!(found, [None, Some(&NoImage::Replaced)]);
}

#[test]
fn a_deleted_file_is_found_by_its_mapping() {
    let mut run = Run::new(OPTIONS);
    run.world.with(|machine| drop(machine.mapped.insert(0x7000, (world::elf(b"\xee"), 9))));
    // Another file lies at the old path by now.
    run.records("exec 10 a @4\nmmap 10 0x7000..0x8000 /a~(deleted) off=0x1000 ino=9 @5");
    let module = &run.tracker.modules()[0];
    assert_eq!((&*module.path, &module.identity.text[..4]), ("/a", "ee00"));
}

#[test]
fn a_path_alone_proves_no_file() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 @5
         mmap 10 0x8000..0x9000 /b off=0x1000 ino=77 @5
         mmap 10 0x9000..0xa000 /c off=0x1000 ino=3 @5",
    );
    let found: Vec<_> = run.tracker.modules().iter().map(|module| module.image.as_ref().err()).collect();
    assert_eq!(found, [Some(&NoImage::NoEvidence), Some(&NoImage::Replaced), None]);
    assert_eq!(run.tracker.modules()[1].identity.text, "", "file offsets must not pass for addresses");
}

#[test]
fn a_part_outside_every_segment_is_another_module() {
    let mut run = Run::new(OPTIONS);
    run.records(
        "exec 10 a @4
         mmap 10 0x7000..0x8000 /a off=0x1000 id=aa @5
         mmap 10 0x90000..0x91000 /a off=0x80000 id=aa @6",
    );
    assert_eq!(run.find(10, 0x90000, 7), "/a+0x80000");
    let process = run.resolve(10, 10, 7).unwrap().process;
    let view = run.tracker.find(process, 0x90000, 7).unwrap();
    assert_eq!(view.module.image.as_ref().err(), Some(&NoImage::NoSegment));
    assert_eq!(view.module.identity.text, "");
}

#[test]
fn a_part_outside_every_segment_is_one_module_however_often_it_is_mapped() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4");
    for time_ns in 5..15 {
        run.records(&format!("mmap 10 0x90000..0x91000 /a off=0x80000 id=aa @{time_ns}"));
        run.records(&format!("mmap 10 0x90000..0x91000 /b off=0x1000 id=bb @{time_ns}"));
    }
    assert_eq!(run.tracker.modules().len(), 3);
}

#[test]
fn a_file_without_build_id_is_known_by_its_segments() {
    let mut run = Run::new(OPTIONS);
    run.world.file("/plain", b"", 8);
    run.records("exec 10 a @4\nmmap 10 0x7000..0x8000 /plain off=0x1000 ino=8 @5");
    let identity = &run.tracker.modules()[0].identity;
    assert_eq!(identity.kind, microscope_capture::IdentityKind::SegmentHash);
    assert_eq!(identity.text.len(), 64);
}

#[test]
fn mappings_beyond_the_bound_are_counted() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4");
    for page in 0..20_u64 {
        let (start, end) = (0x10000 + page * 0x2000, 0x11000 + page * 0x2000);
        run.records(&format!("mmap 10 {start:#x}..{end:#x} /a off=0x1000 id=aa @5"));
    }
    assert_eq!(run.tracker.counts().mappings_refused, 12);
    assert_eq!(run.rows.tables.mappings.len(), 8);
}

#[test]
fn an_impossible_range_is_counted() {
    let mut run = Run::new(OPTIONS);
    run.records("exec 10 a @4\nmmap 10 0x7000..0x7000 /a id=aa @5");
    assert_eq!(run.tracker.counts().mappings_malformed, 1);
    check(&run.mappings(), "");
}
