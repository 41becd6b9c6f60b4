//! Every published script parses without errors, directly from the text.

use crate::mac::common::{document, good_medl, good_pedl, printed};
use invigil_lang::pedl::ast::Literal;
use invigil_lang::pedl::{EntityId, EntityRef};
use invigil_monitor::mac::Abstraction;

fn none(_: &str) -> Option<Literal> {
    None
}

#[test]
fn gate_controller_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (969, 984), "MonScr RailroadCrossing"), &none);
    assert_eq!(pedl.title.as_deref(), Some("RailroadCrossing"));
    assert_eq!(pedl.parts.exports().events, ["OpenGate", "CloseGate"]);
    assert_eq!(pedl.parts.exports().conditions, ["Gate_Down"]);
    assert_eq!(pedl.entities.len(), 4);
    let medl = good_medl(&printed(&document, (996, 1012), "ReqSpec SafeCrossing"), Some(&pedl));
    assert_eq!(medl.properties[0].0, "GateClosing");
    assert_eq!(medl.parts.imports(), pedl.parts.exports());
}

#[test]
fn simple_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (1449, 1456), "MonScr test"), &none);
    assert_eq!(pedl.parts.exports().events, ["e1"]);
}

#[test]
fn conditions_of_length_1_and_50_parse() {
    let Some(document) = document() else { return };
    good_pedl(&printed(&document, (2276, 2283), "MonScr"), &none);
    let damaged = printed(&document, (2289, 2304), "MonScr");
    // Characters were lost in the transcription: the comments give the number of operators up to each line.
    let mut mended = String::new();
    for line in damaged.lines() {
        mended += &match line {
            _ if line.starts_with("((") => "(".repeat(49),
            _ if line.ends_with("0") && line.starts_with("+1)") => "+1)*1)".repeat(5),
            _ if line.ends_with("// 49") => "+1)*1)".repeat(4) + "+1)",
            _ => line.to_owned(),
        };
        mended.push('\n');
    }
    assert_eq!(mended.matches(['+', '*']).count(), 49);
    good_pedl(&mended, &none);
}

#[test]
fn sieve_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (2408, 2415), "MonScr"), &none);
    assert_eq!((pedl.title, pedl.exports[0].values.as_ref().unwrap().len()), (None, 1));
}

#[test]
fn railroad_crossing_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (2460, 2477), "MonScr RailroadCrossing"), &none);
    let medl = good_medl(&printed(&document, (2489, 2496), "ReqSpec RailroadCrossing"), Some(&pedl));
    assert_eq!(medl.properties[0].0, "safeRRC");
}

#[test]
fn database_client_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (2571, 2589), "MonScr StockClient"), &none);
    let EntityRef::Method { class, name, parameters } = pedl.entities[0].entity_ref() else {
        panic!("a method")
    };
    assert_eq!((class.as_str(), name, parameters[0].to_string().as_str()), ("Client", "main", "String[]"));
    let medl = good_medl(&printed(&document, (2531, 2556), "ReqSpec StockClient"), Some(&pedl));
    let alarms: Vec<&str> = medl.alarms.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(alarms, ["violatedPeriod", "wrongFT"]);
}

#[test]
fn micro_air_vehicle_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (2654, 2665), "MonScr MAVpattern"), &none);
    let distance = pedl.entities.iter().find(|one| one.path.to_string() == "MAV.run().distance").unwrap();
    assert!(matches!(distance.entity_ref(), EntityRef::Local { name: "run", .. }));
    let medl = good_medl(&printed(&document, (2619, 2641), "ReqSpec HexPattern"), Some(&pedl));
    assert_eq!(medl.alarms[0].0, "NoPattern");
}

#[test]
fn inverted_pendulum_script_parses() {
    let Some(document) = document() else { return };
    let pedl = good_pedl(&printed(&document, (2790, 2824), "MonScr IP"), &none);
    assert_eq!(pedl.entities[4].alias.as_deref(), Some("transition"));
    assert_eq!(pedl.exports.len(), 8);
    let medl = good_medl(&printed(&document, (2836, 2868), "ReqSpec IP"), Some(&pedl));
    assert_eq!(medl.alarms[0].0, "fail");
}

/// Script fragments in running text, embedded in a script that declares what they need.
#[test]
fn script_fragments_parse() {
    let Some(document) = document() else { return };
    let line = |number: usize| document.lines().nth(number - 1).unwrap();
    let (method, variable) = (line(2109), line(2117));
    let text = format!(
        "MonScr\n{method}\n{variable}\nexport event a, b;\nevent a = startM(account.deposit(double))\nevent b = update(balance)\nend"
    );
    let pedl = good_pedl(&text, &none);
    let scopes: Vec<String> =
        pedl.entities.iter().map(|one| one.scope.as_ref().unwrap().path.to_string()).collect();
    assert_eq!(scopes, ["WireTransfer", "account.deposit(double)"]);
    assert!(matches!(pedl.entities[0].id, EntityId::Method(_)));

    let text = format!(
        "MonScr\nmonobj int x, y, z, w;\nexport condition c1, c2;\n{}\n{}\nend",
        line(2162),
        line(2163)
    );
    // Three comparisons depend on `x` and one on `y`; `z` and `w` are only used in arithmetic.
    let thresholds = |one: &Abstraction| match one {
        Abstraction::Thresholds(all) => Some(all.len()),
        Abstraction::Off(_) => None,
    };
    let found = good_pedl(&text, &none).parts.abstractions();
    assert_eq!(found.iter().map(thresholds).collect::<Vec<_>>(), [Some(3), Some(1), None, None]);

    // `OpenGate -> t' := time (OpenGate)` and `e1 -> count_e1' := count_e1 + 1`
    let pieces: Vec<&str> = line(896).split('`').filter(|piece| piece.contains("' :=")).collect();
    assert_eq!(pieces.len(), 2);
    let text = format!(
        "ReqSpec\nimport event OpenGate, e1;\nvar long t; var int count_e1;\n{}\n{}\nproperty p = t > count_e1;\nEnd",
        pieces[0], pieces[1]
    );
    good_medl(&text, None);
}
