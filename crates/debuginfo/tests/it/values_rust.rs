//! Values of Rust programs.

use crate::common::live_values::Live;
use invigil_debuginfo::value::extract::{Extractor, ValueRequest};
use invigil_debuginfo::value::format::FormatLimits;
use invigil_debuginfo::value::info::DieRef;
use invigil_debuginfo::value::scalar::{Scalar, ScalarKind};
use invigil_debuginfo::value::typed_value::Unavailable;
use invigil_test_support::Folder;

const SUBJECT: &str = r#"
use std::arch::asm;
pub struct Point { x: i32, y: i32 }
pub struct Wrapper(u8, Option<Box<i64>>);
pub enum Shape { Empty, Circle(f64), Rect { w: u32, h: u32 } }
#[derive(Clone, Copy)]
pub enum Scalar { A = 1, B = 20 }
pub static COUNTER: u64 = 77;
pub struct Unit;

#[inline(never)]
fn stop(
    text: &str, slice: &[u16], owned: String, list: Vec<Point>, some: Option<u32>, none: Option<u32>,
    niche: Option<&i32>, shapes: [Shape; 3], tuple: (i8, char, bool), wrapper: Wrapper, plain: Scalar,
    big: u128, result: Result<i32, String>, unit: Unit, nested: Option<Option<bool>>,
) -> usize {
    let (owned, list, shapes, result) = (owned, list, shapes, result);
    let point = Point { x: 1, y: -2 };
    let reference = &point;
    unsafe { asm!("int3") };
    text.len() + slice.len() + owned.len() + list.len() + some.unwrap_or(0) as usize + none.unwrap_or(1) as usize
        + *niche.unwrap() as usize + shapes.len() + tuple.0 as usize + wrapper.0 as usize + plain as usize
        + big as usize + result.is_ok() as usize + reference.x as usize + COUNTER as usize
        + wrapper.1.map_or(0, |v| *v as usize) + nested.is_some() as usize + std::mem::size_of_val(&unit)
        + point.y as usize + list[0].x as usize
        + shapes.iter().map(|s| match s { Shape::Empty => 1, Shape::Circle(r) => *r as usize, Shape::Rect { w, h } => (w * h) as usize }).sum::<usize>()
}

#[inline(never)]
fn small(number: i64, text: &str, flag: bool, ratio: f64) -> Option<u32> {
    if flag { Some(number as u32 + text.len() as u32 + ratio as u32) } else { None }
}

#[inline(never)]
fn entry(point: Point, some: Option<u32>, owned: String, tuple: (u8, f64), list: &[u8], ratio: f32, three: (u16, u16, u16)) -> (u32, i64) {
    (point.x as u32 + some.unwrap_or(0) + owned.len() as u32 + tuple.0 as u32 + list.len() as u32 + ratio as u32 + three.2 as u32, point.y as i64)
}

fn main() {
    let _ = entry(Point { x: 1, y: -2 }, Some(6), "own".to_string(), (9, 2.5), &[7, 8], 0.25, (1, 2, 3));
    let n = 9;
    let _ = small(-5, "rusty", true, 100.5);
    std::process::exit(stop(
        "héllo", &[1, 2, 3], "owned text".to_string(), vec![Point { x: 3, y: 4 }, Point { x: 5, y: 6 }],
        Some(3), None, Some(&n), [Shape::Circle(1.5), Shape::Rect { w: 2, h: 3 }, Shape::Empty],
        (-1, 'ß', true), Wrapper(7, Some(Box::new(-8))), Scalar::B, 1 << 90, Err("bad".into()), Unit, Some(None),
    ) as i32 & 1);
}
"#;

#[test]
fn rust_values_are_formatted() {
    let shop = Folder::new();
    let path = shop.rust(SUBJECT, &["-g", "-C", "overflow-checks=off"]);
    let mut live = Live::at_function(&path, "entry");
    live.check(&[
        ("point", "Point {x: 1, y: -2}"),
        ("some", "Some(6)"),
        ("owned", "\"own\""),
        ("tuple", "(9, 2.5)"),
        ("list", "[7, 8]"),
        ("ratio", "0.25"),
        ("three", "(1, 2, 3)"),
    ]);
    let at = DieRef { image: 0, die: live.function("entry").die.unwrap() };
    live.run_to_return();
    let scope = live.scope(0);
    assert_eq!(scope.show(&scope.returned(at), &FormatLimits::default()), "(24, -2)");
    live.run_to_function("small");
    live.check(&[("number", "-5"), ("text", "\"rusty\""), ("flag", "true"), ("ratio", "100.5")]);
    let live = Live::at_trap(&path);
    live.check(&[
        ("text", "\"héllo\""),
        ("text.length", "6"),
        ("text == \"héllo\"", "true"),
        ("slice", "[1, 2, 3]"),
        ("slice[1]", "2"),
        ("owned", "\"owned text\""),
        ("owned == \"owned text\"", "true"),
        ("list", "[Point {x: 3, y: 4}, Point {x: 5, y: 6}]"),
        ("list[1].y", "6"),
        ("some", "Some(3)"),
        ("some.0", "3"),
        ("none", "None"),
        ("*niche.0", "9"),
        ("shapes", "[Circle(1.5), Rect {w: 2, h: 3}, Empty]"),
        ("shapes[1].h", "3"),
        ("tuple", "(-1, 'ß', true)"),
        ("tuple.1", "'ß'"),
        ("tuple.0 + 1", "0"),
        ("wrapper.0", "7"),
        ("*wrapper.1.0", "-8"),
        ("plain", "B"),
        ("big", "1237940039285380274899124224"),
        ("result", "Err(\"bad\")"),
        ("unit", "Unit"),
        ("nested", "Some(None)"),
        ("point", "Point {x: 1, y: -2}"),
        ("reference.y", "-2"),
        ("COUNTER", "77"),
        ("COUNTER as u8 + 1", "78"),
        ("program::COUNTER", "77"),
        ("slice[3]", "error: index 3 is out of bounds; the length is 3"),
    ]);
    assert_eq!(live.type_of("text"), "&str");
    assert_eq!(live.type_of("reference"), "&program::Point");
    assert_eq!(live.type_of("shapes"), "[program::Shape; 3]");
}

#[test]
fn extractions_of_elements_and_variants_are_checked_when_read() {
    let shop = Folder::new();
    let path = shop.rust(SUBJECT, &["-g", "-C", "overflow-checks=off"]);
    let live = Live::at_trap(&path);
    let compile = |text: &str| {
        let request = ValueRequest::parse(text).unwrap();
        let (function, pc) = (live.function("stop"), live.frames[0].pc);
        Extractor::compile(&live.program, &live.catalog, &function, pc, &request, ScalarKind::Any)
    };
    let outside = Scalar::Unavailable(Unavailable::OutOfRange);
    let inactive = Scalar::Unavailable(Unavailable::InactiveVariant);
    for (text, value) in [
        ("slice[1]", Scalar::Int(2)),
        ("list[1].y", Scalar::Int(6)),
        ("list[tuple.0 + 2].y", Scalar::Int(6)),
        ("*slice", Scalar::Int(1)),
        ("some.0", Scalar::Int(3)),
        ("result.0", Scalar::Str("bad".to_owned())),
        ("shapes[1].h", Scalar::Int(3)),
        ("(slice[0] @ some.0)[2]", Scalar::Int(3)),
        ("slice[3]", outside.clone()),
        ("slice[tuple.0]", outside.clone()),
        ("(slice[0] @ tuple.0)[0]", outside),
        ("none.0", inactive.clone()),
        ("shapes[0].h", inactive),
    ] {
        let extractor = compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let got = extractor.read(&live.registers(), live.memory(), &live.program, &live.catalog);
        assert_eq!(got, value, "{text}");
    }
    assert_eq!(compile("list[1].z").unwrap_err().to_string(), "`program::Point` has no member `z`");
    assert_eq!(compile("shapes[1].depth").unwrap_err().to_string(), "`program::Shape` has no member `depth`");
}
