//! The published byte formats: examples from the publication, limits, and truncated or invalid streams.
#![expect(clippy::approx_constant, reason = "the printed example has 3.14")]

use crate::common::{EVERYTHING, pedl};
use invigil_mac::{
    EntityTable, GroupReader, GroupWriter, InputPosition, OwnedSnapshot, OwnedValue, ReadProgress,
    SnapshotReader, SnapshotWriter, StreamFormat,
};
use invigil_monitor::mac::{EventGroup, Interface, Snapshot, Truth, Value, VariableId};

const TWO: &str = "MonScr monobj int A.b1.x; monobj double A.b1.y; timestamp 100; deltavalue;
                   event e = update(A.b1.x) || update(A.b1.y); export event e; End";

fn writer(script: &str, deltas: bool) -> SnapshotWriter {
    SnapshotWriter::new(StreamFormat::Bytes, EntityTable::of(&pedl(script)), Some(100), deltas).unwrap()
}

fn reader(script: &str) -> SnapshotReader {
    SnapshotReader::new(StreamFormat::Bytes, EntityTable::of(&pedl(script)), Some(100)).unwrap()
}

fn update(number: u32, value: Value<'static>) -> OwnedSnapshot {
    OwnedSnapshot::Update(VariableId(number), OwnedValue::Plain(value))
}

/// Figure A.1: x is 35, y is 3.14, a tick, and x is one less.
#[test]
fn snapshots_match_published_example() {
    let (x, y) = (VariableId(0), VariableId(1));
    let mut writer = writer(TWO, true);
    let mut out = Vec::new();
    writer.write(Snapshot::Update(x, Value::Int(35)), 0, &mut out).unwrap();
    writer.write(Snapshot::Update(y, Value::Double(3.14)), 0, &mut out).unwrap();
    writer.write(Snapshot::Tick, 100, &mut out).unwrap();
    writer.write(Snapshot::Update(x, Value::Int(34)), 100, &mut out).unwrap();
    let mut expected = vec![10, 0, 0, 0, 35, 11];
    expected.extend(3.14_f64.to_be_bytes());
    expected.extend([1, -10_i8 as u8, -1_i8 as u8]);
    assert_eq!(out, expected);

    let mut reader = reader(TWO);
    reader.feed(&out);
    reader.end();
    let mut read = Vec::new();
    while let Some(taken) = reader.next().unwrap() {
        read.push((taken.time, taken.snapshot));
    }
    let all = [
        (0, update(0, Value::Int(35))),
        (0, update(1, Value::Double(3.14))),
        (100, OwnedSnapshot::Tick),
        (100, update(0, Value::Int(34))),
    ];
    assert_eq!(read, all);
}

#[test]
fn several_ticks_are_sent_as_one_snapshot() {
    let mut writer = writer(TWO, false);
    let mut out = Vec::new();
    writer.write(Snapshot::Tick, 5_000, &mut out).unwrap();
    assert!(out.is_empty(), "time begins with the first snapshot");
    writer.write(Snapshot::Tick, 5_000 + 100 * 300, &mut out).unwrap();
    assert_eq!(out, [2, 255, 2, 45]);
    let mut reader = reader(TWO);
    reader.feed(&out);
    assert_eq!(reader.next().unwrap().unwrap().time, 25_500);
    assert_eq!(reader.next().unwrap().unwrap().time, 30_000);
}

/// A difference that does not fit is sent as a value.
#[test]
fn overflowing_difference_is_sent_as_value() {
    let cases: [(u32, Value<'static>, Value<'static>, usize); 14] = [
        (4, Value::Int(0), Value::Int(127), 2),
        (4, Value::Int(0), Value::Int(128), 5),
        (4, Value::Int(0), Value::Int(-128), 2),
        (4, Value::Int(0), Value::Int(-129), 5),
        (4, Value::Int(i32::MIN), Value::Int(i32::MAX), 5),
        (3, Value::Short(-1), Value::Short(126), 2),
        (3, Value::Short(i16::MIN), Value::Short(i16::MAX), 3),
        (5, Value::Long(5), Value::Long(5 + i32::MAX as i64), 5),
        (5, Value::Long(5), Value::Long(6 + i32::MAX as i64), 9),
        (5, Value::Long(i64::MIN), Value::Long(i64::MAX), 9),
        (7, Value::Double(1.0), Value::Double(1.5), 5),
        (7, Value::Double(1.0), Value::Double(1.1), 9),
        (7, Value::Double(0.0), Value::Double(f64::MAX), 9),
        (6, Value::Float(1.0), Value::Float(1.5), 5),
    ];
    for (variable, before, after, length) in cases {
        let mut writer = writer(EVERYTHING, true);
        let mut out = Vec::new();
        writer.write(Snapshot::Update(VariableId(variable), before), 0, &mut out).unwrap();
        let first = out.len();
        writer.write(Snapshot::Update(VariableId(variable), after), 0, &mut out).unwrap();
        assert_eq!(out.len() - first, length, "{before:?} {after:?}");
        let mut reader = reader(EVERYTHING);
        reader.feed(&out);
        assert_eq!(reader.next().unwrap().unwrap().snapshot, update(variable, before));
        assert_eq!(reader.next().unwrap().unwrap().snapshot, update(variable, after));
    }
}

#[test]
fn byte_format_rejects_unsupported_snapshots() {
    let mut writer = writer(EVERYTHING, false);
    let mut out = Vec::new();
    for what in [Snapshot::Invalidated(&[VariableId(0)]), Snapshot::Update(VariableId(0), Value::Undefined)] {
        let limit = writer.write(what, 0, &mut out).unwrap_err();
        assert!(limit.to_string().contains("`lines` has no such limit"), "{limit}");
        assert!(out.is_empty());
    }
}

#[test]
fn byte_format_rejects_more_than_118_entities() {
    let script = |count: usize| {
        let mut text = "MonScr ".to_owned();
        (0..count).for_each(|at| text += &format!("monobj int A.x{at};\n"));
        pedl(&(text + "event e = update(A.x0); export event e; End"))
    };
    let entities = EntityTable::of(&script(118));
    let mut writer = SnapshotWriter::new(StreamFormat::Bytes, entities, None, false).unwrap();
    let mut out = Vec::new();
    writer.write(Snapshot::Update(VariableId(117), Value::Int(1)), 0, &mut out).unwrap();
    assert_eq!(out, [127, 0, 0, 0, 1]);
    let limit = SnapshotReader::new(StreamFormat::Bytes, EntityTable::of(&script(119)), None).unwrap_err();
    assert!(limit.to_string().contains("119") && limit.to_string().contains("118"), "{limit}");
    SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&script(119)), None).unwrap();
}

#[test]
fn invalid_bytes_are_reported() {
    let cases: [(&[u8], u64, &str); 7] = [
        (&[10, 0, 0, 0, 35, 99], 5, "unknown entity number 99"),
        (&[0], 0, "unknown entity number 0"),
        (&[3], 0, "unknown entity number 3"),
        (&[0x80], 0, "unknown entity number -128"),
        (&[-10_i8 as u8, 1], 0, "before any value"),
        (&[10, 0, 0, 0, 35, 10, 0, 0], 5, "the stream is truncated"),
        (&[2], 0, "the stream is truncated"),
    ];
    for (bytes, offset, words) in cases {
        let mut reader = reader(TWO);
        reader.feed(bytes);
        reader.end();
        let problem = loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{bytes:?} is fine"),
                Err(problem) => break problem,
            }
        };
        assert_eq!(problem.position, InputPosition::Byte(offset), "{bytes:?}");
        assert!(problem.is_fatal && problem.message.contains(words), "{problem}");
        assert_eq!(reader.next(), Ok(None), "the error is reported once");
    }
    let mut reader = SnapshotReader::new(StreamFormat::Bytes, EntityTable::of(&pedl(TWO)), None).unwrap();
    reader.feed(&[1]);
    assert!(reader.next().unwrap_err().message.contains("timestamp"));
}

fn crossing() -> (Interface, EventGroup) {
    let names = Interface { events: vec!["enteringCrossing".into()], conditions: vec!["inCrossing".into()] };
    let mut group = EventGroup::default();
    group.begin(72_342_400);
    group.event(0);
    group.value(Value::Int(13));
    group.condition(0, Truth::True);
    (names, group)
}

/// Figure B.1: `inCrossing` is 0, `enteringCrossing` is 1 and happens with the value 13.
#[test]
fn groups_match_published_example() {
    let (names, group) = crossing();
    let mut out = Vec::new();
    let mut writer = GroupWriter::new(StreamFormat::Bytes, &names, &mut out).unwrap();
    let mut table = b"MaC\x01\x00\x01\x00\x00\x0ainCrossing\x00\x01\x01\x00\x10enteringCrossing".to_vec();
    assert_eq!(out, table);
    writer.write(&group, &mut out).unwrap();
    table.extend(72_342_400_i64.to_be_bytes());
    table.extend([1, 1, 0, 0, 1, 10, 0, 0, 0, 13, 0]);
    assert_eq!(out, table);

    // Also in single bytes, and truncated anywhere.
    for cut in 0..=out.len() {
        let (mut reader, mut read, mut said) =
            (GroupReader::new(StreamFormat::Bytes), EventGroup::default(), Vec::new());
        for byte in &out[..cut] {
            reader.feed(&[*byte]);
            said.extend(reader.next(&mut read).unwrap());
        }
        reader.end();
        let end = reader.next(&mut EventGroup::default());
        let header = out.len() - 19;
        assert_eq!(end.is_ok(), cut == header || cut == out.len(), "{cut}");
        assert_eq!(said.contains(&ReadProgress::Names), cut >= header);
        if cut == out.len() {
            assert_eq!(said, [ReadProgress::Names, ReadProgress::Instant]);
            assert_eq!((reader.interface(), &read), (Some(&names), &group));
        }
    }
}

#[test]
fn byte_format_limits_of_groups_are_reported() {
    let names = |count: usize| Interface {
        events: (0..count).map(|at| format!("e{at}")).collect(),
        conditions: Vec::new(),
    };
    let mut out = Vec::new();
    let limit = GroupWriter::new(StreamFormat::Bytes, &names(257), &mut out).unwrap_err();
    assert!(limit.to_string().contains("257") && limit.to_string().contains("256"), "{limit}");
    let mut writer = GroupWriter::new(StreamFormat::Bytes, &names(256), &mut out).unwrap();
    let mut group = EventGroup::default();
    group.begin(0);
    (0..255).for_each(|event| group.event(event));
    writer.write(&group, &mut out).unwrap();
    let before = out.len();
    group.event(255);
    let limit = writer.write(&group, &mut out).unwrap_err();
    assert!(limit.to_string().contains("256 events at one instant"), "{limit}");
    group.begin(0);
    group.event(0);
    group.value(Value::Int(1));
    group.value(Value::Int(2));
    let limit = writer.write(&group, &mut out).unwrap_err();
    assert!(limit.to_string().contains("several values"), "{limit}");
    assert_eq!(out.len(), before, "nothing half is written");

    // The event with the largest number is -1 on the wire.
    group.begin(5);
    group.event(255);
    writer.write(&group, &mut out).unwrap();
    assert_eq!(out[before + 12..], [255, 0]);
    let (mut reader, mut read) = (GroupReader::new(StreamFormat::Bytes), EventGroup::default());
    reader.feed(&out);
    let said: Vec<ReadProgress> = std::iter::from_fn(|| reader.next(&mut read).unwrap()).collect();
    assert_eq!(said.len(), 3);
    assert_eq!(read, group);
}

#[test]
fn other_streams_are_rejected_as_groups() {
    let (names, _) = crossing();
    let (mut lines, mut bytes) = (Vec::new(), Vec::new());
    GroupWriter::new(StreamFormat::Lines, &names, &mut lines).unwrap();
    GroupWriter::new(StreamFormat::Bytes, &names, &mut bytes).unwrap();
    let mut reader = GroupReader::new(StreamFormat::Bytes);
    reader.feed(&lines);
    let problem = reader.next(&mut EventGroup::default()).unwrap_err();
    assert!(problem.message.contains("--format lines"), "{problem}");
    let mut reader = GroupReader::new(StreamFormat::Lines);
    reader.feed(&bytes);
    reader.feed(b"\n");
    let problem = reader.next(&mut EventGroup::default()).unwrap_err();
    assert!(problem.message.contains("--format bytes"), "{problem}");
}
