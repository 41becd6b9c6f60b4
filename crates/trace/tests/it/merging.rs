//! Merging several traces by time.

use crate::common::*;
use invigil_monitor::event::{EventKind, ParamType};
use invigil_test_support::cases;
use invigil_trace::{Input, ReadEnd, ReadOptions, Schema, TraceError, read};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn merged(texts: &[&str], options: &ReadOptions) -> (Vec<PlainEvent>, invigil_trace::ReadSummary) {
    let inputs = texts
        .iter()
        .enumerate()
        .map(|(i, text)| Input::reader(format!("trace {i}"), std::io::Cursor::new(text.as_bytes().to_vec())));
    read_all(inputs.collect(), &queue_catalog(), options)
}

#[test]
fn events_are_merged_by_time_then_by_input() {
    let json = "{\"event\":\"push\",\"time\":1,\"queue\":1}\n{\"event\":\"push\",\"time\":3,\"queue\":\"a long name of a queue\"}\n";
    let csv = "event,time,queue\npop,1,2\npop,2,\"another long name of a queue\"\nother,2.5,\nnonsense\n";
    let line = "@1 pop(queue=3)\n\n@4 pop(queue=4)\n";
    for threads in [1, 2] {
        let (seen, summary) = merged(&[json, csv, line], &ReadOptions { threads, ..one_thread() });
        assert!(matches!(summary.end, ReadEnd::Finished));
        let short: Vec<_> = seen.iter().map(|e| (e.time.unwrap(), e.input, e.line)).collect();
        assert_eq!(short, [(1.0, 0, 1), (1.0, 1, 2), (1.0, 2, 1), (2.0, 1, 3), (3.0, 0, 2), (4.0, 2, 3)]);
        assert_eq!(seen[3].params, [string("another long name of a queue")]);
        assert_eq!(seen[4].params, [string("a long name of a queue")]);
        assert_eq!((summary.ignored, summary.lines, summary.out_of_order), (1, 10, 0));
        let error = &summary.line_errors.first()[0];
        assert_eq!((error.position.input, error.position.line), (1, 5));
    }
}

#[test]
fn event_without_time_is_an_error_in_a_merge() {
    for threads in [1, 2] {
        let (seen, summary) =
            merged(&["@1 push()\n", "@0 pop()\npop()\n"], &ReadOptions { threads, ..one_thread() });
        assert_eq!(seen.len(), 1, "events before are delivered");
        let ReadEnd::Failed(error @ TraceError::NoTime { .. }) = summary.end else {
            panic!("{:?}", summary.end)
        };
        assert!(error.to_string().starts_with("trace 1:2: the event has no time"), "{error}");
        assert!(error.to_string().contains("check the files one at a time"), "{error}");
    }
}

#[test]
fn merged_blocks_are_bounded_in_text_and_in_bytes() {
    let mebibyte = "x".repeat(1 << 20);
    let long: String = (0..20).map(|i| format!("@{i} push(queue=\"{mebibyte}\")\n")).collect();
    let ignored: String = (0..40).map(|i| format!("@{i} other(queue=\"{mebibyte}\")\n")).collect();
    // Both parameters share one text, which must be copied only once.
    let queue = [named("queue", None), named("queue", Some(ParamType::Str))];
    let catalog = catalog(&[("push", EventKind::Before, &queue)]);
    for threads in [1, 2] {
        let options = ReadOptions { threads, ..one_thread() };
        let (mut events, mut bytes, mut blocks) = (0, 0, 0);
        let inputs = vec![input(&long), input(&ignored)];
        let summary = read(inputs, &Schema::new(&catalog), &options, |block| {
            assert!(block.batch.text.len() <= 5 << 20, "{}", block.batch.text.len());
            assert!(block.bytes() <= 20 << 20, "{}", block.bytes());
            for i in 0..block.batch.len() {
                let event = block.batch.event(i);
                assert!(event.params.iter().all(|value| plain(*value, &event) == string(&mebibyte)));
            }
            (events, bytes, blocks) = (events + block.batch.len(), bytes + block.bytes(), blocks + 1);
            ControlFlow::Continue(())
        });
        assert!(matches!(summary.end, ReadEnd::Finished));
        assert_eq!((events, bytes), (20, (long.len() + ignored.len()) as u64));
        assert_eq!((summary.events, summary.bytes, summary.lines), (20, bytes, 60));
        assert!(blocks >= 5);
    }
}

#[test]
fn time_going_backwards_is_counted() {
    let (seen, summary) = merged(&["@1 push()\n@3 push()\n@2 push()\n", "@2.5 pop()\n"], &one_thread());
    let times: Vec<_> = seen.iter().map(|e| e.time.unwrap()).collect();
    assert_eq!(times, [1.0, 2.5, 3.0, 2.0]);
    assert_eq!(summary.out_of_order, 1);
    for chunk_bytes in [1, 1 << 20] {
        let text = "@1 push()\n@3 other()\npush()\n@2 push()\n@2 push()\n@0 pop()\n";
        let (_, summary) =
            read_all(vec![input(text)], &queue_catalog(), &ReadOptions { chunk_bytes, ..one_thread() });
        assert_eq!(summary.out_of_order, 2, "also in a single trace, and across blocks");
    }
}

#[test]
fn failing_input_ends_the_merge_at_its_position() {
    let texts = ["@1 push()\n@9 push()\n", "@2 push(\n@3 push()\n"];
    let (seen, summary) = merged(&texts, &ReadOptions { strict: true, ..one_thread() });
    assert!(seen.len() <= 1);
    let ReadEnd::Failed(error @ TraceError::Strict { .. }) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().starts_with("trace 1:1: "), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    #[test]
    fn merging_is_a_stable_sort(
        mut times in prop::collection::vec(prop::collection::vec(0u32..50, 0..60), 2..5),
        chunk_bytes in 1usize..200,
        threads in 1usize..3,
    ) {
        let mut expected = Vec::new();
        let mut texts = Vec::new();
        for (input, times) in times.iter_mut().enumerate() {
            times.sort_unstable();
            let line = |(i, t): (usize, &u32)| format!("@{t} push(queue=\"queue {input} of event {i}\")\n");
            texts.push(times.iter().enumerate().map(line).collect::<String>());
            expected.extend(times.iter().enumerate().map(|(i, t)| (*t, input, i as u64 + 1)));
        }
        expected.sort_unstable();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (seen, summary) = merged(&texts, &ReadOptions { chunk_bytes, threads, ..one_thread() });
        prop_assert!(matches!(summary.end, ReadEnd::Finished));
        let found: Vec<_> = seen.iter().map(|e| (e.time.unwrap() as u32, e.input, e.line)).collect();
        prop_assert_eq!(found, expected);
        for event in &seen {
            let name = format!("queue {} of event {}", event.input, event.line - 1);
            prop_assert_eq!(&event.params, &[string(&name)]);
        }
    }
}
