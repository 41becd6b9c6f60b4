//! With value abstraction, what is not told would have changed nothing.

mod mac;

use invigil_lang::pedl::ast::Literal;
use invigil_lang::pedl::{Id, Lowered};
use invigil_monitor::mac::{Recogniser, Snapshot, Type, Value};
use mac::good_pedl;
use proptest::prelude::*;

fn lookup(name: &str) -> Option<Literal> {
    (name == "A.TEN").then_some(Literal::Long(10))
}

/// What is asked of each variable, as it is written.
fn asked(pedl: &Lowered) -> Vec<Option<Vec<String>>> {
    let shown = |constant: &Literal| format!("{:?}", constant.value());
    let simple =
        |one: &invigil_lang::pedl::Simple| format!("{} {}", one.operator.word(), shown(&one.constant));
    pedl.entities.iter().map(|one| Some(one.simple.as_ref()?.iter().map(simple).collect())).collect()
}

#[test]
fn simple_expressions_are_found() {
    let pedl = good_pedl(
        "MonScr valueabstract; monobj int x, y, z, w; export condition c1, c2;
         condition c1 = (3 < x && x < 10) || y >10 || z > 10;
         condition c2 = x > 5 && w > 2*z + 3; End",
        &lookup,
    );
    let some = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    assert_eq!(
        asked(&pedl),
        [some(&["> Int(3)", "< Int(10)", "> Int(5)"]), some(&["> Int(10)"]), None, None]
    );

    let pedl = good_pedl(
        "MonScr monobj int u, d, n, k; monobj boolean on, off; monobj String s; export condition c; export event e;
         condition c = defined(d) && n != A.TEN && A.TEN >= k && on && !off && s == \"t\";
         event e = update(u) || start(u > 3) || start(on); End",
        &lookup,
    );
    let expected = [
        None,
        some(&[]),
        some(&["== Long(10)"]),
        some(&["<= Long(10)"]),
        some(&["== Boolean(true)"]),
        some(&["== Boolean(true)"]),
        some(&["== String(\"t\")"]),
    ];
    assert_eq!(asked(&pedl), expected);
}

const SCRIPT: &str = "MonScr valueabstract
    monobj int A.x; monobj double A.y; monobj long A.z; monobj boolean A.on; monobj float A.w; monobj int A.v
    export condition c, d, k; export event e, f, g
    condition c = 3 < A.x && A.x != A.TEN || A.y <= 0.5 && defined(A.z)
    condition d = A.on => A.z >= 4L || A.w < 2
    condition k = A.v + 1 > A.w
    event e = start(A.y > 1) || end(c) when A.on
    event f = update(A.w) when A.x == 5
    event g = start(A.on ? A.y < -1 : 2 > A.y) && end(d)
End";

fn value(ty: Type, number: i8) -> Value<'static> {
    match ty {
        Type::Boolean => Value::Boolean(number % 2 == 0),
        Type::Long => Value::Long(number.into()),
        Type::Double => Value::Double(f64::from(number) / 2.0),
        Type::Float => Value::Float(f32::from(number) / 2.0),
        _ => Value::Int(number.into()),
    }
}

proptest! {
    #[test]
    fn what_is_not_told_changes_nothing(updates in proptest::collection::vec((0usize..6, -6i8..14), 1..60)) {
        let pedl = good_pedl(SCRIPT, &lookup);
        prop_assert_eq!(pedl.entities.iter().filter(|one| one.simple.is_some()).count(), 4);
        let mut recogniser = Recogniser::new(pedl.parts.clone()).unwrap();
        let mut last: Vec<Option<Vec<Option<bool>>>> = vec![None; 6];
        for (at, (which, number)) in updates.into_iter().enumerate() {
            let entity = &pedl.entities[which];
            let value = value(entity.ty.as_ref().unwrap().known().unwrap(), number);
            let Id::Variable(id) = entity.id else { unreachable!() };
            let group = recogniser.snapshot(Snapshot::Update(id, value), at as i64).unwrap();
            let Some(simple) = &entity.simple else { continue };
            let now: Vec<Option<bool>> = simple.iter().map(|one| one.holds(value)).collect();
            if last[which].as_ref() == Some(&now) {
                prop_assert!(group.is_empty(), "{value:?} of {} changed something", entity.path);
            }
            last[which] = Some(now);
        }
    }
}
