//! The smart home of [EH18]: 27 sensors, bounds up to 25, all references expanded.
//!
//! In the original evaluation, no tool synthesised a monitor for three light switches within an hour.

use crate::common::formula_text::parse;
use crate::common::machine_form::check_form;
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Budget, Logic};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Name, formula and number of states of the minimal monitor. Names in capitals refer to formulae above.
const HOME: &[(&str, &str, usize)] = &[
    ("SC_LIGHT0", "G(switch0 -> X(light0 U !switch0))", 3),
    ("SC_LIGHT1", "G(switch1 -> X(light1 U !switch1))", 3),
    ("SC_LIGHT2", "G(switch2 -> X(light2 U !switch2))", 3),
    ("SC_LIGHT3", "G(switch3 -> X(light3 U !switch3))", 3),
    ("SC_OK", "SC_LIGHT0 & SC_LIGHT1 & SC_LIGHT2 & SC_LIGHT3", 17),
    ("TOILET", "toilet_water", 3),
    ("BATHROOM_SINK_WATER", "bathroom_sink_cold | bathroom_sink_hot", 3),
    ("SINK_USAGE", "G<=3 BATHROOM_SINK_WATER", 6),
    ("SHOWER_USAGE", "G<=2 (shower_cold | shower_hot)", 5),
    ("NAPPING", "G<=25 bed_pressure", 28),
    ("DRESSING", "F<=4 (closet_door | drawer1 | drawer2)", 7),
    ("READING", "bedroom_light & F<=4 (!DRESSING & !NAPPING)", 62),
    ("OFFICE_TV", "F<=3 office_tv", 6),
    ("COMPUTING", "F<=3 office_deskplug", 6),
    ("COOKING", "F<=5 (cooktop | oven)", 8),
    ("KITCHEN_SINK_WATER", "kitchen_sink_cold | kitchen_sink_hot", 3),
    ("WASHING_DISHES", "F<=3 (dishwasher | KITCHEN_SINK_WATER)", 6),
    (
        "KACTIVITY",
        "kitchen_presence & F<=3 (KITCHEN_SINK_WATER | fridge | cup1 | cup2 | cup3 | cup4 | cup5)",
        6,
    ),
    ("PREPARING", "KACTIVITY & !COOKING", 11),
    ("LIVINGROOM_TV", "F<=3 (livingroom_tv & couch)", 6),
    ("EATING", "!kitchen_presence & G<=6 table", 9),
    ("ACTFLOOR0", "COOKING | PREPARING | EATING | WASHING_DISHES | LIVINGROOM_TV | TOILET", 17),
    ("ACTFLOOR1", "COMPUTING | DRESSING | NAPPING | OFFICE_TV | READING | SHOWER_USAGE | SINK_USAGE", 46),
    ("ACTHOUSE", "ACTFLOOR0 | ACTFLOOR1", 93),
    ("NOTWOPEOPLE", "!(ACTFLOOR0 & ACTFLOOR1)", 127),
    ("RESTRICTTV_OFFICE", "OFFICE_TV -> F<=10 !OFFICE_TV", 40),
    ("RESTRICTTV_LIVING", "LIVINGROOM_TV -> F<=10 !LIVINGROOM_TV", 40),
    ("RESTRICTTV", "RESTRICTTV_LIVING & RESTRICTTV_OFFICE", 200),
    ("FIREHAZARD", "NAPPING -> !COOKING", 33),
    // The properties as described in the text: at every position.
    ("SC_LIGHT_RELAXED", "G(switch0 -> F<=3 (light0 U !switch0))", 5),
    ("SC_LIGHT_BOUNDED", "G(switch0 -> G<=3 light0)", 5),
    ("RESTRICTTV_ALWAYS", "G(OFFICE_TV -> F<=10 !OFFICE_TV)", 39),
    ("FIREHAZARD_ALWAYS", "G(NAPPING -> !COOKING)", 32),
    ("CHECKALERT", "FIREHAZARD_ALWAYS -> F<=5 firealert", 68),
];

#[test]
fn smart_home_has_minimal_monitors_in_time() {
    let mut logic = Logic::new(Budget::default());
    let mut known: HashMap<&str, String> = HashMap::new();
    let mut sensors = 0;
    for (name, text, states) in HOME {
        let full = expand(text, &known);
        let formula = parse(&mut logic.formulae, &full);
        let start = Instant::now();
        let monitor = logic.monitor(formula).unwrap();
        let time = start.elapsed();
        let composite = logic.composite(formula).unwrap();
        let atoms = monitor.atoms(&logic.labels).len();
        sensors = sensors.max(atoms);
        println!(
            "{name:20} {:4} states {:4} edges {atoms:3} sensors {time:10.1?}; in parts: {} machines, {} states",
            monitor.states(),
            monitor.edge_count(),
            composite.parts.len(),
            composite.states(),
        );
        check_form(&logic, &monitor);
        assert_eq!(monitor.states(), *states, "{name}");
        assert!(time < Duration::from_secs(5), "{name}");
        known.insert(name, format!("({full})"));
    }
    assert_eq!(sensors, 27);
}

/// A single machine tracks all combinations of switches; a composite has three states per room.
#[test]
fn light_switches_of_many_rooms_are_small_composite() {
    for rooms in [2, 3, 4, 7, 12, 100] {
        let all: Vec<String> = (0..rooms).map(|at| format!("G(s{at} -> X(l{at} U !s{at}))")).collect();
        let mut logic = Logic::new(Budget::default());
        let formula = parse(&mut logic.formulae, &all.join(" & "));
        let composite = logic.composite(formula).unwrap();
        assert_eq!((composite.parts.len(), composite.states()), (rooms, 3 * rooms));
        let start = Instant::now();
        let monitor = logic.monitor(formula);
        println!("{rooms} rooms: {:?} in {:.1?}", monitor.as_ref().map(Moore::states), start.elapsed());
        match monitor {
            Ok(monitor) => assert_eq!(monitor.states(), (1 << rooms) + 1),
            Err(error) => assert!(rooms > 7, "{error}"),
        }
        let mut states = composite.start();
        let atom =
            |name: &str| logic.formulae.atoms().find(|(_, known)| known.to_string() == name).unwrap().0;
        for (letter, expected) in
            [(vec!["s0", "s1"], Truth::Unknown), (vec!["l0", "s0"], Truth::Unknown), (vec![], Truth::Unknown)]
        {
            composite.step(&logic.labels, &mut states, &letter.into_iter().map(atom).collect());
            assert_eq!(composite.output(&states), Some(expected));
        }
        for (letter, expected) in [(vec!["s1"], Truth::Unknown), (vec!["s1"], Truth::False)] {
            composite.step(&logic.labels, &mut states, &letter.into_iter().map(atom).collect());
            assert_eq!(composite.output(&states), Some(expected));
        }
    }
}

/// Replaces names by the formulae they refer to.
fn expand(text: &str, known: &HashMap<&str, String>) -> String {
    let mut full = String::new();
    for part in text.split_inclusive(|at: char| !at.is_alphanumeric() && at != '_') {
        let name = part.trim_end_matches(|at: char| !at.is_alphanumeric() && at != '_');
        full.push_str(known.get(name).map_or(name, String::as_str));
        full.push_str(&part[name.len()..]);
    }
    full
}
