//! What is written is read again, in every format and in any pieces; and no bytes make a reader panic.

mod common;

use common::{EVERYTHING, pedl};
use invigil_mac::{
    Entities, Format, GroupReader, GroupWriter, Held, Said, SnapshotReader, SnapshotWriter, Taken, Watched,
    What,
};
use invigil_monitor::mac::{Group, Interface, Truth, Type, Value};
use proptest::prelude::*;

fn of_type(ty: Type) -> BoxedStrategy<Held> {
    match ty {
        Type::Boolean => any::<bool>().prop_map(|v| Held::Plain(Value::Boolean(v))).boxed(),
        Type::Byte => any::<i8>().prop_map(|v| Held::Plain(Value::Byte(v))).boxed(),
        Type::Char => any::<u16>().prop_map(|v| Held::Plain(Value::Char(v))).boxed(),
        Type::Short => any::<i16>().prop_map(|v| Held::Plain(Value::Short(v))).boxed(),
        Type::Int => any::<i32>().prop_map(|v| Held::Plain(Value::Int(v))).boxed(),
        Type::Long => any::<i64>().prop_map(|v| Held::Plain(Value::Long(v))).boxed(),
        Type::Float => {
            let some = prop_oneof![any::<f32>(), Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(-0.0)];
            some.prop_filter("NaN is not equal to itself", |v| !v.is_nan())
                .prop_map(|v| Held::Plain(Value::Float(v)))
                .boxed()
        }
        Type::Double => {
            let some = prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(1e300), Just(-0.0)];
            some.prop_filter("NaN is not equal to itself", |v| !v.is_nan())
                .prop_map(|v| Held::Plain(Value::Double(v)))
                .boxed()
        }
        Type::String => "[a-z \"'\\\\,()#@=\n\t\u{0}é€😀-]{0,12}".prop_map(Held::Text).boxed(),
    }
}

fn any_value() -> impl Strategy<Value = Held> {
    (0..Type::ALL.len()).prop_flat_map(|at| of_type(Type::ALL[at]))
}

/// Any snapshot of the script with everything in it.
fn any_snapshot(bytes: bool) -> impl Strategy<Value = What> {
    let entities = Entities::of(&pedl(EVERYTHING));
    let count = entities.list().len();
    (0..=count + 1).prop_flat_map(move |at| {
        let Some(entity) = entities.list().get(at).cloned() else {
            let variable = |entity: &invigil_mac::Entity| match entity.watched {
                Watched::Variable(variable) => Some(variable),
                Watched::Method(_) => None,
            };
            let variables: Vec<_> = entities.list().iter().filter_map(variable).collect();
            return match at == count || bytes {
                true => Just(What::Tick).boxed(),
                false => proptest::sample::subsequence(variables, 1..4).prop_map(What::Gone).boxed(),
            };
        };
        match entity.watched {
            Watched::Variable(variable) => {
                let value = of_type(entity.ty.unwrap());
                let value = if bytes { value } else { prop_oneof![value, Just(Held::UNDEFINED)].boxed() };
                value.prop_map(move |value| What::Update(variable, value)).boxed()
            }
            Watched::Method(method) => {
                let maybe = |ty: Option<Type>| match ty.filter(|_| !bytes) {
                    Some(ty) => prop_oneof![of_type(ty), Just(Held::UNDEFINED)].boxed(),
                    None => Just(Held::UNDEFINED).boxed(),
                };
                let arguments: Vec<_> =
                    entity.parameters.iter().filter(|_| !bytes).map(|ty| maybe(*ty)).collect();
                let ended = (arguments.clone(), maybe(entity.ty));
                prop_oneof![
                    arguments.prop_map(move |values| What::Start(method, values)),
                    ended.prop_map(move |(values, result)| What::End(method, values, result)),
                ]
                .boxed()
            }
        }
    })
}

fn snapshots(bytes: bool) -> impl Strategy<Value = Vec<Taken>> {
    proptest::collection::vec((0_i64..50, any_snapshot(bytes)), 0..30).prop_map(|all| {
        let mut time = 0;
        let mut timed = |(passed, what)| {
            time += passed * 10;
            Taken { time, what }
        };
        all.into_iter().map(&mut timed).collect()
    })
}

/// What is read of bytes that come in pieces of this length.
fn read_back(format: Format, bytes: &[u8], piece: usize) -> Vec<Taken> {
    let mut reader = SnapshotReader::new(format, Entities::of(&pedl(EVERYTHING)), Some(10)).unwrap();
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

fn written(format: Format, all: &[Taken], deltas: bool) -> Vec<u8> {
    let mut writer = SnapshotWriter::new(format, Entities::of(&pedl(EVERYTHING)), Some(10), deltas).unwrap();
    let mut out = Vec::new();
    for taken in all {
        taken.what.with(|what| writer.write(what, taken.time, &mut out)).unwrap();
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn lines_of_filters(all in snapshots(false), piece in 1_usize..40) {
        let bytes = written(Format::Lines, &all, false);
        prop_assert_eq!(read_back(Format::Lines, &bytes, piece), all, "{}", String::from_utf8_lossy(&bytes));
    }

    /// Ticks come whenever a period has passed, and time begins at zero.
    #[test]
    fn bytes_of_filters(all in snapshots(true), piece in 1_usize..9, deltas: bool) {
        let bytes = written(Format::Bytes, &all, deltas);
        let start = all.first().map_or(0, |taken| taken.time);
        let told = |all: Vec<Taken>, start: i64| -> Vec<(i64, What)> {
            let all = all.into_iter().filter(|taken| taken.what != What::Tick);
            all.map(|taken| (taken.time - start, taken.what)).collect()
        };
        prop_assert_eq!(told(read_back(Format::Bytes, &bytes, piece), 0), told(all, start));
    }

    #[test]
    fn groups_in_both_formats(
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
            let mut group = Group::default();
            group.begin(time);
            for (event, value) in &events {
                group.event(*event);
                value.iter().for_each(|value| group.value(value.value()));
            }
            let mut conditions: Vec<_> = conditions.into_iter().collect();
            // In bytes, they are in the order of what they become.
            conditions.sort_by_key(|(_, truth)| *truth);
            conditions.iter().for_each(|(condition, truth)| group.condition(*condition, truths[*truth]));
            groups.push(group);
        }
        for format in [Format::Lines, Format::Bytes] {
            let mut out = Vec::new();
            let mut writer = GroupWriter::new(format, &names, &mut out).unwrap();
            groups.iter().for_each(|group| writer.write(group, &mut out).unwrap());
            writer.finish(&mut out);
            let (mut reader, mut read, mut group) = (GroupReader::new(format), Vec::new(), Group::default());
            for piece in out.chunks(piece).map(Some).chain([None]) {
                match piece {
                    Some(piece) => reader.feed(piece),
                    None => reader.end(),
                }
                while let Some(said) = reader.next(&mut group).unwrap() {
                    if said == Said::Instant {
                        read.push(group.clone());
                    }
                }
            }
            prop_assert_eq!(&read, &groups, "{}", String::from_utf8_lossy(&out));
            prop_assert_eq!(reader.interface(), Some(&names));
        }
    }

    /// However a stream is damaged, readers come to its end.
    #[test]
    fn damage_is_survived(all in snapshots(true), at: usize, by: u8, cut: usize, format in 0..2_usize) {
        let format = [Format::Lines, Format::Bytes][format];
        let mut bytes = written(format, &all, true);
        if bytes.is_empty() {
            return Ok(());
        }
        let length = bytes.len();
        bytes[at % length] = by;
        bytes.truncate(cut % length + 1);
        let mut reader = SnapshotReader::new(format, Entities::of(&pedl(EVERYTHING)), Some(10)).unwrap();
        reader.feed(&bytes);
        reader.end();
        let steps = std::iter::from_fn(|| reader.next().map_or_else(|_| Some(()), |taken| taken.map(drop)));
        prop_assert!(steps.count() <= length);
    }
}
