//! What a formula says, as plain data for a report or a picture.
//!
//! ```
//! use invigil_expr::diag::SourceId;
//! use invigil_lang::ltl;
//! let text = "ltl:G(request -> F grant)";
//! let argument = ltl::Argument::parse(text).unwrap();
//! let manner = argument.manner(SourceId(0), text);
//! let said = ltl::parse(SourceId(0), text, argument.formula, manner).0[0].explain().unwrap();
//! assert_eq!(said.sentence.as_deref(), Some("`request` is always answered by `grant`."));
//! assert_eq!(said.class, "recurrence");
//! assert!(said.monitorable.is_some_and(|monitorable| !monitorable.is_monitorable));
//! ```

use super::Reading;
use super::atoms::says_kind;
use super::drawing::{class, note, shorten};
use super::machine::Machine;
use super::names::names;
use super::property::Property;
use super::words::sum;
use crate::prop::picture::{Edge, Ending, Graph, Node};
use invigil_expr::diag::Diagnostic;
use invigil_ltl::automaton::Automaton;
use invigil_ltl::automaton::never::Refused;
use invigil_ltl::formula::{Atom, Formulae, Proposition};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::patterns::describe;
use invigil_ltl::questions::{Class, Stuttering};
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Effort, Formula, Logic, TooLarge};
use invigil_monitor::automaton::AtEnd;
use invigil_monitor::verdict::Verdict;

/// What a formula says. What would have taken too much room or time is not there, and
/// [`unanswered`](Explanation::unanswered) says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The property's name.
    pub name: String,
    /// The formula as it is written.
    pub formula: String,
    /// A smaller formula that says the same.
    pub smaller: Option<String>,
    /// How long runs are.
    pub reading: Reading,
    /// The parameters that it is sliced on.
    pub slice_on: Vec<String>,
    /// What it says, in a sentence.
    pub sentence: Option<String>,
    /// The pattern that it is, with its scope: `response, globally`.
    pub pattern: Option<String>,
    /// Its class in the hierarchy of temporal properties.
    pub class: String,
    /// What that means.
    pub class_means: &'static str,
    /// Whether it does not matter how often an instant is repeated.
    pub stutter_invariant: Option<bool>,
    /// Two words that differ only in how often instants are repeated: on the first it holds, on the second not.
    pub stutters: Option<[Word; 2]>,
    /// Which verdicts events can bring about.
    pub monitorable: Option<Monitorable>,
    /// One of the shortest runs after which it holds, whatever follows.
    pub good_prefix: Option<Vec<Instant>>,
    /// One of the shortest runs after which it does not hold, whatever follows.
    pub bad_prefix: Option<Vec<Instant>>,
    /// A run on which it holds.
    pub holds_on: Option<Word>,
    /// A run on which it does not.
    pub fails_on: Option<Word>,
    /// How large its automata are.
    pub sizes: Sizes,
    /// The states of the monitor.
    pub states: Vec<StateUse>,
    /// The automaton for other tools, in the HOA format.
    pub hoa: Option<String>,
    /// The same as a never claim, or why there is none.
    pub never: Result<String, String>,
    /// The questions that have no answer within the budget, with the reason.
    pub unanswered: Vec<String>,
}

/// What holds at an instant: the names and expressions.
pub type Instant = Vec<String>;

/// A run without end: a beginning, and what is repeated for ever after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The beginning.
    pub prefix: Vec<Instant>,
    /// What is repeated.
    pub cycle: Vec<Instant>,
}

/// Which verdicts events can bring about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitorable {
    /// Whether, whatever has happened, a verdict can still come.
    pub is_monitorable: bool,
    /// Why, in words.
    pub reason: String,
    /// One of the shortest runs after which no verdict can come any more.
    pub blind_after: Option<Vec<Instant>>,
}

/// How many states automata have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The generalised Büchi automaton with marks on edges: states, edges and acceptance sets.
    pub generalised: Option<(usize, usize, u32)>,
    /// The Büchi automaton with marks on states: states and edges.
    pub buchi: Option<(usize, usize)>,
    /// The smallest monitor that tells what is certain.
    pub monitor: Option<usize>,
    /// The same with what is to be presumed.
    pub presuming: Option<usize>,
    /// The smallest automaton for runs that end.
    pub finite: Option<usize>,
}

/// A state of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateUse {
    /// Its name.
    pub name: String,
    /// What being in it means.
    pub verdict: Verdict,
    /// What it says of a run that ends here.
    pub at_end: AtEnd,
    /// Whether the monitor starts in it.
    pub is_initial: bool,
    /// When it goes to another state: what must hold, and which state that is. Otherwise it stays.
    pub moves: Vec<(String, String)>,
}

impl Property {
    /// Explains the formula. See the module for an example.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn explain(&self) -> Result<Explanation, Vec<Diagnostic>> {
        let (logic, formula, placed) = self.reread()?;
        let event = placed.iter().find_map(|placed| match &placed.proposition {
            Proposition::Expression(text) if says_kind(text) => Some(text.clone()),
            _ => None,
        });
        Ok(Asking { property: self, logic, formula, event, unanswered: Vec::new() }.explain())
    }
}

struct Asking<'a> {
    property: &'a Property,
    logic: Logic,
    formula: Formula,
    /// An atom in quotes that is an event, and no expression.
    event: Option<String>,
    unanswered: Vec<String>,
}

impl Asking<'_> {
    /// Asks a question that may be too large.
    fn ask<T>(
        &mut self,
        what: &str,
        question: impl FnOnce(&mut Logic, Formula) -> Result<T, TooLarge>,
    ) -> Option<T> {
        let limit = match question(&mut self.logic, self.formula) {
            Ok(answer) => return Some(answer),
            Err(limit) => limit,
        };
        self.unanswered.push(format!("{what}: {limit}"));
        None
    }

    fn explain(mut self) -> Explanation {
        let property = self.property;
        let not = |logic: &mut Logic, formula| logic.formulae.not(formula);
        let placed = self.logic.class(self.formula);
        let shown = self.logic.formulae.show(self.formula).to_string();
        let smaller =
            self.ask("a smaller formula", |logic, formula| logic.simplify(formula, Effort::Language));
        let smaller = smaller.map(|smaller| self.logic.formulae.show(smaller).to_string());
        let sentence = describe(&self.logic.formulae, self.formula);
        let stuttering = self.ask("whether repetitions matter", Logic::stuttering);
        let generalised = self.ask("the generalised Büchi automaton", Logic::translate);
        let buchi = self.ask("the Büchi automaton", Logic::buchi);
        let negated = self.ask("the automaton of the negation", |logic, formula| {
            let not = not(logic, formula)?;
            logic.translate(not)
        });
        let monitor = self.ask("the monitor", Logic::monitor);
        let presuming =
            self.ask("the monitor that presumes", |logic, formula| Ok(logic.presume(formula)?.states()));
        let finite =
            self.ask("the automaton for runs that end", |logic, formula| Ok(logic.finite(formula)?.states()));
        let states = self.ask("the states of the monitor", |logic, formula| {
            let machine = property.machine(logic, formula)?;
            states(logic, &machine)
        });
        let hoa = self.ask("the automaton in the HOA format", |logic, formula| {
            logic.translate(formula)?.hoa(logic, Some(&property.formula))
        });
        let logic = &self.logic;
        let letter = |letter: &Letter| instant(&logic.formulae, letter);
        let letters = |letters: &[Letter]| -> Vec<Instant> { letters.iter().map(letter).collect() };
        let word = |lasso: &Lasso| Word { prefix: letters(&lasso.prefix), cycle: letters(&lasso.cycle) };
        let size = |automaton: &Automaton| (automaton.states(), automaton.edge_count());
        let judged = monitor.as_ref().map(|monitor| monitorability(monitor, &logic.labels));
        Explanation {
            name: property.name.clone(),
            formula: property.formula.clone(),
            smaller: smaller.filter(|smaller| *smaller != shown),
            reading: property.reading,
            slice_on: property.slice_on.iter().map(|name| name.text.clone()).collect(),
            pattern: sentence.as_ref().and_then(|sentence| sentence.pattern).map(|(pattern, scope)| {
                format!("{}, {}", spaced(&format!("{pattern:?}")), spaced(&format!("{scope:?}")))
            }),
            sentence: sentence.map(|sentence| sentence.text),
            class: placed.to_string(),
            class_means: means(placed.class),
            stutter_invariant: stuttering.as_ref().map(|found| *found == Stuttering::Invariant),
            stutters: stuttering.and_then(|found| match found {
                Stuttering::Invariant => None,
                Stuttering::Sensitive { holds, fails } => Some([word(&holds), word(&fails)]),
            }),
            monitorable: judged.map(|judged| Monitorable {
                is_monitorable: judged.is_monitorable(),
                reason: judged.to_string(),
                blind_after: judged.blind_after.as_deref().map(letters),
            }),
            good_prefix: monitor
                .as_ref()
                .and_then(|of| of.good_prefix(&logic.labels))
                .as_deref()
                .map(letters),
            bad_prefix: monitor.as_ref().and_then(|of| of.bad_prefix(&logic.labels)).as_deref().map(letters),
            holds_on: generalised.as_ref().and_then(|of| of.word(&logic.labels)).as_ref().map(word),
            fails_on: negated.and_then(|of| of.word(&logic.labels)).as_ref().map(word),
            sizes: Sizes {
                generalised: generalised.as_ref().map(|of| (of.states(), of.edge_count(), of.sets)),
                buchi: buchi.as_ref().map(size),
                monitor: monitor.as_ref().map(invigil_ltl::moore::Moore::states),
                presuming,
                finite,
            },
            never: match (&buchi, self.event) {
                (_, Some(event)) => Err(Refused::Proposition(event).to_string()),
                (Some(buchi), None) => {
                    buchi.never(logic, Some(&property.formula)).map_err(|refused| refused.to_string())
                }
                (None, None) => Err("the Büchi automaton is too large".to_owned()),
            },
            states: states.unwrap_or_default(),
            hoa,
            unanswered: self.unanswered,
        }
    }
}

/// The names and expressions that hold.
fn instant(formulae: &Formulae, letter: &Letter) -> Instant {
    let is_known = |atom: &&Atom| !matches!(formulae.proposition(**atom), Proposition::Fresh(_));
    letter.atoms().iter().filter(is_known).map(|atom| formulae.proposition(*atom).to_string()).collect()
}

fn states(logic: &Logic, machine: &Machine) -> Result<Vec<StateUse>, TooLarge> {
    let (labels, formulae) = (&logic.labels, &logic.formulae);
    let names = names(machine, labels, formulae)?;
    let mut states = Vec::new();
    for (at, meaning) in machine.outputs.iter().enumerate() {
        let mut moves = Vec::new();
        for (label, to) in machine.edges[at].iter().filter(|(_, to)| *to as usize != at) {
            moves.push((sum(&labels.cubes(label)?, formulae), names[*to as usize].clone()));
        }
        states.push(StateUse {
            name: names[at].clone(),
            verdict: meaning.verdict,
            at_end: meaning.at_end,
            is_initial: at == machine.initial as usize,
            moves,
        });
    }
    Ok(states)
}

/// `BoundedExistence` as `bounded existence`.
fn spaced(word: &str) -> String {
    let mut out = String::new();
    for letter in word.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn means(class: Class) -> &'static str {
    match class {
        Class::Bounded => "the first few instants decide",
        Class::Safety => "nothing bad happens: a finite run can show that it does not hold",
        Class::Guarantee => "something good happens: a finite run can show that it holds",
        Class::Obligation => "made of promises that nothing bad, and that something good happens",
        Class::Recurrence => "something good happens again and again",
        Class::Persistence => "from some instant on nothing bad happens",
        Class::Reactivity => "whether something happens again and again decides on something else that must",
    }
}

impl Explanation {
    /// A picture of the monitor.
    pub fn graph(&self) -> Graph {
        let position = |name: &str| self.states.iter().position(|state| state.name == name);
        let nodes = self.states.iter().map(|state| Node {
            is_initial: state.is_initial,
            note: note(state.at_end).into_iter().collect(),
            ..Node::new(&state.name, class(state.verdict))
        });
        let edges = self.states.iter().enumerate().flat_map(|(from, state)| {
            state.moves.iter().filter_map(move |(label, to)| {
                Some(Edge { from, to: position(to)?, label: vec![shorten(label)], ending: Ending::Success })
            })
        });
        Graph { nodes: nodes.collect(), edges: edges.collect() }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.prefix.is_empty() {
            write!(f, "{} ", instants(&self.prefix))?;
        }
        write!(f, "({})ω", instants(&self.cycle))
    }
}

/// Instants in words, each with what holds in braces.
pub fn instants(instants: &[Instant]) -> String {
    let words: Vec<String> = instants.iter().map(|holds| format!("{{{}}}", holds.join(", "))).collect();
    words.join(" ")
}
