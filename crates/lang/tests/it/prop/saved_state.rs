//! Monitor states as bytes: large values survive, and malformed bytes do no harm.

use invigil_expr::value::Value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Event, EventCatalog, EventKind};
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::language;

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
        event reported(who: str, n: int) {
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

fn property() -> (Automaton, EventCatalog) {
    language::compile(TEXT)
}

fn tell(
    automaton: &Automaton,
    catalog: &EventCatalog,
    slices: &mut SliceTable,
    name: &str,
    who: &str,
    n: i64,
) {
    let symbol = catalog.find(name, EventKind::Before).unwrap();
    let value = |param: &str| match param {
        "who" => Value::short(who).unwrap_or_else(|| Value::text(0, who.len() as u32)),
        _ => Value::int(n),
    };
    let params: Vec<Value> =
        catalog.get(symbol).unwrap().params.iter().map(|param| value(&param.name)).collect();
    automaton.step(
        slices,
        &mut Scratch::default(),
        &Event { id: symbol, params: &params, text: who },
        &mut NoopObserver,
    );
}

fn filled(automaton: &Automaton, catalog: &EventCatalog) -> SliceTable {
    let mut slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    for n in 0..40 {
        tell(
            automaton,
            catalog,
            &mut slices,
            "reported",
            ["a", "b", "one with a name that is long"][n as usize % 3],
            n,
        );
    }
    slices
}

#[test]
fn large_values_survive_save_and_load() {
    let (automaton, catalog) = property();
    let mut slices = filled(&automaton, &catalog);
    let mut moved = SliceTable::load(&automaton, &slices.save()).unwrap();
    assert_eq!(moved, slices);
    for n in 0..40 {
        for slices in [&mut slices, &mut moved] {
            tell(
                &automaton,
                &catalog,
                slices,
                "reported",
                ["b", "one with a name that is long"][n as usize % 2],
                n,
            );
        }
        assert_eq!(moved, slices);
        assert_eq!(moved.save(), slices.save());
    }
    // With an error as well.
    tell(&automaton, &catalog, &mut moved, "broken", "", 0);
    assert!(moved.fault().is_some());
    let broken = SliceTable::load(&automaton, &moved.save()).unwrap();
    assert_eq!((broken.fault(), &broken), (moved.fault(), &moved));
}

#[test]
fn malformed_bytes_never_panic() {
    let (automaton, catalog) = property();
    let bytes = filled(&automaton, &catalog).save();
    for len in 0..bytes.len() {
        assert!(SliceTable::load(&automaton, &bytes[..len]).is_none(), "{len} of {}", bytes.len());
    }
    let mut usable = 0;
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            if let Some(mut slices) = SliceTable::load(&automaton, &bytes) {
                usable += 1;
                tell(&automaton, &catalog, &mut slices, "reported", "a", 7);
                let _ = slices.save();
            }
        }
    }
    assert!(usable > 0, "some bytes are numbers");
}
