//! What each format means, record by record.

mod common;

use common::*;
use invigil_monitor::event::{Catalog, Kind, Param, Source, Type};
use invigil_trace::{End, Format, Input, TraceError};
use std::io::Write;

fn one(text: &str, params: &[Param]) -> Vec<Plain> {
    let (seen, summary) = events(text, &catalog(&[("f", Kind::Before, params)]));
    assert!(summary.problems.is_empty(), "{:?}", summary.problems);
    assert_eq!(seen.len(), 1, "{text}");
    seen[0].params.clone()
}

fn problem(text: &str, params: &[Param]) -> String {
    let (seen, summary) = events(text, &catalog(&[("f", Kind::Before, params)]));
    assert_eq!((seen.len(), summary.problems.count()), (0, 1), "{text}");
    summary.problems.first()[0].message.clone()
}

#[test]
fn the_same_event_in_three_formats() {
    let params =
        [named("queue", None), named("c", None), param(Source::Thread, None), param(Source::Time, None)];
    let catalog = catalog(&[("queue_push", Kind::After, &params)]);
    for text in [
        r#"{"event": "queue_push", "time": 1.25, "thread": 7, "kind": "after", "queue": 93824992252512, "c": "i"}"#,
        "event,time,thread,kind,queue,c\nqueue_push,1.25,7,after,93824992252512,i",
        r#"@1.25 after queue_push(queue=93824992252512, c="i", thread=7)"#,
    ] {
        let (seen, summary) = events(text, &catalog);
        assert!(summary.problems.is_empty(), "{:?}", summary.problems);
        assert_eq!(seen.len(), 1, "{text}");
        assert_eq!(seen[0].time, Some(1.25));
        let expected = [Plain::Int(93824992252512), string("i"), Plain::Int(7), Plain::Float(1.25)];
        assert_eq!(seen[0].params, expected, "{text}");
    }
}

#[test]
fn json_values_of_every_kind() {
    let all: Vec<Param> = "abcdefgh".chars().map(|c| named(&c.to_string(), None)).collect();
    let text = r#"{"event":"f","a":-1,"b":1.5,"c":true,"d":null,"e":[1, {"x": "y"}],"f":"a\"\u00e9\n","g":"a string of more than fourteen bytes"}"#;
    let expected = [
        Plain::Int(-1),
        Plain::Float(1.5),
        Plain::Bool(true),
        Plain::None,
        string(r#"[1, {"x": "y"}]"#),
        string("a\"é\n"),
        string("a string of more than fourteen bytes"),
        Plain::Unset,
    ];
    assert_eq!(one(text, &all), expected);
}

#[test]
fn the_last_of_equal_keys_wins() {
    let q = [named("q", None)];
    assert_eq!(one(r#"{"event":"g","q":1,"event":"f","q":2}"#, &q), [Plain::Int(2)]);
    assert_eq!(one(r#"{"event":"g","q":[],"event":"f","q":2}"#, &q), [Plain::Int(2)]);
    assert_eq!(one("f(q=1, q=2)", &q), [Plain::Int(2)]);
}

#[test]
fn a_parameter_is_found_under_any_of_its_names() {
    let arg = [Param { source: Source::Arg(2), name: "q".into(), ty: None }];
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
        assert_eq!(one(text, &arg), [Plain::Int(5)], "{text}");
    }
    let deref = [param(Source::Deref(Box::new(Source::Name("p".into()))), None)];
    assert_eq!(one("f(*p=3, &p=4)", &deref), [Plain::Int(3)]);
    assert_eq!(one(r#"{"event":"f","*p":3}"#, &deref), [Plain::Int(3)]);
}

#[test]
fn types_are_demanded() {
    let of = |ty| [named("q", Some(ty))];
    let ok = |value: &str, ty, expected: Plain| {
        assert_eq!(one(&format!("{{\"event\":\"f\",\"q\":{value}}}"), &of(ty)), [expected]);
    };
    ok("3.0", Type::Int, Plain::Int(3));
    ok("1e3", Type::Int, Plain::Int(1000));
    ok("3", Type::Float, Plain::Float(3.0));
    ok("18446744073709551616", Type::Float, Plain::Float(18446744073709551616.0));
    ok("false", Type::Bool, Plain::Bool(false));
    ok("null", Type::Int, Plain::None);
    ok("[1]", Type::Str, string("[1]"));
    let not = |value: &str, ty| problem(&format!("{{\"event\":\"f\",\"q\":{value}}}"), &of(ty));
    assert_eq!(not("\"x\"", Type::Int), "`q` should be an integer, but is \"x\"");
    assert_eq!(not("true", Type::Int), "`q` should be an integer, but is true");
    assert_eq!(not("1.5", Type::Int), "`q` should be an integer, but is 1.5");
    assert_eq!(not("1", Type::Bool), "`q` should be true or false, but is 1");
    assert_eq!(not("1", Type::Str), "`q` should be a string, but is 1");
    assert_eq!(not("[]", Type::Float), "`q` should be a number, but is []");
    for ty in [None, Some(Type::Int)] {
        for big in ["9223372036854775808", "123456789012345678901234567890"] {
            for text in [
                format!("{{\"event\":\"f\",\"q\":{big}}}"),
                format!("event,q\nf,{big}"),
                format!("f(q={big})"),
            ] {
                assert!(problem(&text, &[named("q", ty)]).starts_with("integer out of range"), "{text}");
            }
        }
    }
    assert!(problem("f(q=0xffffffffffffffff)", &[named("q", None)]).starts_with("integer out of range"));
    assert!(not("1e30", Type::Int).starts_with("integer out of range"));
    assert!(not("1e999", Type::Float).starts_with("number out of range"));
    // What nobody reads cannot be out of range.
    assert_eq!(one(r#"{"event":"f","x":99999999999999999999,"q":1}"#, &of(Type::Int)), [Plain::Int(1)]);
}

#[test]
fn cells_are_what_they_look_like() {
    let q = [named("q", None)];
    let cell = |text: &str, ty| one(&format!("event,q,x\nf,{text},"), &[named("q", ty)])[0].clone();
    for (text, expected) in [
        ("5", Plain::Int(5)),
        ("-5", Plain::Int(-5)),
        (" 5 ", Plain::Int(5)),
        ("1.5", Plain::Float(1.5)),
        ("1.0e3", Plain::Float(1000.0)),
        ("true", Plain::Bool(true)),
        ("False", Plain::Bool(false)),
        ("", Plain::Unset),
        ("\"\"", string("")),
        ("\"5\"", string("5")),
        ("\"a, \"\"b\"\"\"", string("a, \"b\"")),
        (" \"a\" ", string("a")),
        ("q1", string("q1")),
        // Names that only look like numbers stay apart from each other.
        ("007", string("007")),
        ("12e4", string("12e4")),
        ("+5", string("+5")),
        ("nan", string("nan")),
        ("none", string("none")),
    ] {
        assert_eq!(cell(text, None), expected, "{text}");
    }
    assert_eq!(cell("5", Some(Type::Str)), string("5"));
    assert_eq!(cell("\"5\"", Some(Type::Int)), Plain::Int(5));
    assert_eq!(cell("12e4", Some(Type::Float)), Plain::Float(120000.0));
    assert_eq!(cell("5.0", Some(Type::Int)), Plain::Int(5));
    assert!(problem("event,q\nf,x", &[named("q", Some(Type::Int))]).contains("integer"));
    for (text, message) in [
        ("event,q\nf", "the line has 1 cell, the header 2"),
        ("event,q\nf,1,2", "the line has 3 cells, the header 2"),
        ("event,q\nf,\"1", "does not end on its line"),
        ("event,q\nf,\"1\"2", "after the closing quote"),
        ("event,q\nf,1\"2\"", "a quote in a cell"),
        ("event,q\n,1", "no `event`"),
        ("event,q\nf,1\0", "NUL"),
    ] {
        assert!(problem(text, &q).contains(message), "{text}");
    }
}

#[test]
fn csv_headers() {
    let q = [named("q", None)];
    for text in [
        "q;event\n1;f",
        "event\tq\nf\t1",
        "\u{feff}event,q\r\nf,1\r\n",
        "\n\nevent , q\nf,1",
        "\"q\",\"event\"\n1,f",
    ] {
        assert_eq!(one(text, &q), [Plain::Int(1)], "{text}");
    }
    let (seen, _) = events("\n\nevent,q\n\nf,1\n", &catalog(&[("f", Kind::Before, &q)]));
    assert_eq!(seen[0].line, 5);
    let (seen, _) = events("event\nf\n \nf\n", &catalog(&[("f", Kind::Before, &[])]));
    assert_eq!(seen.len(), 2);
}

#[test]
fn lines_as_one_would_write_them() {
    let q = [param(Source::Arg(1), None)];
    for (value, expected) in [
        ("1", Plain::Int(1)),
        ("-0x1f", Plain::Int(-31)),
        ("0x7fffffffffffffff", Plain::Int(i64::MAX)),
        ("007", Plain::Int(7)),
        ("1.5e1", Plain::Float(15.0)),
        ("True", Plain::Bool(true)),
        ("none", Plain::None),
        ("null", Plain::None),
        ("word:a/b-c.d", string("word:a/b-c.d")),
        ("\"(a, b=c)\"", string("(a, b=c)")),
        (r#""a\"\u00e9é\\""#, string("a\"éé\\")),
        ("  \t1  ", Plain::Int(1)),
    ] {
        assert_eq!(one(&format!("f({value})"), &q)[0], expected, "{value}");
    }
    for (text, message) in [
        ("f(", "without a value"),
        ("f(1", "do not end with `)`"),
        ("f(1,)", "without a value"),
        ("f(q=)", "without a value"),
        ("f(=1)", "no name before `=`"),
        ("f(1a)", "put it in quotes"),
        ("f(1) x", "unexpected text"),
        ("f(\"x)", "does not end on its line"),
        ("f(\"\\x\")", "an escape"),
        ("f(1 2)", "put it in quotes"),
        ("f(é)", "put it in quotes"),
        ("sometimes f", "unknown kind `sometimes`"),
        ("a b c", "more than a kind and a name"),
        ("@x f", "`@` is not followed by a number"),
        ("@1e999 f", "`time` is not a number"),
        ("f(event=1)", "`event` cannot be"),
        ("\"f\"", "no event name"),
        ("f(\0)", "put it in quotes"),
    ] {
        assert!(problem(text, &q).contains(message), "{text}: {}", problem(text, &q));
    }
}

#[test]
fn kinds_and_names() {
    let catalog = catalog(&[
        ("#join", Kind::Join, &[]),
        ("s", Kind::Write, &[]),
        ("read", Kind::Before, &[]),
        ("std::map<K>::~map", Kind::Before, &[]),
        ("f", Kind::Before, &[]),
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
    assert_eq!((summary.ignored, summary.lines, summary.problems.count()), (2, 12, 0));
}

#[test]
fn malformed_lines_are_counted_whatever_the_property() {
    let text = "{\"event\":\"g\",\"x\":01}\n{\"event\":\"g\",\"kind\":\"odd\"}\n{\"event\":\"g\",\"time\":\"x\"}\n\
                {\"x\":1}\n{\"event\":1}\n[1]\n{\"event\":\"g\",\"x\":\"\\ud800\"}\n{\"event\":\"g\"\n{\"event\":\"g\"}\n";
    for catalog in [Catalog::default(), catalog(&[("g", Kind::Before, &[named("x", None)])])] {
        let (_, summary) = events(text, &catalog);
        assert_eq!(summary.problems.count(), 8, "{:?}", summary.problems);
        let lines: Vec<_> = summary.problems.first().iter().map(|problem| problem.place.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn formats_are_told_apart_and_can_be_chosen() {
    assert_eq!(Format::of_line("event"), Format::Csv);
    assert_eq!(Format::of_line("events,time"), Format::Line);
    assert_eq!("ndjson".parse(), Ok(Format::JsonLines));
    assert!("xml".parse::<Format>().unwrap_err().contains("jsonl, csv or line"));
    let options = invigil_trace::Options { format: Some(Format::Line), ..simple() };
    let (seen, summary) =
        read_all(vec![input("event\nf\n")], &catalog(&[("event", Kind::Before, &[])]), &options);
    assert_eq!((seen.len(), summary.ignored), (1, 1));
    let options = invigil_trace::Options { format: Some(Format::Csv), ..simple() };
    for text in ["a,b\n1,2\n", ""] {
        let (_, summary) = read_all(vec![input(text)], &queues(), &options);
        let End::Failed(error @ TraceError::Header { .. }) = summary.end else { panic!("{:?}", summary.end) };
        assert!(error.to_string().starts_with("test:1: "), "{error}");
    }
}

#[test]
fn compressed_input_is_known_by_its_first_bytes() {
    let text = "push(queue=1)\npop(queue=2)\n";
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let (expected, _) = events([text, text].concat(), &queues());
    assert_eq!(expected.len(), 4);
    for packed in [[gzip(text), gzip(text)].concat(), [zstd(text), zstd(text)].concat()] {
        for sizes in [[1usize].as_slice(), &[1000]] {
            let input = Input::reader("test", Pieces::new(&packed, sizes));
            let (seen, summary) = read_all(vec![input], &queues(), &simple());
            assert!(matches!(summary.end, End::Finished), "{:?}", summary.end);
            assert_eq!(seen, expected);
        }
    }
}

#[test]
fn what_is_not_a_trace_is_named_with_a_remedy() {
    for (text, word) in [
        (b"\xff\xfe{\0".as_slice(), "iconv"),
        (b"\xfd7zXZ\0", "xz -dc"),
        (b"BZh9", "bzip2 -dc"),
        (b"\x7fELF", "invigil run"),
        (b"[\n{\"event\":\"f\"}\n]", "jq -c"),
        (b"[{\"event\":\"f\"}]", "jq -c"),
    ] {
        let (_, summary) = events(text, &queues());
        let End::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
        assert!(error.to_string().contains(word), "{error}");
    }
    let (_, summary) = read_all(vec![Input::named("/no/such/trace")], &queues(), &simple());
    let End::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().starts_with("/no/such/trace: cannot open"), "{error}");
    let (_, summary) = read_all(vec![Input::file("/")], &queues(), &simple());
    let End::Failed(error) = summary.end else { panic!("{:?}", summary.end) };
    assert!(error.to_string().contains("directory"), "{error}");
}

#[test]
fn a_line_of_white_space_is_blank_in_every_format() {
    let catalog = catalog(&[("f", Kind::Before, &[])]);
    for record in ["{\"event\":\"f\"}", "event\nf", "f()"] {
        for blank in ["", " ", "\t\t", "\r", "\t\r\t\r", " \x0c "] {
            let (seen, summary) = events(&format!("{blank}\n{record}\n{blank}\n{blank}"), &catalog);
            assert!(summary.problems.is_empty(), "{record:?} {blank:?}: {:?}", summary.problems);
            assert_eq!(seen.len(), 1, "{record:?} {blank:?}");
        }
    }
}
