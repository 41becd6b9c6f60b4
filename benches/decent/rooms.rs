//! The light switches of several rooms, whose common automaton is too large while those of the rooms are small.

use crate::Requirement;
use invigil_benches::timed;
use invigil_expr::diag::SourceId;
use invigil_lang::decent;
use invigil_ltl::Budget;
use std::fmt::Write;

const ROOMS: usize = 8;

pub(crate) fn run() -> Requirement {
    println!("\n`sc_ok` for {ROOMS} rooms: every light follows its switch\n");
    let mut text = String::new();
    for room in 0..ROOMS {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "component room{room}: switch{room}, light{room}\n\
             sc{room} @ room{room} = G(switch{room} -> X(light{room} U !switch{room}))\n"
        );
    }
    let names: Vec<String> = (0..ROOMS).map(|room| format!("@sc{room}")).collect();
    let _ = writeln!(text, "sc_ok @ room0 = {}\nroot sc_ok", names.join(" & "));
    let (time, network) = timed(|| {
        decent::load(SourceId(0), &text).0.and_then(|loaded| loaded.network(Budget::default()).ok())
    });
    let milliseconds = time.wall.as_secs_f64() * 1000.0;
    let monitors = network.as_ref().map_or(0, |network| network.monitors.len());
    println!("  parsed and synthesised: {monitors} monitors in {milliseconds:.2} ms");
    println!("  [EH18 §9.2]: one automaton for 3 rooms is not finished within an hour");
    Requirement {
        what: "sc_ok, 8 rooms",
        required: "milliseconds",
        reached: format!("{milliseconds:.2} ms"),
        is_met: monitors == ROOMS + 1 && milliseconds < 100.0,
    }
}
