//! Compares regular expressions over steps with a naive matcher.

use crate::debugger::graph::{Ask, Graph, any_graph, replays};
use invigil_explore::breakpoint_search::pattern::{Anchor, Letter, compile};
use invigil_explore::breakpoint_search::{Automaton, Breakpoint, BreakpointFinder};
use invigil_semantics::Semantics;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Pattern {
    Letter(char),
    Any,
    Odd,
    Then(Box<Pattern>, Box<Pattern>),
    Or(Box<Pattern>, Box<Pattern>),
    Repeat(Box<Pattern>, char),
}

impl Pattern {
    fn text(&self) -> String {
        match self {
            Pattern::Letter(letter) => letter.to_string(),
            Pattern::Any => ".".to_owned(),
            Pattern::Odd => "\"odd\"".to_owned(),
            Pattern::Then(left, right) => format!("{} {}", left.text(), right.text()),
            Pattern::Or(left, right) => format!("({} | {})", left.text(), right.text()),
            Pattern::Repeat(inside, sign) => format!("({}){sign}", inside.text()),
        }
    }

    /// The end positions of matches that start at `from`, in a word of actions with their targets.
    fn ends(&self, word: &[(char, u8)], from: usize) -> Vec<usize> {
        let one = |is: bool| if is { vec![from + 1] } else { vec![] };
        match self {
            Pattern::Letter(letter) => one(word.get(from).is_some_and(|step| step.0 == *letter)),
            Pattern::Any => one(from < word.len()),
            Pattern::Odd => one(word.get(from).is_some_and(|step| step.1 % 2 == 1)),
            Pattern::Then(left, right) => {
                left.ends(word, from).into_iter().flat_map(|end| right.ends(word, end)).collect()
            }
            Pattern::Or(left, right) => [left.ends(word, from), right.ends(word, from)].concat(),
            Pattern::Repeat(inside, sign) => {
                let mut ends = inside.ends(word, from);
                let mut at = 0;
                while *sign != '?' && at < ends.len() {
                    for end in inside.ends(word, ends[at]) {
                        if !ends.contains(&end) {
                            ends.push(end);
                        }
                    }
                    at += 1;
                }
                if *sign != '+' {
                    ends.push(from);
                }
                ends
            }
        }
    }
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let letter = prop_oneof![
        3 => (0..3_u8).prop_map(|letter| Pattern::Letter(char::from(b'a' + letter))),
        1 => Just(Pattern::Any),
        1 => Just(Pattern::Odd),
    ];
    letter.prop_recursive(3, 8, 2, |inside| {
        let boxed = || inside.clone().prop_map(Box::new);
        prop_oneof![
            (boxed(), boxed()).prop_map(|(left, right)| Pattern::Then(left, right)),
            (boxed(), boxed()).prop_map(|(left, right)| Pattern::Or(left, right)),
            (boxed(), prop_oneof![Just('*'), Just('+'), Just('?')])
                .prop_map(|(inside, sign)| Pattern::Repeat(inside, sign)),
        ]
    })
}

fn read(letter: Letter<'_>) -> Result<Ask, String> {
    match letter {
        Letter::Name(name) => {
            name.chars().next().filter(|_| name.len() == 1).map(Ask::By).ok_or(format!("no action `{name}`"))
        }
        Letter::Predicate("odd") => Ok(Ask::Odd),
        Letter::Predicate(other) => Err(format!("no predicate `{other}`")),
    }
}

/// The length of the shortest execution of at most `most` steps whose end matches.
fn by_hand(graph: &Graph, pattern: &Pattern, anchor: Anchor, most: usize) -> Option<usize> {
    let mut level: Vec<(u8, Vec<(char, u8)>)> =
        graph.initial.iter().map(|start| (*start, Vec::new())).collect();
    for length in 0..=most {
        let matches = |(_, word): &(u8, Vec<(char, u8)>)| {
            let mut from = 0..=if anchor == Anchor::Start { 0 } else { word.len() };
            from.any(|from| pattern.ends(word, from).contains(&word.len()))
        };
        if length > 0 && level.iter().any(matches) {
            return Some(length);
        }
        let longer = |(at, word): &(u8, Vec<(char, u8)>)| {
            let steps: Vec<_> = graph.steps(at).into_iter().collect();
            let word = word.clone();
            steps.into_iter().map(move |step| (step.1, [&word[..], &[step]].concat()))
        };
        level = level.iter().flat_map(longer).collect();
        level.truncate(3000);
    }
    None
}

proptest! {
    #[test]
    fn pattern_finds_shortest_match(graph in any_graph(5), pattern in any_pattern(), anywhere: bool) {
        let anchor = if anywhere { Anchor::Anywhere } else { Anchor::Start };
        let is_nullable = pattern.ends(&[], 0).contains(&0);
        let compiled = compile(&pattern.text(), anchor, read);
        prop_assert_eq!(compiled.is_err(), is_nullable);
        let Ok(automaton) = compiled else { return Ok(()) };
        let found = BreakpointFinder::new(&graph).run(&graph.initial, &[Breakpoint::automaton(automaton)]);
        prop_assert!(found.witnesses.iter().all(|witness| replays(&graph, &witness.execution)));
        let length = found.witnesses.first().map(|witness| witness.execution.len());
        prop_assert_eq!(length.filter(|length| *length <= 5), by_hand(&graph, &pattern, anchor, 5));
    }
}

#[test]
fn malformed_patterns_are_rejected_with_message() {
    let message = |text: &str| compile(text, Anchor::Start, read).map(|_: Automaton<Ask>| ()).unwrap_err();
    assert_eq!(message(""), "the expression ends where a step is expected");
    assert_eq!(message("a (b"), "missing `)`");
    assert_eq!(message("a) b"), "unmatched `)` at `) b`");
    assert_eq!(message("* a"), "expected a name, a `\"predicate\"`, `.` or `(`, found `* a`");
    assert_eq!(message("a \"odd"), "missing `\"`");
    assert_eq!(message("a sand"), "no action `sand`");
    assert_eq!(message("a?"), "`a?` matches the empty sequence; add a step that must occur");
    assert!(message(&"(".repeat(500)).contains("nested more than 100 deep"));
    assert!(message(&"a ".repeat(5000)).contains("longer than"));
}
