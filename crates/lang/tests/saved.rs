//! The state of a property as bytes: large values come back, and bytes that are none do no harm.

use invigil_expr::diag::SourceId;
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Catalog, Event, Kind};
use invigil_monitor::observer::Unobserved;
use invigil_monitor::slices::Slices;
use invigil_monitor::{Monitor, Scratch};

const TEXT: &str = r#"
slice on who
initialization {
    seen = {}
    last = []
    names = set()
    note = "nothing that would fit into a few bytes"
}
state init accepting {
    transition {
        event told(who: str, n: int) {
            seen[n] = (n, [who, n * 0.5], True, None)
            last.append({n: who})
            names.add(who)
            note = note + "."
        }
        success init
    }
    transition { event broken(n: int) { last = 1 // n } success init }
}
"#;

fn property() -> (Automaton, Catalog) {
    let mut catalog = Catalog::default();
    let (property, problems) = prop::parse(SourceId(0), TEXT);
    assert!(problems.is_empty(), "{problems:#?}");
    let (automaton, problems) = prop::lower::lower("saved", &property, &[], &mut catalog);
    (automaton.unwrap_or_else(|| panic!("{problems:#?}")), catalog)
}

fn tell(automaton: &Automaton, catalog: &Catalog, slices: &mut Slices, name: &str, who: &str, n: i64) {
    let symbol = catalog.find(name, Kind::Before).unwrap();
    let value = |param: &str| match param {
        "who" => Value::short(who).unwrap_or_else(|| Value::text(0, who.len() as u32)),
        _ => Value::int(n),
    };
    let params: Vec<Value> =
        catalog.get(symbol).unwrap().params.iter().map(|param| value(&param.name)).collect();
    automaton.step(
        slices,
        &mut Scratch::default(),
        &Event { symbol, params: &params, text: who },
        &mut Unobserved,
    );
}

fn filled(automaton: &Automaton, catalog: &Catalog) -> Slices {
    let mut slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    for n in 0..40 {
        tell(
            automaton,
            catalog,
            &mut slices,
            "told",
            ["a", "b", "one with a name that is long"][n as usize % 3],
            n,
        );
    }
    slices
}

#[test]
fn large_values_come_back_and_go_on_alike() {
    let (automaton, catalog) = property();
    let mut slices = filled(&automaton, &catalog);
    let mut moved = Slices::load(&automaton, &slices.save()).unwrap();
    assert_eq!(moved, slices);
    for n in 0..40 {
        for slices in [&mut slices, &mut moved] {
            tell(
                &automaton,
                &catalog,
                slices,
                "told",
                ["b", "one with a name that is long"][n as usize % 2],
                n,
            );
        }
        assert_eq!(moved, slices);
        assert_eq!(moved.save(), slices.save());
    }
    // An error comes along.
    tell(&automaton, &catalog, &mut moved, "broken", "", 0);
    assert!(moved.failure().is_some());
    let broken = Slices::load(&automaton, &moved.save()).unwrap();
    assert_eq!((broken.failure(), &broken), (moved.failure(), &moved));
}

#[test]
fn bytes_that_are_none_are_refused_or_do_no_harm() {
    let (automaton, catalog) = property();
    let bytes = filled(&automaton, &catalog).save();
    for len in 0..bytes.len() {
        assert!(Slices::load(&automaton, &bytes[..len]).is_none(), "{len} of {}", bytes.len());
    }
    let mut usable = 0;
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            if let Some(mut slices) = Slices::load(&automaton, &bytes) {
                usable += 1;
                tell(&automaton, &catalog, &mut slices, "told", "a", 7);
                let _ = slices.save();
            }
        }
    }
    assert!(usable > 0, "some bytes are numbers");
}
