//! Automata in HOA format: reading and round trips.

use invigil_ltl::{Budget, Logic};

/// Reads any text without panicking. Automata that are read survive a round trip.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let budget = Budget { nodes: 1 << 12, states: 500, edges: 5000, variables: 100, ..Budget::default() };
    let mut logic = Logic::new(budget);
    let automata = match logic.read_hoa(&text) {
        Ok(automata) => automata,
        Err(error) => {
            let lines = 1 + text.matches('\n').count();
            assert!((1..=lines).contains(&error.line), "{error} is not in the text");
            return;
        }
    };
    for automaton in automata {
        let Ok(written) = automaton.to_hoa(&logic, Some(&text)) else { continue };
        match logic.read_hoa(&written) {
            Ok(again) => assert_eq!(again, [automaton], "{written}"),
            // The name is not part of the automaton, and the written text fits the same budget.
            Err(error) => panic!("{error} in {written}"),
        }
    }
}
