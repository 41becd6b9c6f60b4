//! Automata of other tools: reading, writing, and reading again.

use invigil_ltl::{Budget, Logic};

/// Any text is read or complained about. What is read is written so that it reads the same again.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let budget = Budget { nodes: 1 << 12, states: 500, edges: 5000, variables: 100, ..Budget::default() };
    let mut logic = Logic::new(budget);
    let automata = match logic.read_hoa(&text) {
        Ok(automata) => automata,
        Err(mistake) => {
            let lines = 1 + text.matches('\n').count();
            assert!((1..=lines).contains(&mistake.line), "{mistake} is not in the text");
            return;
        }
    };
    for automaton in automata {
        let Ok(written) = automaton.hoa(&logic, Some(&text)) else { continue };
        match logic.read_hoa(&written) {
            Ok(again) => assert_eq!(again, [automaton], "{written}"),
            // The name is not part of the automaton, and nothing else is larger than before.
            Err(mistake) => panic!("{mistake} in {written}"),
        }
    }
}
