//! Round trips through all formats; results are independent of chunks and threads.

use crate::common::*;
use invigil_monitor::event::{EventCatalog, EventKind, ParamSource};
use invigil_test_support::cases;
use invigil_trace::{FieldValue, Format, Input, ReadEnd, ReadOptions, Schema, TraceEvent, TraceWriter, read};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::channel;

const NAMES: [&str; 5] =
    ["push", "queue_pop", "#join", "std::vec<T>::~vec", "a_name_of_more_than_sixteen_bytes"];
const COLUMNS: [&str; 4] = ["queue", "arg 1", "*p", "é"];

/// Texts that look like other types, or are difficult to write.
const ODD: [&str; 12] = [
    "true",
    "1",
    "-1",
    "1.5",
    "1e5",
    "None",
    "none",
    "null",
    " x ",
    "x,y",
    "a\"b",
    "a_word_of_more_than_16_bytes",
];

fn everything() -> EventCatalog {
    let mut params: Vec<_> = COLUMNS.iter().map(|name| named(name, None)).collect();
    params.push(param(ParamSource::Thread, None));
    params.push(param(ParamSource::Program, None));
    let mut declarations = Vec::new();
    for name in NAMES {
        declarations.extend(EventKind::WORDS.iter().map(|(kind, _)| (name, *kind, params.as_slice())));
    }
    catalog(&declarations)
}

/// An event to write.
#[derive(Clone, Debug)]
struct Written {
    name: &'static str,
    kind: EventKind,
    time: Option<f64>,
    thread: Option<PlainValue>,
    params: Vec<Option<PlainValue>>,
}

fn value(text: &'static str) -> impl Strategy<Value = PlainValue> {
    prop_oneof![
        Just(PlainValue::None),
        any::<bool>().prop_map(PlainValue::Bool),
        any::<i64>().prop_map(PlainValue::Int),
        (-100i64..100).prop_map(PlainValue::Int),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(PlainValue::Float),
        (-1000i32..1000).prop_map(|i| PlainValue::Float(f64::from(i) / 8.0)),
        text.prop_map(PlainValue::Str),
        prop::sample::select(&ODD[..]).prop_map(string),
    ]
}

fn written(text: &'static str) -> impl Strategy<Value = Written> {
    (
        prop::sample::select(&NAMES[..]),
        prop::option::of(prop::sample::select(EventKind::WORDS.map(|(kind, _)| kind).to_vec())),
        prop::option::of(any::<f64>().prop_filter("finite", |f| f.is_finite())),
        prop::option::of(value(text)),
        prop::collection::vec(prop::option::of(value(text)), COLUMNS.len()),
    )
        .prop_map(|(name, kind, time, thread, params)| {
            let kind = kind.unwrap_or(EventKind::implied_by(name));
            Written { name, kind, time, thread, params }
        })
}

fn field(plain: &PlainValue) -> FieldValue<'_> {
    match plain {
        PlainValue::Unset | PlainValue::None => FieldValue::None,
        PlainValue::Bool(b) => FieldValue::Bool(*b),
        PlainValue::Int(i) => FieldValue::Int(*i),
        PlainValue::Float(f) => FieldValue::Float(*f),
        PlainValue::Str(s) => FieldValue::Str(s),
    }
}

fn write_all(entries: &[Written], format: Format) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), format, &COLUMNS).unwrap();
    for entry in entries {
        let params: Vec<_> = COLUMNS
            .iter()
            .zip(&entry.params)
            .filter_map(|(name, value)| Some((*name, field(value.as_ref()?))))
            .collect();
        let thread = entry.thread.as_ref().map(field);
        let Written { name, kind, time, .. } = *entry;
        writer.write(&TraceEvent { name, kind, time, thread, program: None, params: &params }).unwrap();
    }
    writer.finish().unwrap()
}

/// The events that reading must yield.
fn expected(entries: &[Written], format: Format) -> Vec<PlainEvent> {
    let header = u64::from(format == Format::Csv);
    let read = |value: &Option<PlainValue>| match value {
        None => PlainValue::Unset,
        // CSV writes both as an empty cell.
        Some(PlainValue::None) if format == Format::Csv => PlainValue::Unset,
        Some(value) => value.clone(),
    };
    let seen = |i: usize, entry: &Written, kind: EventKind| PlainEvent {
        name: entry.name.to_owned(),
        kind,
        time: entry.time,
        input: 0,
        line: i as u64 + 1 + header,
        params: entry.params.iter().chain([&entry.thread, &None]).map(read).collect(),
    };
    let all = entries.iter().enumerate().flat_map(|(i, entry)| {
        let access = match entry.kind {
            EventKind::Read | EventKind::Write => Some(EventKind::Access),
            EventKind::BeforeRead | EventKind::BeforeWrite => Some(EventKind::BeforeAccess),
            _ => None,
        };
        [Some(entry.kind), access].into_iter().flatten().map(move |kind| seen(i, entry, kind))
    });
    all.collect()
}

fn assert_read(entries: &[Written], format: Format, options: &ReadOptions) {
    let text = write_all(entries, format);
    let options = ReadOptions { format: Some(format), ..options.clone() };
    let (seen, summary) = read_all(vec![input(&text)], &everything(), &options);
    let text = String::from_utf8_lossy(&text);
    assert!(summary.line_errors.is_empty(), "{text}\n{:?}", summary.line_errors);
    assert_eq!(seen, expected(entries, format), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn written_events_are_read_back(entries in prop::collection::vec(written("\\PC{0,30}|[\\x00-\\xff]{0,5}"), 0..20)) {
        assert_read(&entries, Format::JsonLines, &one_thread());
        assert_read(&entries, Format::PlainLines, &one_thread());
    }

    #[test]
    fn events_written_as_csv_are_read_back(entries in prop::collection::vec(written("\\PC{0,30}"), 0..20)) {
        assert_read(&entries, Format::Csv, &one_thread());
    }

    #[test]
    fn chunks_and_threads_do_not_change_the_result(
        entries in prop::collection::vec(written("[a-zé\"\\\\]{0,30}"), 0..60),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        sizes in prop::collection::vec(1usize..300, 1..5),
        (chunk_bytes, threads) in (1usize..500, 1usize..4),
    ) {
        for format in [Format::JsonLines, Format::Csv, Format::PlainLines] {
            let mut text = write_all(&entries, format);
            for (at, byte) in &damage {
                if let Some(at) = (text.len() > 60).then(|| 60 + at.index(text.len() - 60)) {
                    text[at] = *byte;
                }
            }
            let options = ReadOptions { format: Some(format), ..one_thread() };
            let (whole, reported) = read_all(vec![input(&text)], &everything(), &options);
            let pieces = Input::reader("test", PiecewiseReader::new(&text, &sizes));
            let options = ReadOptions { chunk_bytes, threads, ..options };
            let (cut, reported_again) = read_all(vec![pieces], &everything(), &options);
            prop_assert_eq!(whole, cut);
            prop_assert_eq!(&reported.line_errors, &reported_again.line_errors);
            prop_assert_eq!(
                (reported.events, reported.ignored, reported.lines, reported.out_of_order),
                (reported_again.events, reported_again.ignored, reported_again.lines, reported_again.out_of_order)
            );
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        text in prop::collection::vec(prop_oneof![
            any::<u8>(),
            prop::sample::select(b"{}[]():,;=\"\\\n\r\t @#event time0123456789.-eE".as_slice()),
        ], 0..400),
        header in prop::sample::select(vec!["", "event,queue,time\n", "{", "push("]),
    ) {
        let text = [header.as_bytes(), &text].concat();
        for format in [None, Some(Format::JsonLines), Some(Format::Csv), Some(Format::PlainLines)] {
            let options = ReadOptions { format, max_line: 300, ..one_thread() };
            let (seen, summary) = read_all(vec![input(&text)], &everything(), &options);
            prop_assert_eq!(seen.len() as u64, summary.events);
            if matches!(summary.end, ReadEnd::Finished) {
                // Every line is an event, ignored, blank, a header or malformed.
                let lines = String::from_utf8_lossy(&text).split('\n').filter(|l| !l.trim().is_empty()).count() as u64;
                prop_assert!(summary.events + summary.ignored + summary.line_errors.count() + 1 >= lines);
            }
        }
    }
}

#[test]
fn writer_rejects_events_that_the_format_cannot_represent() {
    let entry = |name, params| TraceEvent {
        name,
        kind: EventKind::Before,
        time: None,
        thread: None,
        program: None,
        params,
    };
    let assert_rejected = |format, entry: &TraceEvent<'_>| {
        let mut writer = TraceWriter::new(Vec::new(), format, &["queue"]).unwrap();
        let error = writer.write(entry).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let header = if format == Format::Csv { "event,time,kind,thread,program,queue\n" } else { "" };
        assert_eq!(writer.finish().unwrap(), header.as_bytes(), "nothing is half written");
    };
    assert_rejected(Format::JsonLines, &entry("f", &[("time", FieldValue::None)]));
    assert_rejected(Format::Csv, &entry("f", &[("other", FieldValue::Int(1))]));
    assert_rejected(Format::Csv, &entry("f", &[("queue", FieldValue::Str("a\nb"))]));
    assert_rejected(Format::PlainLines, &entry("f(int)", &[]));
    assert_rejected(Format::PlainLines, &entry("@f", &[]));
    assert_rejected(Format::PlainLines, &entry("f", &[("a=b", FieldValue::Int(1))]));
}

#[test]
fn stopped_read_returns_without_waiting_for_input() {
    let text = "push(queue=1)\n".repeat(10_000);
    for threads in [1, 2, 4] {
        let mut blocks = 0;
        let options = ReadOptions { threads, chunk_bytes: 100, ..one_thread() };
        let summary = read(vec![input(&text)], &Schema::new(&queue_catalog()), &options, |_| {
            blocks += 1;
            if blocks == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(summary.end, ReadEnd::Stopped));
        assert_eq!(blocks, 3);
    }
}

#[test]
fn panic_of_the_consumer_is_propagated() {
    let text = "push(queue=1)\n".repeat(10_000);
    for threads in [1, 2] {
        let caught = std::panic::catch_unwind(|| {
            let options = ReadOptions { threads, chunk_bytes: 100, ..one_thread() };
            read(vec![input(&text)], &Schema::new(&queue_catalog()), &options, |_| panic!("intended panic"))
        });
        assert!(caught.is_err());
    }
}

#[test]
fn line_from_a_pipe_is_delivered_immediately() {
    for threads in [1, 2, 3] {
        let (mut end, pipe) = std::io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
        let (delivered, received) = channel();
        let reading = std::thread::spawn(move || {
            let options = ReadOptions { threads, format: Some(Format::PlainLines), ..one_thread() };
            read(vec![Input::reader("pipe", pipe)], &Schema::new(&queue_catalog()), &options, |block| {
                (0..block.batch.len()).for_each(|i| delivered.send(block.position(i).line).unwrap());
                // The last line suffices, although the pipe stays open.
                if block.position(block.batch.len() - 1).line == 5 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        for line in 1..=5 {
            end.write_all(b"push(queue=1)\n").unwrap();
            assert_eq!(received.recv_timeout(std::time::Duration::from_secs(20)), Ok(line));
        }
        assert!(matches!(reading.join().unwrap().end, ReadEnd::Stopped));
        drop(end);
    }
}

#[test]
fn line_from_several_pipes_is_delivered_once_its_order_is_known() {
    for threads in [1, 2] {
        let (reader, mut live) = std::io::pipe().unwrap();
        let (delivered, received) = channel();
        let reading = std::thread::spawn(move || {
            let options = ReadOptions { threads, ..one_thread() };
            let inputs = vec![Input::reader("pipe", reader), input("@100 pop()\n")];
            read(inputs, &Schema::new(&queue_catalog()), &options, |block| {
                (0..block.batch.len()).for_each(|i| delivered.send(block.batch.meta(i).time).unwrap());
                ControlFlow::Continue(())
            })
        });
        for time in 1..=5 {
            live.write_all(format!("@{time} push(queue=1)\n").as_bytes()).unwrap();
            assert_eq!(received.recv_timeout(std::time::Duration::from_secs(20)), Ok(f64::from(time)));
        }
        drop(live);
        assert_eq!(received.recv_timeout(std::time::Duration::from_secs(20)), Ok(100.0));
        assert_eq!(reading.join().unwrap().events, 6);
    }
}

/// Runs in its own process with a thread stack size that the system refuses.
#[test]
fn refused_threads_fall_back_to_the_calling_thread() {
    const REFUSED: &str = "1152921504606846976";
    if std::env::var("RUST_MIN_STACK").as_deref() != Ok(REFUSED) {
        let test = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "round_trips::refused_threads_fall_back_to_the_calling_thread",
                "--test-threads=1",
            ])
            .env("RUST_MIN_STACK", REFUSED)
            .output()
            .unwrap();
        assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "a thread was started despite its stack size");
    let text = "@1 push(queue=1)\n".repeat(1000);
    for inputs in [1, 2] {
        let all = (0..inputs).map(|_| input(&text)).collect();
        let (seen, summary) =
            read_all(all, &queue_catalog(), &ReadOptions { threads: 4, chunk_bytes: 64, ..one_thread() });
        assert!(matches!(summary.end, ReadEnd::Finished));
        assert_eq!(seen.len(), 1000 * inputs);
    }
}

#[test]
fn thread_count_is_limited() {
    let options = ReadOptions { threads: usize::MAX, ..one_thread() };
    let (seen, _) = read_all(vec![input("push()\n")], &queue_catalog(), &options);
    assert_eq!(seen.len(), 1);
}

#[test]
fn panic_of_the_input_is_propagated() {
    struct Broken(u32);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            assert!(self.0 < 50, "intended panic");
            into[..1].copy_from_slice(if self.0.is_multiple_of(3) { b"\n" } else { b"x" });
            Ok(1)
        }
    }
    for (threads, inputs) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        let caught = std::panic::catch_unwind(|| {
            let options = ReadOptions { threads, ..one_thread() };
            let inputs = (0..inputs).map(|_| Input::reader("test", Broken(0))).collect();
            read(inputs, &Schema::new(&queue_catalog()), &options, |_| ControlFlow::Continue(()))
        });
        assert!(caught.is_err());
    }
}
