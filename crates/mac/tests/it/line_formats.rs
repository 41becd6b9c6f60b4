//! The text formats: accepted input, error messages, and truncated streams.

use crate::common::{EVERYTHING, medl, pedl};
use invigil_mac::{
    CheckRun, EntityTable, GroupReader, InputError, InputPosition, OwnedSnapshot, OwnedValue, ReadProgress,
    RecognitionSummary, SnapshotReader, StreamFormat, TimedSnapshot, check, recognise,
};
use invigil_monitor::mac::{EventGroup, MethodId, Recogniser, Value, VariableId};

fn read(text: &str) -> Vec<Result<TimedSnapshot, InputError>> {
    let mut reader =
        SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&pedl(EVERYTHING)), Some(10)).unwrap();
    reader.feed(text.as_bytes());
    reader.end();
    std::iter::from_fn(|| reader.next().transpose()).collect()
}

fn one(line: &str) -> TimedSnapshot {
    read(&format!("{line}\n")).remove(0).unwrap_or_else(|problem| panic!("{problem}"))
}

fn complaint(line: &str) -> String {
    match read(&format!("{line}\n")).remove(0) {
        Ok(taken) => panic!("{taken:?}"),
        Err(problem) => {
            assert_eq!((problem.position, problem.is_fatal), (InputPosition::Line(1), false));
            problem.message
        }
    }
}

#[test]
fn filter_lines_are_parsed() {
    let plain = |value| OwnedValue::Plain(value);
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    let cases = [
        ("update A.i 35", 0, OwnedSnapshot::Update(VariableId(4), plain(Value::Int(35)))),
        ("  update   A.i\t35   @12  ", 12, OwnedSnapshot::Update(VariableId(4), plain(Value::Int(35)))),
        ("update A.b true", 0, OwnedSnapshot::Update(VariableId(0), plain(Value::Boolean(true)))),
        ("update A.c '\\''", 0, OwnedSnapshot::Update(VariableId(2), plain(Value::Char(39)))),
        (
            "update A.f -Infinity",
            0,
            OwnedSnapshot::Update(VariableId(6), plain(Value::Float(f32::NEG_INFINITY))),
        ),
        ("update A.d 3", 0, OwnedSnapshot::Update(VariableId(7), plain(Value::Double(3.0)))),
        ("update A.t \"a @5 \\\"b\\\"\" @6", 6, OwnedSnapshot::Update(VariableId(8), text("a @5 \"b\""))),
        ("update A.i undefined", 0, OwnedSnapshot::Update(VariableId(4), OwnedValue::UNDEFINED)),
        ("update A.main(int, int).x 1", 0, OwnedSnapshot::Update(VariableId(9), plain(Value::Int(1)))),
        ("update A.main(int,int).x 1", 0, OwnedSnapshot::Update(VariableId(9), plain(Value::Int(1)))),
        ("start A.go()", 0, OwnedSnapshot::Start(MethodId(0), vec![])),
        ("start A.go @7", 7, OwnedSnapshot::Start(MethodId(0), vec![])),
        ("end A.go() @-3", -3, OwnedSnapshot::End(MethodId(0), vec![], OwnedValue::UNDEFINED)),
        ("start A.sum(double)(0.5)", 0, OwnedSnapshot::Start(MethodId(2), vec![plain(Value::Double(0.5))])),
        (
            "end A.sum(int, String, Object)(1, \") (\", undefined) -> 3 @4",
            4,
            OwnedSnapshot::End(
                MethodId(1),
                vec![plain(Value::Int(1)), text(") ("), OwnedValue::UNDEFINED],
                plain(Value::Int(3)),
            ),
        ),
        ("gone A.i", 0, OwnedSnapshot::Invalidated(vec![VariableId(4)])),
        (
            "gone A.i, A.main(int, int).x @5",
            5,
            OwnedSnapshot::Invalidated(vec![VariableId(4), VariableId(9)]),
        ),
        ("tick 40", 40, OwnedSnapshot::Tick),
        ("tick @40", 40, OwnedSnapshot::Tick),
        ("tick", 10, OwnedSnapshot::Tick),
    ];
    for (line, time, what) in cases {
        assert_eq!(one(line), TimedSnapshot { time, snapshot: what }, "{line}");
    }
}

#[test]
fn omitted_time_repeats_previous_time() {
    let times: Vec<i64> = read("# begin\n\nupdate A.i 1 @5\nupdate A.i 2\r\ntick\nstart A.go()\n")
        .into_iter()
        .map(|taken| taken.unwrap().time)
        .collect();
    assert_eq!(times, [5, 5, 15, 15]);
}

#[test]
fn malformed_lines_are_reported() {
    let cases = [
        ("hello", "`hello` is none of `update`, `change`, `start`, `end`, `gone` and `tick`"),
        ("update", "the script does not monitor ``"),
        ("update A.i", "a value is missing"),
        ("update A.i 2147483648", "is not of type int"),
        ("update A.y 128", "is not of type byte"),
        ("update A.b yes", "neither `true` nor `false`"),
        ("update A.c ab", "is not a char; write 'a'"),
        ("update A.t text", "a String is written as \"text\""),
        ("update A.t \"text", "a String is written as \"text\""),
        ("update A.i 1 2", "a time is written `@1500`"),
        ("update A.i 1 @soon", "not a time in whole milliseconds"),
        ("update A.go() 1", "`A.go()` is a method; report its `start`"),
        ("update A.j 1", "did you mean `A."),
        ("start A.i", "`A.i` is a variable; report its `update`"),
        ("start A.sum(1)", "`A.sum` is ambiguous"),
        ("start A.go(1)", "has 0 parameters"),
        ("start A.sum(double)(1", "a `)` is missing"),
        ("start A.sum(double)(1 2)", "arguments are separated by commas"),
        ("end A.go() -> 3", "the method has no monitored result"),
        ("start A.sum(int, String, Object)(1, \"\", 7)", "an argument that is an object as `undefined`"),
        ("gone", "the script does not monitor"),
        ("tick soon", "not a time in whole milliseconds"),
    ];
    for (line, words) in cases {
        let message = complaint(line);
        assert!(message.contains(words), "{line}: {message}");
    }
    let mut reader =
        SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&pedl(EVERYTHING)), None).unwrap();
    reader.feed(b"tick\n\xff\xfe\n");
    assert!(reader.next().unwrap_err().message.contains("timestamp 100;"));
    assert!(reader.next().unwrap_err().message.contains("--format bytes"));
}

/// For any truncation, all complete lines are read and the incomplete one is reported.
#[test]
fn truncated_filter_stream_reports_last_line() {
    let text = "update A.i 35 @10\nstart A.go()\nend A.sum(double)(0.5)\n";
    for cut in 0..=text.len() {
        let part = &text[..cut];
        let whole = part.matches('\n').count();
        let results = read(part);
        assert_eq!(results.iter().filter(|one| one.is_ok()).count(), whole, "{cut}");
        let broken = part.is_empty() || part.ends_with('\n');
        assert_eq!(results.len() - whole, usize::from(!broken), "{cut}");
    }
}

fn instants(text: &str) -> (usize, Vec<InputError>) {
    let (mut reader, mut group) = (GroupReader::new(StreamFormat::Lines), EventGroup::default());
    reader.feed(text.as_bytes());
    reader.end();
    let (mut instants, mut problems) = (0, Vec::new());
    loop {
        match reader.next(&mut group) {
            Ok(Some(ReadProgress::Instant)) => instants += 1,
            Ok(Some(_)) => {}
            Ok(None) => return (instants, problems),
            Err(problem) => problems.push(problem),
        }
    }
}

const REPORTED: &str =
    "recognised 1\nevent e\nevent f\ncondition c\nbegin\n5 e f(1, \"x\") c=true\n6\n7 c=undefined\nend 3\n";

#[test]
fn truncated_recogniser_stream_is_fatal() {
    assert_eq!(instants(REPORTED), (3, vec![]));
    for cut in 0..REPORTED.len() {
        let (count, problems) = instants(&REPORTED[..cut]);
        assert!(!problems.is_empty(), "{cut}");
        assert!(problems.last().unwrap().is_fatal, "{cut}");
        assert!(count <= 3);
    }
}

#[test]
fn damaged_instants_are_reported() {
    let cases = [
        ("5 e", "x e", "not a time in milliseconds"),
        ("f(1", "g(1", "`g` is neither an event nor a condition"),
        ("c=true", "c=maybe", "`true`, `false` or `undefined`"),
        ("c=true", "c", "write `c=true`"),
        ("5 e", "5 e=true", "which has no truth value"),
        ("\"x\")", "\"x\"", "a `)` is missing"),
        ("f(1, \"x\") c", "f(1, \"x\")c", "a blank is missing"),
        ("f(1", "f(99999999999", "is not of type int"),
        ("end 3", "end 4", "4 instants were sent, but 3 could be read"),
        ("end 3\n", "end 3\n8 e\n", "unexpected line after `end`"),
        ("event f", "event e", "`e` is declared twice"),
        ("event f", "event f g", "this is not a name"),
        ("begin", "1 e", "names come first"),
        ("recognised 1", "hello", "starts with `recognised 1`"),
    ];
    for (before, after, words) in cases {
        let (_, problems) = instants(&REPORTED.replacen(before, after, 1));
        assert!(problems.iter().any(|problem| problem.message.contains(words)), "{after}: {problems:?}");
    }
}

const SCRIPT: &str =
    "MonScr monobj int A.x; condition high = A.x > 3; export condition high; timestamp 10; End";
const LIMIT: &str =
    "ReqSpec import condition high; property low = !high; property soon = high => currentTime < 30; End";

fn stage(text: &str, strict: bool, to: &mut CheckRun<'_>) -> RecognitionSummary {
    let script = pedl(SCRIPT);
    let mut reader = SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&script), Some(10)).unwrap();
    let mut recogniser = Recogniser::new(script.parts).unwrap();
    recognise(&mut text.as_bytes(), &mut reader, &mut recogniser, to, strict)
}

#[test]
fn ticks_are_passed_to_checker() {
    let mut checking = CheckRun::new(medl(LIMIT, &pedl(SCRIPT))).unwrap();
    let done = stage("update A.x 5 @20\ntick\n", false, &mut checking);
    assert_eq!((done.snapshots, done.instants, done.is_complete()), (2, 2, true));
    let soon = &checking.outcome().requirements[1];
    assert_eq!((soon.count, soon.first, checking.outcome().span), (1, Some(30), Some((20, 30))));
}

#[test]
fn strict_stage_stops_at_first_error() {
    let text = "update A.x 1 @1\nnonsense\nupdate A.x 9 @2\n";
    let mut checking = CheckRun::new(medl(LIMIT, &pedl(SCRIPT))).unwrap();
    let done = stage(text, false, &mut checking);
    assert_eq!((done.snapshots, done.errors.count(), done.failure), (2, 1, None));
    assert_eq!(checking.outcome().violation_count(), 1);
    let mut checking = CheckRun::new(medl(LIMIT, &pedl(SCRIPT))).unwrap();
    let done = stage(text, true, &mut checking);
    assert_eq!(done.snapshots, 1);
    assert!(done.failure.unwrap().starts_with("line 2: `nonsense`"));
    assert_eq!(checking.outcome().violation_count(), 0);
}

/// A stream whose other side disconnects.
struct Breaks<'a>(&'a [u8]);

impl std::io::Read for Breaks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() {
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
        self.0.read(buffer)
    }
}

#[test]
fn broken_connections_are_reported() {
    let script = pedl(SCRIPT);
    let mut checking = CheckRun::new(medl(LIMIT, &script)).unwrap();
    let reported = "recognised 1\ncondition high\nbegin\n5 high=true\n";
    let done = check(
        &mut Breaks(reported.as_bytes()),
        &mut GroupReader::new(StreamFormat::Lines),
        &mut checking,
        false,
    );
    assert!(done.failure.unwrap().contains("the connection to the recogniser was lost"));
    assert_eq!(checking.outcome().violation_count(), 1, "what came is judged");

    let mut reader = SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&script), None).unwrap();
    let mut recogniser = Recogniser::new(script.parts).unwrap();
    let mut checking = CheckRun::new(medl(LIMIT, &pedl(SCRIPT))).unwrap();
    let done =
        recognise(&mut Breaks(b"update A.x 9 @5\n"), &mut reader, &mut recogniser, &mut checking, false);
    assert!(done.failure.unwrap().contains("the connection to the filter was lost"));
    assert_eq!(checking.outcome().violation_count(), 1);
}
