//! The cache: what is packed, and whose rules are found.

use microscope_capture::EndReason;

use crate::registers::{RBP, RIP, RSP};
use crate::unwind::RawFrame;
use crate::unwind::cache::Cache;
use crate::unwind::packed::{Form, PackedRule};
use crate::unwind::rule::{FrameAddress, Rule, Where};

fn packed(change: impl FnOnce(&mut Rule)) -> Option<(Form, i32, i16)> {
    let mut rule = Rule::at_stack_pointer(24);
    change(&mut rule);
    PackedRule::pack(&rule).map(|packed| (packed.form(), packed.offset(), packed.bp_offset()))
}

#[test]
fn common_rules_pack_and_come_back() {
    assert_eq!(packed(|_| {}), Some((Form::OnStackPointer, 24, 0)));
    assert_eq!(
        packed(|rule| {
            rule.frame = FrameAddress::Offset { register: RBP, offset: -70_000 };
            rule.registers[usize::from(RBP)] = Where::At(-4096);
        }),
        Some((Form::OnFramePointer, -70_000, -4096))
    );
    assert_eq!(packed(|rule| *rule = Rule::outermost()), Some((Form::Outermost, 0, 0)));
}

#[test]
fn what_the_form_cannot_say_is_not_packed() {
    assert_eq!(packed(|rule| rule.registers[usize::from(RIP)] = Where::At(-16)), None);
    assert_eq!(packed(|rule| rule.registers[usize::from(RBP)] = Where::At(-40_000)), None);
    assert_eq!(packed(|rule| rule.registers[usize::from(RBP)] = Where::Undefined), None);
    assert_eq!(packed(|rule| rule.registers[usize::from(RSP)] = Where::Is(8)), None);
    assert_eq!(packed(|rule| rule.frame = FrameAddress::Offset { register: 10, offset: 0 }), None);
    assert_eq!(packed(|rule| rule.is_signal = true), None);
}

fn rule(offset: i32) -> PackedRule {
    PackedRule::pack(&Rule::at_stack_pointer(offset)).unwrap()
}

#[test]
fn a_rule_is_found_in_its_own_address_space_only() {
    let mut cache = Cache::default();
    let (one, other) = (cache.epoch(100), cache.epoch(200));
    let frame = RawFrame::return_address(0x7fff_1234_5678);
    cache.insert(one, frame, rule(8));
    assert_eq!(cache.get(one, frame), Some(rule(8)));
    assert_eq!(cache.get(other, frame), None);
    assert_eq!(cache.get(one, RawFrame::exact(frame.address)), None);
    let again = cache.epoch(100);
    assert_eq!(cache.get(again, frame), Some(rule(8)));
}

#[test]
fn no_rule_outlives_its_generations_number() {
    let mut cache = Cache::default();
    let frame = RawFrame::exact(0x1000);
    let epoch = cache.epoch(0);
    cache.insert(epoch, frame, rule(8));
    for generation in 1..=u64::from(u16::MAX) {
        let epoch = cache.epoch(generation);
        assert_eq!(cache.get(epoch, frame), None, "{generation}");
    }
}

#[test]
fn an_address_beyond_user_space_is_never_found() {
    let mut cache = Cache::default();
    let epoch = cache.epoch(1);
    let frame = RawFrame::exact(0xffff_8000_0000_1000);
    cache.insert(epoch, frame, rule(8));
    assert_eq!(cache.get(epoch, frame), None);
}

#[test]
fn only_lasting_failures_are_kept() {
    assert!(PackedRule::failed(EndReason::NoRule).is_some());
    assert!(PackedRule::failed(EndReason::BadRule).is_some());
    assert!(PackedRule::failed(EndReason::NotIndexed).is_none());
    assert!(PackedRule::failed(EndReason::NoFile).is_none());
}
