//! Laws: what is written is read, and neither chunks nor threads change what is read.

mod common;

use common::*;
use invigil_monitor::event::{Catalog, Kind, Source};
use invigil_trace::{End, Entry, Field, Format, Input, Options, Schema, Writer, read};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::channel;

const NAMES: [&str; 5] =
    ["push", "queue_pop", "#join", "std::vec<T>::~vec", "a_name_of_more_than_sixteen_bytes"];
const COLUMNS: [&str; 4] = ["queue", "arg 1", "*p", "é"];

/// Texts that look like something else, or are hard to write.
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

fn everything() -> Catalog {
    let mut params: Vec<_> = COLUMNS.iter().map(|name| named(name, None)).collect();
    params.push(param(Source::Thread, None));
    params.push(param(Source::Program, None));
    let mut symbols = Vec::new();
    for name in NAMES {
        symbols.extend(Kind::WORDS.iter().map(|(kind, _)| (name, *kind, params.as_slice())));
    }
    catalog(&symbols)
}

/// An event, as it is written.
#[derive(Clone, Debug)]
struct Written {
    name: &'static str,
    kind: Kind,
    time: Option<f64>,
    thread: Option<Plain>,
    params: Vec<Option<Plain>>,
}

fn value(text: &'static str) -> impl Strategy<Value = Plain> {
    prop_oneof![
        Just(Plain::None),
        any::<bool>().prop_map(Plain::Bool),
        any::<i64>().prop_map(Plain::Int),
        (-100i64..100).prop_map(Plain::Int),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Plain::Float),
        (-1000i32..1000).prop_map(|i| Plain::Float(f64::from(i) / 8.0)),
        text.prop_map(Plain::Str),
        prop::sample::select(&ODD[..]).prop_map(string),
    ]
}

fn written(text: &'static str) -> impl Strategy<Value = Written> {
    (
        prop::sample::select(&NAMES[..]),
        prop::option::of(prop::sample::select(Kind::WORDS.map(|(kind, _)| kind).to_vec())),
        prop::option::of(any::<f64>().prop_filter("finite", |f| f.is_finite())),
        prop::option::of(value(text)),
        prop::collection::vec(prop::option::of(value(text)), COLUMNS.len()),
    )
        .prop_map(|(name, kind, time, thread, params)| {
            let kind = kind.unwrap_or(Kind::implied_by(name));
            Written { name, kind, time, thread, params }
        })
}

fn field(plain: &Plain) -> Field<'_> {
    match plain {
        Plain::Unset | Plain::None => Field::None,
        Plain::Bool(b) => Field::Bool(*b),
        Plain::Int(i) => Field::Int(*i),
        Plain::Float(f) => Field::Float(*f),
        Plain::Str(s) => Field::Str(s),
    }
}

fn write_all(entries: &[Written], format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format, &COLUMNS).unwrap();
    for entry in entries {
        let params: Vec<_> = COLUMNS
            .iter()
            .zip(&entry.params)
            .filter_map(|(name, value)| Some((*name, field(value.as_ref()?))))
            .collect();
        let thread = entry.thread.as_ref().map(field);
        let Written { name, kind, time, .. } = *entry;
        writer.write(&Entry { name, kind, time, thread, program: None, params: &params }).unwrap();
    }
    writer.finish().unwrap()
}

/// What should be read of what was written.
fn expected(entries: &[Written], format: Format) -> Vec<Seen> {
    let header = u64::from(format == Format::Csv);
    let read = |value: &Option<Plain>| match value {
        None => Plain::Unset,
        // An empty cell is all that CSV has for both.
        Some(Plain::None) if format == Format::Csv => Plain::Unset,
        Some(value) => value.clone(),
    };
    let seen = |i: usize, entry: &Written, kind: Kind| Seen {
        name: entry.name.to_owned(),
        kind,
        time: entry.time,
        input: 0,
        line: i as u64 + 1 + header,
        params: entry.params.iter().chain([&entry.thread, &None]).map(read).collect(),
    };
    let all = entries.iter().enumerate().flat_map(|(i, entry)| {
        let access = match entry.kind {
            Kind::Read | Kind::Write => Some(Kind::Access),
            Kind::BeforeRead | Kind::BeforeWrite => Some(Kind::BeforeAccess),
            _ => None,
        };
        [Some(entry.kind), access].into_iter().flatten().map(move |kind| seen(i, entry, kind))
    });
    all.collect()
}

fn assert_read(entries: &[Written], format: Format, options: &Options) {
    let text = write_all(entries, format);
    let options = Options { format: Some(format), ..options.clone() };
    let (seen, summary) = read_all(vec![input(&text)], &everything(), &options);
    let text = String::from_utf8_lossy(&text);
    assert!(summary.problems.is_empty(), "{text}\n{:?}", summary.problems);
    assert_eq!(seen, expected(entries, format), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_written_is_read(entries in prop::collection::vec(written("\\PC{0,30}|[\\x00-\\xff]{0,5}"), 0..20)) {
        assert_read(&entries, Format::JsonLines, &simple());
        assert_read(&entries, Format::Line, &simple());
    }

    #[test]
    fn what_is_written_as_csv_is_read(entries in prop::collection::vec(written("\\PC{0,30}"), 0..20)) {
        assert_read(&entries, Format::Csv, &simple());
    }

    #[test]
    fn neither_chunks_nor_threads_change_what_is_read(
        entries in prop::collection::vec(written("[a-zé\"\\\\]{0,30}"), 0..60),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        sizes in prop::collection::vec(1usize..300, 1..5),
        (block, threads) in (1usize..500, 1usize..4),
    ) {
        for format in [Format::JsonLines, Format::Csv, Format::Line] {
            let mut text = write_all(&entries, format);
            for (at, byte) in &damage {
                if let Some(at) = (text.len() > 60).then(|| 60 + at.index(text.len() - 60)) {
                    text[at] = *byte;
                }
            }
            let options = Options { format: Some(format), ..simple() };
            let (whole, told) = read_all(vec![input(&text)], &everything(), &options);
            let pieces = Input::reader("test", Pieces::new(&text, &sizes));
            let options = Options { block, threads, ..options };
            let (cut, told_again) = read_all(vec![pieces], &everything(), &options);
            prop_assert_eq!(whole, cut);
            prop_assert_eq!(&told.problems, &told_again.problems);
            prop_assert_eq!(
                (told.events, told.ignored, told.lines, told.out_of_order),
                (told_again.events, told_again.ignored, told_again.lines, told_again.out_of_order)
            );
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        text in prop::collection::vec(prop_oneof![
            any::<u8>(),
            prop::sample::select(b"{}[]():,;=\"\\\n\r\t @#event time0123456789.-eE".as_slice()),
        ], 0..400),
        header in prop::sample::select(vec!["", "event,queue,time\n", "{", "push("]),
    ) {
        let text = [header.as_bytes(), &text].concat();
        for format in [None, Some(Format::JsonLines), Some(Format::Csv), Some(Format::Line)] {
            let options = Options { format, max_line: 300, ..simple() };
            let (seen, summary) = read_all(vec![input(&text)], &everything(), &options);
            prop_assert_eq!(seen.len() as u64, summary.events);
            if matches!(summary.end, End::Finished) {
                // Every line is an event, ignored, blank, a header or told: none is lost.
                let lines = String::from_utf8_lossy(&text).split('\n').filter(|l| !l.trim().is_empty()).count() as u64;
                prop_assert!(summary.events + summary.ignored + summary.problems.count() + 1 >= lines);
            }
        }
    }
}

#[test]
fn the_writer_refuses_what_it_cannot_express() {
    let entry =
        |name, params| Entry { name, kind: Kind::Before, time: None, thread: None, program: None, params };
    let refused = |format, entry: &Entry<'_>| {
        let mut writer = Writer::new(Vec::new(), format, &["queue"]).unwrap();
        let error = writer.write(entry).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        let header = if format == Format::Csv { "event,time,kind,thread,program,queue\n" } else { "" };
        assert_eq!(writer.finish().unwrap(), header.as_bytes(), "nothing is half written");
    };
    refused(Format::JsonLines, &entry("f", &[("time", Field::None)]));
    refused(Format::Csv, &entry("f", &[("other", Field::Int(1))]));
    refused(Format::Csv, &entry("f", &[("queue", Field::Str("a\nb"))]));
    refused(Format::Line, &entry("f(int)", &[]));
    refused(Format::Line, &entry("@f", &[]));
    refused(Format::Line, &entry("f", &[("a=b", Field::Int(1))]));
}

#[test]
fn a_consumer_that_has_seen_enough_is_not_kept() {
    let text = "push(queue=1)\n".repeat(10_000);
    for threads in [1, 2, 4] {
        let mut blocks = 0;
        let options = Options { threads, block: 100, ..simple() };
        let summary = read(vec![input(&text)], &Schema::new(&queues()), &options, |_| {
            blocks += 1;
            if blocks == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(summary.end, End::Stopped));
        assert_eq!(blocks, 3);
    }
}

#[test]
fn a_panic_of_the_consumer_comes_through() {
    let text = "push(queue=1)\n".repeat(10_000);
    for threads in [1, 2] {
        let caught = std::panic::catch_unwind(|| {
            let options = Options { threads, block: 100, ..simple() };
            read(vec![input(&text)], &Schema::new(&queues()), &options, |_| panic!("as the test wants"))
        });
        assert!(caught.is_err());
    }
}

#[test]
fn a_line_from_a_pipe_is_delivered_before_the_next_is_written() {
    for threads in [1, 2, 3] {
        let (mut end, pipe) = std::io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
        let (say, hear) = channel();
        let reading = std::thread::spawn(move || {
            let options = Options { threads, format: Some(Format::Line), ..simple() };
            read(vec![Input::reader("pipe", pipe)], &Schema::new(&queues()), &options, |block| {
                (0..block.batch.len()).for_each(|i| say.send(block.place(i).line).unwrap());
                // The last line is enough, though the pipe stays open.
                if block.place(block.batch.len() - 1).line == 5 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        });
        for line in 1..=5 {
            end.write_all(b"push(queue=1)\n").unwrap();
            let heard = hear.recv_timeout(std::time::Duration::from_secs(20));
            assert_eq!(heard, Ok(line));
        }
        assert!(matches!(reading.join().unwrap().end, End::Stopped));
        drop(end);
    }
}

#[test]
fn a_line_from_several_pipes_is_delivered_once_its_order_is_certain() {
    for threads in [1, 2] {
        let (reader, mut live) = std::io::pipe().unwrap();
        let (say, hear) = channel();
        let reading = std::thread::spawn(move || {
            let options = Options { threads, ..simple() };
            let inputs = vec![Input::reader("pipe", reader), input("@100 pop()\n")];
            read(inputs, &Schema::new(&queues()), &options, |block| {
                (0..block.batch.len()).for_each(|i| say.send(block.batch.stamp(i).time).unwrap());
                ControlFlow::Continue(())
            })
        });
        for time in 1..=5 {
            live.write_all(format!("@{time} push(queue=1)\n").as_bytes()).unwrap();
            let heard = hear.recv_timeout(std::time::Duration::from_secs(20));
            assert_eq!(heard, Ok(f64::from(time)));
        }
        drop(live);
        assert_eq!(hear.recv_timeout(std::time::Duration::from_secs(20)), Ok(100.0));
        assert_eq!(reading.join().unwrap().events, 6);
    }
}

/// Reads with threads that the system refuses, in a process of its own: a stack of that size is not to be had.
#[test]
fn threads_that_are_refused_are_done_without() {
    const REFUSED: &str = "1152921504606846976";
    if std::env::var("RUST_MIN_STACK").as_deref() != Ok(REFUSED) {
        let test = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "threads_that_are_refused_are_done_without", "--test-threads=1"])
            .env("RUST_MIN_STACK", REFUSED)
            .output()
            .unwrap();
        assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "the test tests nothing");
    let text = "@1 push(queue=1)\n".repeat(1000);
    for inputs in [1, 2] {
        let all = (0..inputs).map(|_| input(&text)).collect();
        let (seen, summary) = read_all(all, &queues(), &Options { threads: 4, block: 64, ..simple() });
        assert!(matches!(summary.end, End::Finished));
        assert_eq!(seen.len(), 1000 * inputs);
    }
}

#[test]
fn absurdly_many_threads_are_fewer() {
    let options = Options { threads: usize::MAX, ..simple() };
    let (seen, _) = read_all(vec![input("push()\n")], &queues(), &options);
    assert_eq!(seen.len(), 1);
}

#[test]
fn a_panic_of_the_input_comes_through() {
    struct Broken(u32);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            assert!(self.0 < 50, "as the test wants");
            into[..1].copy_from_slice(if self.0.is_multiple_of(3) { b"\n" } else { b"x" });
            Ok(1)
        }
    }
    for (threads, inputs) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        let caught = std::panic::catch_unwind(|| {
            let options = Options { threads, ..simple() };
            let inputs = (0..inputs).map(|_| Input::reader("test", Broken(0))).collect();
            read(inputs, &Schema::new(&queues()), &options, |_| ControlFlow::Continue(()))
        });
        assert!(caught.is_err());
    }
}
