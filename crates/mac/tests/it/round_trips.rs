//! Round trips in every format and with any chunking; arbitrary bytes never cause a panic.

use crate::common::{EVERYTHING, pedl};
use invigil_mac::{
    EntityTable, GroupReader, GroupWriter, MonitoredId, OwnedSnapshot, OwnedValue, ReadProgress,
    SnapshotReader, SnapshotWriter, StreamFormat, TimedSnapshot,
};
use invigil_monitor::mac::{EventGroup, Interface, Truth, Type, Value};
use invigil_test_support::cases;
use proptest::prelude::*;

fn of_type(ty: Type) -> BoxedStrategy<OwnedValue> {
    match ty {
        Type::Boolean => any::<bool>().prop_map(|v| OwnedValue::Plain(Value::Boolean(v))).boxed(),
        Type::Byte => any::<i8>().prop_map(|v| OwnedValue::Plain(Value::Byte(v))).boxed(),
        Type::Char => any::<u16>().prop_map(|v| OwnedValue::Plain(Value::Char(v))).boxed(),
        Type::Short => any::<i16>().prop_map(|v| OwnedValue::Plain(Value::Short(v))).boxed(),
        Type::Int => any::<i32>().prop_map(|v| OwnedValue::Plain(Value::Int(v))).boxed(),
        Type::Long => any::<i64>().prop_map(|v| OwnedValue::Plain(Value::Long(v))).boxed(),
        Type::Float => {
            let some = prop_oneof![any::<f32>(), Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(-0.0)];
            some.prop_filter("NaN is not equal to itself", |v| !v.is_nan())
                .prop_map(|v| OwnedValue::Plain(Value::Float(v)))
                .boxed()
        }
        Type::Double => {
            let some = prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(1e300), Just(-0.0)];
            some.prop_filter("NaN is not equal to itself", |v| !v.is_nan())
                .prop_map(|v| OwnedValue::Plain(Value::Double(v)))
                .boxed()
        }
        Type::String => "[a-z \"'\\\\,()#@=\n\t\u{0}é€😀-]{0,12}".prop_map(OwnedValue::Text).boxed(),
    }
}

fn any_value() -> impl Strategy<Value = OwnedValue> {
    (0..Type::ALL.len()).prop_flat_map(|at| of_type(Type::ALL[at]))
}

/// Any snapshot of the script `EVERYTHING`.
fn any_snapshot(bytes: bool) -> impl Strategy<Value = OwnedSnapshot> {
    let entities = EntityTable::of(&pedl(EVERYTHING));
    let count = entities.list().len();
    (0..=count + 1).prop_flat_map(move |at| {
        let Some(entity) = entities.list().get(at).cloned() else {
            let variable = |entity: &invigil_mac::Entity| match entity.id {
                MonitoredId::Variable(variable) => Some(variable),
                MonitoredId::Method(_) => None,
            };
            let variables: Vec<_> = entities.list().iter().filter_map(variable).collect();
            return match at == count || bytes {
                true => Just(OwnedSnapshot::Tick).boxed(),
                false => proptest::sample::subsequence(variables, 1..4)
                    .prop_map(OwnedSnapshot::Invalidated)
                    .boxed(),
            };
        };
        match entity.id {
            MonitoredId::Variable(variable) => {
                let value = of_type(entity.ty.unwrap());
                let value =
                    if bytes { value } else { prop_oneof![value, Just(OwnedValue::UNDEFINED)].boxed() };
                value.prop_map(move |value| OwnedSnapshot::Update(variable, value)).boxed()
            }
            MonitoredId::Method(method) => {
                let maybe = |ty: Option<Type>| match ty.filter(|_| !bytes) {
                    Some(ty) => prop_oneof![of_type(ty), Just(OwnedValue::UNDEFINED)].boxed(),
                    None => Just(OwnedValue::UNDEFINED).boxed(),
                };
                let arguments: Vec<_> =
                    entity.parameters.iter().filter(|_| !bytes).map(|ty| maybe(*ty)).collect();
                let ended = (arguments.clone(), maybe(entity.ty));
                prop_oneof![
                    arguments.prop_map(move |values| OwnedSnapshot::Start(method, values)),
                    ended.prop_map(move |(values, result)| OwnedSnapshot::End(method, values, result)),
                ]
                .boxed()
            }
        }
    })
}

fn snapshots(bytes: bool) -> impl Strategy<Value = Vec<TimedSnapshot>> {
    proptest::collection::vec((0_i64..50, any_snapshot(bytes)), 0..30).prop_map(|all| {
        let mut time = 0;
        let mut timed = |(passed, what)| {
            time += passed * 10;
            TimedSnapshot { time, snapshot: what }
        };
        all.into_iter().map(&mut timed).collect()
    })
}

/// The snapshots read from bytes in chunks of this length.
fn read_back(format: StreamFormat, bytes: &[u8], piece: usize) -> Vec<TimedSnapshot> {
    let mut reader = SnapshotReader::new(format, EntityTable::of(&pedl(EVERYTHING)), Some(10)).unwrap();
    let mut out = Vec::new();
    for piece in bytes.chunks(piece) {
        reader.feed(piece);
        while let Some(taken) = reader.next().unwrap() {
            out.push(taken);
        }
    }
    reader.end();
    assert_eq!(reader.next(), Ok(None));
    out
}

fn written(format: StreamFormat, all: &[TimedSnapshot], deltas: bool) -> Vec<u8> {
    let mut writer =
        SnapshotWriter::new(format, EntityTable::of(&pedl(EVERYTHING)), Some(10), deltas).unwrap();
    let mut out = Vec::new();
    for taken in all {
        taken.snapshot.with_borrowed(|what| writer.write(what, taken.time, &mut out)).unwrap();
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    #[test]
    fn filter_lines_round_trip(all in snapshots(false), piece in 1_usize..40) {
        let bytes = written(StreamFormat::Lines, &all, false);
        prop_assert_eq!(read_back(StreamFormat::Lines, &bytes, piece), all, "{}", String::from_utf8_lossy(&bytes));
    }

    /// A tick occurs whenever a period has passed, and time starts at zero.
    #[test]
    fn filter_bytes_round_trip(all in snapshots(true), piece in 1_usize..9, deltas: bool) {
        let bytes = written(StreamFormat::Bytes, &all, deltas);
        let start = all.first().map_or(0, |taken| taken.time);
        let reported = |all: Vec<TimedSnapshot>, start: i64| -> Vec<(i64, OwnedSnapshot)> {
            let all = all.into_iter().filter(|taken| taken.snapshot != OwnedSnapshot::Tick);
            all.map(|taken| (taken.time - start, taken.snapshot)).collect()
        };
        prop_assert_eq!(reported(read_back(StreamFormat::Bytes, &bytes, piece), 0), reported(all, start));
    }

    #[test]
    fn groups_round_trip_in_both_formats(
        instants in proptest::collection::vec(
            (any::<i64>(), proptest::collection::vec((0_u32..3, proptest::option::of(any_value())), 0..4),
             proptest::collection::vec((0_u32..2, 0_usize..3), 0..3)),
            0..12,
        ),
        piece in 1_usize..30,
    ) {
        let names = Interface {
            events: ["e", "f", "véry_long"].map(String::from).to_vec(),
            conditions: ["c", "d"].map(String::from).to_vec(),
        };
        let truths = [Truth::True, Truth::False, Truth::Undefined];
        let mut groups = Vec::new();
        for (time, events, conditions) in instants {
            let mut group = EventGroup::default();
            group.begin(time);
            for (event, value) in &events {
                group.event(*event);
                value.iter().for_each(|value| group.value(value.value()));
            }
            let mut conditions: Vec<_> = conditions.into_iter().collect();
            // In bytes, conditions are ordered by their new value.
            conditions.sort_by_key(|(_, truth)| *truth);
            conditions.iter().for_each(|(condition, truth)| group.condition(*condition, truths[*truth]));
            groups.push(group);
        }
        for format in [StreamFormat::Lines, StreamFormat::Bytes] {
            let mut out = Vec::new();
            let mut writer = GroupWriter::new(format, &names, &mut out).unwrap();
            groups.iter().for_each(|group| writer.write(group, &mut out).unwrap());
            writer.finish(&mut out);
            let (mut reader, mut read, mut group) = (GroupReader::new(format), Vec::new(), EventGroup::default());
            for piece in out.chunks(piece).map(Some).chain([None]) {
                match piece {
                    Some(piece) => reader.feed(piece),
                    None => reader.end(),
                }
                while let Some(said) = reader.next(&mut group).unwrap() {
                    if said == ReadProgress::Instant {
                        read.push(group.clone());
                    }
                }
            }
            prop_assert_eq!(&read, &groups, "{}", String::from_utf8_lossy(&out));
            prop_assert_eq!(reader.interface(), Some(&names));
        }
    }

    /// Readers reach the end of a stream in spite of any damage.
    #[test]
    fn damaged_streams_never_panic(all in snapshots(true), at: usize, by: u8, cut: usize, format in 0..2_usize) {
        let format = [StreamFormat::Lines, StreamFormat::Bytes][format];
        let mut bytes = written(format, &all, true);
        if bytes.is_empty() {
            return Ok(());
        }
        let length = bytes.len();
        bytes[at % length] = by;
        bytes.truncate(cut % length + 1);
        let mut reader = SnapshotReader::new(format, EntityTable::of(&pedl(EVERYTHING)), Some(10)).unwrap();
        reader.feed(&bytes);
        reader.end();
        let steps = std::iter::from_fn(|| reader.next().map_or_else(|_| Some(()), |taken| taken.map(drop)));
        prop_assert!(steps.count() <= length);
    }
}
