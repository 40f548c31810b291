//! Claims about what options are accepted and what they become.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn request() -> RecordRequest {
    RecordRequest::default()
}

#[test]
fn presets_set_rate_and_stack_together() {
    let values: Vec<_> = Preset::ALL
        .iter()
        .map(|preset| RecordOptions::preset(*preset))
        .map(|options| (options.rate_hz(), options.stack_bytes()))
        .collect();
    assert_eq!(values, [(99, 8_192), (999, 16_384), (4_999, 32_768)]);
}

#[test]
fn an_empty_request_is_the_default_preset() {
    assert_eq!(RecordOptions::check(&request()).unwrap(), RecordOptions::preset(Preset::Default));
}

#[test]
fn a_given_value_wins_over_the_preset() {
    let given = RecordRequest { preset: Preset::High, rate_hz: Some(250), ..request() };
    let options = RecordOptions::check(&given).unwrap();
    assert_eq!((options.rate_hz(), options.stack_bytes()), (250, 32_768));
}

#[test]
fn rates_out_of_range_are_refused_with_the_range() {
    for rate_hz in [0, 100_001] {
        let error = RecordOptions::check(&RecordRequest { rate_hz: Some(rate_hz), ..request() }).unwrap_err();
        assert_eq!(error, OptionsError::Rate { given: rate_hz });
        assert!(error.to_string().contains("1 to 100000"), "{error}");
    }
}

#[test]
fn stack_bytes_are_whole_words_in_range() {
    for stack_bytes in [0, 504, 4_100, 65_536] {
        let given = RecordRequest { stack_bytes: Some(stack_bytes), ..request() };
        assert_eq!(RecordOptions::check(&given), Err(OptionsError::StackBytes { given: stack_bytes }));
    }
    let most = RecordRequest { stack_bytes: Some(65_528), ..request() };
    assert_eq!(RecordOptions::check(&most).unwrap().stack_bytes(), 65_528);
}

#[test]
fn a_policy_without_a_copy_takes_no_stack_bytes() {
    for policy in [StackPolicy::FramePointers, StackPolicy::None] {
        let plain = RecordRequest { stack: Some(policy), ..request() };
        assert_eq!(RecordOptions::check(&plain).unwrap().stack_bytes(), 0);
        let given = RecordRequest { stack_bytes: Some(8_192), ..plain };
        assert_eq!(
            RecordOptions::check(&given),
            Err(OptionsError::StackBytesUnused { given: 8_192, policy })
        );
    }
}

#[test]
fn a_duration_of_zero_is_refused() {
    let given = RecordRequest { duration: Some(Duration::ZERO), ..request() };
    assert_eq!(RecordOptions::check(&given), Err(OptionsError::Duration));
}

#[test]
fn every_name_reads_back() {
    for event in EventChoice::ALL {
        assert_eq!(event.name().parse(), Ok(*event));
    }
    for policy in StackPolicy::ALL {
        assert_eq!(policy.name().parse(), Ok(*policy));
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = "medium".parse::<Preset>().unwrap_err();
    assert_eq!(error.to_string(), "'medium' is no preset: choose low, default, high");
}
