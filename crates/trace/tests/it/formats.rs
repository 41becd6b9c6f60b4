//! The meaning of each format, record by record.

use crate::common::*;
use invigil_monitor::event::{EventCatalog, EventKind, Param, ParamSource, ParamType};
use invigil_trace::{Format, Input, ReadEnd, TraceError};
use std::io::Write;

fn one(text: &str, params: &[Param]) -> Vec<PlainValue> {
    let (seen, summary) = events(text, &catalog(&[("f", EventKind::Before, params)]));
    assert!(summary.line_errors.is_empty(), "{:?}", summary.line_errors);
    assert_eq!(seen.len(), 1, "{text}");
    seen[0].params.clone()
}

fn line_error(text: &str, params: &[Param]) -> String {
    let (seen, summary) = events(text, &catalog(&[("f", EventKind::Before, params)]));
    assert_eq!((seen.len(), summary.line_errors.count(), summary.line_errors.skipped()), (0, 1, 1), "{text}");
    assert!(summary.line_errors.first()[0].skipped);
    summary.line_errors.first()[0].message.clone()
}

/// The error message for a value of the wrong type, whose event is delivered without it.
fn conversion_error(text: &str, params: &[Param]) -> String {
    let catalog = catalog(&[("f", EventKind::Before, params)]);
    let (seen, summary) = events(text, &catalog);
    assert_eq!(first_params(&seen), [PlainValue::Unset], "{text}");
    assert_eq!(
        (summary.events, summary.line_errors.count(), summary.line_errors.skipped()),
        (1, 1, 0),
        "{text}"
    );
    assert!(!summary.line_errors.first()[0].skipped);
    let strict = invigil_trace::ReadOptions { strict: true, ..one_thread() };
    let (seen, strict) = read_all(vec![input(text)], &catalog, &strict);
    assert!(seen.is_empty() && matches!(strict.end, ReadEnd::Failed(TraceError::Strict { .. })), "{text}");
    summary.line_errors.first()[0].message.clone()
}

#[test]
fn all_formats_yield_the_same_event() {
    let params = [
        named("queue", None),
        named("c", None),
        param(ParamSource::Thread, None),
        param(ParamSource::Time, None),
    ];
    let catalog = catalog(&[("queue_push", EventKind::After, &params)]);
    for text in [
        r#"{"event": "queue_push", "time": 1.25, "thread": 7, "kind": "after", "queue": 93824992252512, "c": "i"}"#,
        "event,time,thread,kind,queue,c\nqueue_push,1.25,7,after,93824992252512,i",
        r#"@1.25 after queue_push(queue=93824992252512, c="i", thread=7)"#,
    ] {
        let (seen, summary) = events(text, &catalog);
        assert!(summary.line_errors.is_empty(), "{:?}", summary.line_errors);
        assert_eq!(seen.len(), 1, "{text}");
        assert_eq!(seen[0].time, Some(1.25));
        let expected =
            [PlainValue::Int(93824992252512), string("i"), PlainValue::Int(7), PlainValue::Float(1.25)];
        assert_eq!(seen[0].params, expected, "{text}");
    }
}

#[test]
fn json_values_of_all_types_are_converted() {
    let all: Vec<Param> = "abcdefgh".chars().map(|c| named(&c.to_string(), None)).collect();
    let text = r#"{"event":"f","a":-1,"b":1.5,"c":true,"d":null,"e":[1, {"x": "y"}],"f":"a\"\u00e9\n","g":"a string of more than fourteen bytes"}"#;
    let expected = [
        PlainValue::Int(-1),
        PlainValue::Float(1.5),
        PlainValue::Bool(true),
        PlainValue::None,
        string(r#"[1, {"x": "y"}]"#),
        string("a\"é\n"),
        string("a string of more than fourteen bytes"),
        PlainValue::Unset,
    ];
    assert_eq!(one(text, &all), expected);
}

#[test]
fn last_of_duplicate_keys_wins() {
    let q = [named("q", None)];
    assert_eq!(one(r#"{"event":"g","q":1,"event":"f","q":2}"#, &q), [PlainValue::Int(2)]);
    assert_eq!(one(r#"{"event":"g","q":[],"event":"f","q":2}"#, &q), [PlainValue::Int(2)]);
    assert_eq!(one("f(q=1, q=2)", &q), [PlainValue::Int(2)]);
}

#[test]
fn parameter_is_found_under_all_its_names() {
    let arg = [Param { source: ParamSource::Arg(2), name: "q".into(), ty: None }];
    for text in [
        r#"{"event":"f","arg 2":5}"#,
        r#"{"event":"f","arg2":5}"#,
        r#"{"event":"f","q":5}"#,
        r#"{"event":"f","q":6,"arg2":5}"#,
        "event;arg 2\nf;5",
        "f(4, 5)",
        "f(arg 2=5)",
        "f(a=1, 4, q=7, 5)",
    ] {
        assert_eq!(one(text, &arg), [PlainValue::Int(5)], "{text}");
    }
    let deref = [param(ParamSource::Deref(Box::new(ParamSource::Name("p".into()))), None)];
    assert_eq!(one("f(*p=3, &p=4)", &deref), [PlainValue::Int(3)]);
    assert_eq!(one(r#"{"event":"f","*p":3}"#, &deref), [PlainValue::Int(3)]);
}

#[test]
fn values_of_the_wrong_type_are_reported() {
    let of = |ty| [named("q", Some(ty))];
    let ok = |value: &str, ty, expected: PlainValue| {
        assert_eq!(one(&format!("{{\"event\":\"f\",\"q\":{value}}}"), &of(ty)), [expected]);
    };
    ok("3.0", ParamType::Int, PlainValue::Int(3));
    ok("1e3", ParamType::Int, PlainValue::Int(1000));
    ok("3", ParamType::Float, PlainValue::Float(3.0));
    ok("18446744073709551616", ParamType::Float, PlainValue::Float(18446744073709551616.0));
    ok("false", ParamType::Bool, PlainValue::Bool(false));
    ok("[1]", ParamType::Str, string("[1]"));
    let not = |value: &str, ty| conversion_error(&format!("{{\"event\":\"f\",\"q\":{value}}}"), &of(ty));
    assert_eq!(not("\"x\"", ParamType::Int), "`q` should be an integer, but is \"x\"");
    assert_eq!(not("true", ParamType::Int), "`q` should be an integer, but is true");
    assert_eq!(not("1.5", ParamType::Int), "`q` should be an integer, but is 1.5");
    assert_eq!(not("1", ParamType::Bool), "`q` should be true or false, but is 1");
    assert_eq!(not("1", ParamType::Str), "`q` should be a string, but is 1");
    assert_eq!(not("[]", ParamType::Float), "`q` should be a number, but is []");
    assert_eq!(not("null", ParamType::Int), "`q` should be an integer, but is null");
    for ty in [ParamType::Float, ParamType::Bool, ParamType::Str] {
        assert!(not("null", ty).ends_with("but is null"));
    }
    assert_eq!(conversion_error("f(q=none)", &of(ParamType::Int)), "`q` should be an integer, but is none");
    for ty in [None, Some(ParamType::Int)] {
        for big in ["9223372036854775808", "123456789012345678901234567890"] {
            for text in [
                format!("{{\"event\":\"f\",\"q\":{big}}}"),
                format!("event,q\nf,{big}"),
                format!("f(q={big})"),
            ] {
                assert!(
                    conversion_error(&text, &[named("q", ty)]).starts_with("integer out of range"),
                    "{text}"
                );
            }
        }
    }
    assert!(
        conversion_error("f(q=0xffffffffffffffff)", &[named("q", None)]).starts_with("integer out of range")
    );
    assert!(not("1e30", ParamType::Int).starts_with("integer out of range"));
    assert!(not("1e999", ParamType::Float).starts_with("number out of range"));
    // A parameter that is not read cannot be out of range.
    assert_eq!(
        one(r#"{"event":"f","x":99999999999999999999,"q":1}"#, &of(ParamType::Int)),
        [PlainValue::Int(1)]
    );
}

#[test]
fn value_of_the_wrong_type_is_omitted_only_where_the_type_is_required() {
    // The numbers of parameters cover each way to append an event.
    let of = |name: &str, ty| Param { source: ParamSource::Name("q".into()), name: name.into(), ty };
    let all = [
        of("a", Some(ParamType::Int)),
        of("b", None),
        of("c", Some(ParamType::Bool)),
        of("d", Some(ParamType::Int)),
    ];
    for count in 1..=4 {
        let catalog = catalog(&[("f", EventKind::Before, &all[..count]), ("g", EventKind::Before, &[])]);
        for text in [
            "{\"event\":\"f\",\"q\":\"x\"}\n{\"event\":\"g\"}\n{\"event\":\"f\",\"q\":\"\\u0078\"}\n",
            "event,q\nf,x\ng,\nf,\"x\"\n",
            "f(q=x)\ng()\nf(q=\"x\")\n",
        ] {
            let (seen, summary) = events(text, &catalog);
            let expected = [PlainValue::Unset, string("x"), PlainValue::Unset, PlainValue::Unset];
            assert_eq!(seen.len(), 3, "{text}");
            assert_eq!((&seen[0].params[..], &seen[2].params[..]), (&expected[..count], &expected[..count]));
            assert_eq!(
                (summary.events, summary.line_errors.count(), summary.line_errors.skipped()),
                (3, 2, 0)
            );
            let message = &summary.line_errors.first()[0].message;
            assert!(message.starts_with("`q` should be an integer, but is "), "{message}");
            // Each message appears once, even if several parameters have it.
            assert_eq!(message.matches("; ").count(), usize::from(count > 2), "{message}");
        }
    }
}

#[test]
fn reads_and_writes_are_also_accesses() {
    let q = [named("q", None)];
    let typed = [named("q", Some(ParamType::Int))];
    let texts = |kind: &str| {
        [
            format!("{{\"event\":\"s\",\"kind\":\"{kind}\",\"time\":1,\"q\":\"a long name of a queue\"}}"),
            format!("event,kind,time,q\ns,{kind},1,a long name of a queue"),
            format!("@1 {kind} s(q=\"a long name of a queue\")"),
        ]
    };
    for (kind, exact, either) in [
        ("read", EventKind::Read, EventKind::Access),
        ("write", EventKind::Write, EventKind::Access),
        ("before-read", EventKind::BeforeRead, EventKind::BeforeAccess),
        ("before-write", EventKind::BeforeWrite, EventKind::BeforeAccess),
    ] {
        for text in texts(kind) {
            for inputs in [1, 2] {
                let found = |declarations: &[(&str, EventKind, &[Param])]| {
                    let inputs = (0..inputs).map(|_| input(&text)).collect();
                    let (seen, summary) = read_all(inputs, &catalog(declarations), &one_thread());
                    // Every input has one record, which may be two events.
                    let records: std::collections::BTreeSet<_> =
                        seen.iter().map(|event| event.input).collect();
                    assert_eq!((summary.events, summary.out_of_order), (records.len() as u64, 0));
                    let kinds: Vec<_> = seen.iter().map(|event| (event.input, event.kind)).collect();
                    (kinds, first_params(&seen), summary.ignored, summary.line_errors.count())
                };
                let each = |kinds: &[EventKind]| {
                    (0..inputs).flat_map(|i| kinds.iter().map(move |kind| (i, *kind))).collect::<Vec<_>>()
                };
                let value = || string("a long name of a queue");
                let n = inputs as u64;
                assert_eq!(
                    found(&[("s", either, &q)]),
                    (each(&[either]), vec![value(); inputs], 0, 0),
                    "{text}"
                );
                let both = found(&[("s", either, &q), ("s", exact, &q)]);
                assert_eq!(both, (each(&[exact, either]), vec![value(); 2 * inputs], 0, 0), "{text}");
                let conversion_error = found(&[("s", either, &typed), ("s", exact, &q)]);
                assert_eq!(
                    (conversion_error.0, conversion_error.3),
                    (each(&[exact, either]), n),
                    "more than one error per line: {text}"
                );
                assert_eq!(conversion_error.1, vec![[value(), PlainValue::Unset]; inputs].concat(), "{text}");
                let other =
                    if either == EventKind::Access { EventKind::BeforeAccess } else { EventKind::Access };
                assert_eq!(found(&[("s", other, &q), ("t", either, &q)]), (vec![], vec![], n, 0), "{text}");
            }
        }
    }
    for text in texts("access") {
        let (seen, _) = events(text, &catalog(&[("s", EventKind::Access, &q), ("s", EventKind::Read, &q)]));
        assert_eq!((seen.len(), seen[0].kind), (1, EventKind::Access));
    }
}

#[test]
fn unquoted_cells_are_typed_by_their_text() {
    let q = [named("q", None)];
    let cell = |text: &str, ty| one(&format!("event,q,x\nf,{text},"), &[named("q", ty)])[0].clone();
    for (text, expected) in [
        ("5", PlainValue::Int(5)),
        ("-5", PlainValue::Int(-5)),
        (" 5 ", PlainValue::Int(5)),
        ("1.5", PlainValue::Float(1.5)),
        ("1.0e3", PlainValue::Float(1000.0)),
        ("true", PlainValue::Bool(true)),
        ("False", PlainValue::Bool(false)),
        ("", PlainValue::Unset),
        ("\"\"", string("")),
        ("\"5\"", string("5")),
        ("\"a, \"\"b\"\"\"", string("a, \"b\"")),
        (" \"a\" ", string("a")),
        ("q1", string("q1")),
        // Names that only look like numbers remain distinct.
        ("007", string("007")),
        ("12e4", string("12e4")),
        ("+5", string("+5")),
        ("nan", string("nan")),
        ("none", string("none")),
    ] {
        assert_eq!(cell(text, None), expected, "{text}");
    }
    assert_eq!(cell("5", Some(ParamType::Str)), string("5"));
    assert_eq!(cell("\"5\"", Some(ParamType::Int)), PlainValue::Int(5));
    assert_eq!(cell("12e4", Some(ParamType::Float)), PlainValue::Float(120000.0));
    assert_eq!(cell("5.0", Some(ParamType::Int)), PlainValue::Int(5));
    assert!(conversion_error("event,q\nf,x", &[named("q", Some(ParamType::Int))]).contains("integer"));
    for (text, message) in [
        ("event,q\nf", "the line has 1 cell, the header 2"),
        ("event,q\nf,1,2", "the line has 3 cells, the header 2"),
        ("event,q\nf,\"1", "unterminated quoted cell"),
        ("event,q\nf,\"1\"2", "after the closing quote"),
        ("event,q\nf,1\"2\"", "quote inside an unquoted cell"),
        ("event,q\n,1", "missing field `event`"),
        ("event,q\nf,1\0", "NUL"),
    ] {
        assert!(line_error(text, &q).contains(message), "{text}");
    }
}

#[test]
fn csv_header_determines_columns_and_delimiter() {
    let q = [named("q", None)];
    for text in [
        "q;event\n1;f",
        "event\tq\nf\t1",
        "\u{feff}event,q\r\nf,1\r\n",
        "\n\nevent , q\nf,1",
        "\"q\",\"event\"\n1,f",
        "\tevent\tq\n0\tf\t1",
    ] {
        assert_eq!(one(text, &q), [PlainValue::Int(1)], "{text}");
    }
    let (seen, _) = events("\n\nevent,q\n\nf,1\n", &catalog(&[("f", EventKind::Before, &q)]));
    assert_eq!(seen[0].line, 5);
    let (seen, _) = events("event\nf\n \nf\n", &catalog(&[("f", EventKind::Before, &[])]));
    assert_eq!(seen.len(), 2);
}

#[test]
fn line_format_accepts_calls_and_reports_errors() {
    let q = [param(ParamSource::Arg(1), None)];
    for (value, expected) in [
        ("1", PlainValue::Int(1)),
        ("-0x1f", PlainValue::Int(-31)),
        ("0x7fffffffffffffff", PlainValue::Int(i64::MAX)),
        ("007", PlainValue::Int(7)),
        ("1.5e1", PlainValue::Float(15.0)),
        ("True", PlainValue::Bool(true)),
        ("none", PlainValue::None),
        ("null", PlainValue::None),
        ("word:a/b-c.d", string("word:a/b-c.d")),
        ("\"(a, b=c)\"", string("(a, b=c)")),
        (r#""a\"\u00e9é\\""#, string("a\"éé\\")),
        ("  \t1  ", PlainValue::Int(1)),
    ] {
        assert_eq!(one(&format!("f({value})"), &q)[0], expected, "{value}");
    }
    for (text, message) in [
        ("f(", "without a value"),
        ("f(1", "missing `)`"),
        ("f(1,)", "without a value"),
        ("f(q=)", "without a value"),
        ("f(=1)", "missing name before `=`"),
        ("f(1a)", "put text in quotes"),
        ("f(1) x", "unexpected text"),
        ("f(\"x)", "unterminated string"),
        ("f(\"\\x\")", "invalid escape"),
        ("f(1 2)", "put text in quotes"),
        ("f(é)", "put text in quotes"),
        ("sometimes f", "unknown kind `sometimes`"),
        ("a b c", "expected `[KIND] NAME`"),
        ("@x f", "`@` is not followed by a number"),
        ("@1e999 f", "`time` is not a number"),
        ("f(event=1)", "`event` cannot be"),
        ("\"f\"", "missing event name"),
        ("f(\0)", "put text in quotes"),
    ] {
        assert!(line_error(text, &q).contains(message), "{text}: {}", line_error(text, &q));
    }
}

#[test]
fn kinds_and_names_select_events() {
    let catalog = catalog(&[
        ("#join", EventKind::Join, &[]),
        ("s", EventKind::Write, &[]),
        ("read", EventKind::Before, &[]),
        ("std::map<K>::~map", EventKind::Before, &[]),
        ("f", EventKind::Before, &[]),
    ]);
    let text = "#join(program=3)\nwrite s(s=0)\nread\nread()\nbefore read\nstd::map<K>::~map\nread s\nf(kind=before)\nf(kind=after)\n\n  \nf (x=1)\n";
    let (seen, summary) = events(text, &catalog);
    let names: Vec<_> = seen.iter().map(|event| (event.name.as_str(), event.line)).collect();
    let expected = [
        ("#join", 1),
        ("s", 2),
        ("read", 3),
        ("read", 4),
        ("read", 5),
        ("std::map<K>::~map", 6),
        ("f", 8),
        ("f", 12),
    ];
    assert_eq!(names, expected);
    assert_eq!((summary.ignored, summary.lines, summary.line_errors.count()), (2, 12, 0));
}

#[test]
fn malformed_lines_are_counted_independently_of_the_properties() {
    let text = "{\"event\":\"g\",\"x\":01}\n{\"event\":\"g\",\"kind\":\"odd\"}\n{\"event\":\"g\",\"time\":\"x\"}\n\
                {\"x\":1}\n{\"event\":1}\n[1]\n{\"event\":\"g\",\"x\":\"\\ud800\"}\n{\"event\":\"g\"\n{\"event\":\"g\"}\n";
    for catalog in [EventCatalog::default(), catalog(&[("g", EventKind::Before, &[named("x", None)])])] {
        let (_, summary) = events(text, &catalog);
        assert_eq!(summary.line_errors.count(), 8, "{:?}", summary.line_errors);
        let lines: Vec<_> = summary.line_errors.first().iter().map(|error| error.position.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn json_errors_have_the_column_of_the_line() {
    let start = "{\"event\":\"g\",\"x\":";
    for bad in ["\"\\ud800\"", "\"\\ud800x\"", "\"\\q\"", "01"] {
        // A line before it, and an escape within it, so that neither is counted.
        let text = format!("{{\"event\":\"g\"}}\n{start}{bad}}}\n");
        let (_, summary) = events(text, &EventCatalog::default());
        let message = &summary.line_errors.first()[0].message;
        let column = message.strip_prefix("invalid JSON at column ").and_then(|rest| rest.split(':').next());
        let column: usize = column.unwrap().parse().unwrap();
        assert!((start.len()..=start.len() + bad.len() + 1).contains(&column), "{bad}: {message}");
        assert!(!message.contains("at line"), "{message}");
    }
}

#[test]
fn formats_are_detected_or_selected() {
    assert_eq!(Format::detect("event"), Format::Csv);
    assert_eq!(Format::detect("events,time"), Format::PlainLines);
    assert_eq!("ndjson".parse(), Ok(Format::JsonLines));
    assert!("xml".parse::<Format>().unwrap_err().contains("jsonl, csv or line"));
    let options = invigil_trace::ReadOptions { format: Some(Format::PlainLines), ..one_thread() };
    let (seen, summary) =
        read_all(vec![input("event\nf\n")], &catalog(&[("event", EventKind::Before, &[])]), &options);
    assert_eq!((seen.len(), summary.ignored, summary.formats), (1, 1, vec![Format::PlainLines]));
    let texts = ["{\"event\":\"push\",\"time\":1}", "event,time", "what is this?", ""];
    let expected = [Format::JsonLines, Format::Csv, Format::PlainLines, Format::PlainLines];
    for threads in [1, 2] {
        let options = invigil_trace::ReadOptions { threads, ..one_thread() };
        for (text, format) in texts.iter().zip(expected) {
            assert_eq!(read_all(vec![input(text)], &queue_catalog(), &options).1.formats, [format]);
        }
        let (_, summary) = read_all(texts.map(input).into(), &queue_catalog(), &options);
        assert_eq!(summary.formats, expected);
    }
    let json = invigil_trace::ReadOptions { format: Some(Format::JsonLines), ..one_thread() };
    assert_eq!(read_all(vec![input("")], &queue_catalog(), &json).1.formats, [Format::JsonLines]);
    let options = invigil_trace::ReadOptions { format: Some(Format::Csv), ..one_thread() };
    for text in ["a,b\n1,2\n", ""] {
        let (_, summary) = read_all(vec![input(text)], &queue_catalog(), &options);
        let ReadEnd::Failed(error @ TraceError::Header { .. }) = summary.end else {
            panic!("{:?}", summary.end)
        };
        assert!(error.to_string().starts_with("test:1: "), "{error}");
    }
}

#[test]
fn compression_is_detected_by_magic_numbers() {
    let text = "push(queue=1)\npop(queue=2)\n";
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let (expected, _) = events([text, text].concat(), &queue_catalog());
    assert_eq!(expected.len(), 4);
    for packed in [[gzip(text), gzip(text)].concat(), [zstd(text), zstd(text)].concat()] {
        for sizes in [[1usize].as_slice(), &[1000]] {
            let input = Input::reader("test", PiecewiseReader::new(&packed, sizes));
            let (seen, summary) = read_all(vec![input], &queue_catalog(), &one_thread());
            assert!(matches!(summary.end, ReadEnd::Finished), "{:?}", summary.end);
            assert_eq!(seen, expected);
        }
    }
}

#[test]
fn unsupported_input_is_reported_with_a_remedy() {
    for (text, word) in [
        (b"\xff\xfe{\0".as_slice(), "iconv"),
        (b"\xfd7zXZ\0", "xz -dc"),
        (b"BZh9", "bzip2 -dc"),
        (b"\x7fELF", "invigil record"),
        (b"[\n{\"event\":\"f\"}\n]", "jq -c"),
        (b"[{\"event\":\"f\"}]", "jq -c"),
    ] {
        let (_, summary) = events(text, &queue_catalog());
        let ReadEnd::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
        assert!(error.to_string().contains(word), "{error}");
    }
    let (_, summary) = read_all(vec![Input::named("/no/such/trace")], &queue_catalog(), &one_thread());
    let ReadEnd::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().starts_with("/no/such/trace: cannot open"), "{error}");
    let (_, summary) = read_all(vec![Input::file("/")], &queue_catalog(), &one_thread());
    let ReadEnd::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().contains("directory"), "{error}");
}

#[test]
fn line_of_white_space_is_blank_in_all_formats() {
    let catalog = catalog(&[("f", EventKind::Before, &[])]);
    for record in ["{\"event\":\"f\"}", "event\nf", "f()"] {
        for blank in ["", " ", "\t\t", "\r", "\t\r\t\r", " \x0c "] {
            let (seen, summary) = events(format!("{blank}\n{record}\n{blank}\n{blank}"), &catalog);
            assert!(summary.line_errors.is_empty(), "{record:?} {blank:?}: {:?}", summary.line_errors);
            assert_eq!(seen.len(), 1, "{record:?} {blank:?}");
        }
    }
}
