//! Summary of a formula as plain data, for reports and graphs.
//!
//! ```
//! use invigil_expr::diag::SourceId;
//! use invigil_lang::ltl;
//! let text = "ltl:G(request -> F grant)";
//! let argument = ltl::FormulaArgument::parse(text).unwrap();
//! let options = argument.options(SourceId(0), text);
//! let summary = ltl::parse(SourceId(0), text, argument.formula, options).0[0].explain().unwrap();
//! assert_eq!(summary.sentence.as_deref(), Some("`request` is always answered by `grant`."));
//! assert_eq!(summary.class, "recurrence");
//! assert!(summary.monitorable.is_some_and(|monitorable| !monitorable.is_monitorable));
//! ```

use super::TraceSemantics;
use super::atoms::starts_with_event_keyword;
use super::graph::{class, note, shorten};
use super::labels::sum;
use super::names::names;
use super::property::Property;
use super::state_output::Machine;
use crate::prop::picture::{BranchKind, Edge, Graph, Node};
use invigil_expr::diag::Diagnostic;
use invigil_ltl::analysis::{Class, Stuttering};
use invigil_ltl::automaton::Automaton;
use invigil_ltl::automaton::never_claim::NeverClaimError;
use invigil_ltl::formula::{Atom, Formulae, Proposition};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::patterns::describe;
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Effort, Formula, Logic, TooLarge};
use invigil_monitor::automaton::EndVerdict;
use invigil_monitor::verdict::Verdict;

/// Summary of a formula. Results that would exceed the budget are missing;
/// [`unanswered`](Explanation::unanswered) lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The property's name.
    pub name: String,
    /// The formula as written.
    pub formula: String,
    /// An equivalent smaller formula.
    pub simplified: Option<String>,
    /// The trace semantics.
    pub semantics: TraceSemantics,
    /// The slice parameters.
    pub slice_on: Vec<String>,
    /// Its meaning as an English sentence.
    pub sentence: Option<String>,
    /// The specification pattern that it matches, with its scope: `response, globally`.
    pub pattern: Option<String>,
    /// Its class in the safety-progress hierarchy.
    pub class: String,
    /// The meaning of that class.
    pub class_description: &'static str,
    /// Whether the formula is invariant under stuttering.
    pub stutter_invariant: Option<bool>,
    /// Two words that differ only by stuttering: the formula holds on the first but not on the second.
    pub stuttering_words: Option<[Word; 2]>,
    /// Its monitorability.
    pub monitorable: Option<MonitorabilityInfo>,
    /// A shortest run after which it holds, whatever follows.
    pub good_prefix: Option<Vec<Valuation>>,
    /// A shortest run after which it is violated, whatever follows.
    pub bad_prefix: Option<Vec<Valuation>>,
    /// A run on which it holds.
    pub holds_on: Option<Word>,
    /// A run on which it does not hold.
    pub fails_on: Option<Word>,
    /// The sizes of its automata.
    pub sizes: Sizes,
    /// The states of the monitor.
    pub states: Vec<StateInfo>,
    /// The automaton in the HOA format.
    pub hoa: Option<String>,
    /// The SPIN never claim of its negation, or the reason why there is none.
    pub never_claim: Result<String, String>,
    /// Analyses that exceeded the budget, with the limit.
    pub unanswered: Vec<String>,
}

/// The names and expressions that hold at a position.
pub type Valuation = Vec<String>;

/// An infinite run: a prefix and a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The prefix.
    pub prefix: Vec<Valuation>,
    /// The cycle, which is repeated forever.
    pub cycle: Vec<Valuation>,
}

/// Monitorability of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorabilityInfo {
    /// Whether a verdict stays possible after every finite run.
    pub is_monitorable: bool,
    /// The reason, as text.
    pub reason: String,
    /// A shortest run after which no verdict is possible.
    pub blind_prefix: Option<Vec<Valuation>>,
}

/// The sizes of the automata of a formula.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The generalised Büchi automaton with marks on edges: states, edges, acceptance sets.
    pub generalised: Option<(usize, usize, u32)>,
    /// The Büchi automaton with marks on states: states, edges.
    pub buchi: Option<(usize, usize)>,
    /// The states of the minimal monitor with certain verdicts only.
    pub monitor: Option<usize>,
    /// The states of the minimal monitor with presumptive verdicts.
    pub presumptive: Option<usize>,
    /// The states of the minimal automaton for finite traces.
    pub finite: Option<usize>,
}

/// A state of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateInfo {
    /// Its name.
    pub name: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The result for a run that ends here.
    pub at_end: EndVerdict,
    /// Whether it is the initial state.
    pub is_initial: bool,
    /// The outgoing edges: condition and target. If no condition holds, the state does not change.
    pub edges: Vec<(String, String)>,
}

impl Property {
    /// Summarises the formula. See the module for an example.
    ///
    /// # Errors
    /// Returns the errors if the formula has any.
    pub fn explain(&self) -> Result<Explanation, Vec<Diagnostic>> {
        let (logic, formula, located) = self.reparse()?;
        let event = located.iter().find_map(|located| match &located.proposition {
            Proposition::Expression(text) if starts_with_event_keyword(text) => Some(text.clone()),
            _ => None,
        });
        Ok(Explainer { property: self, logic, formula, event, unanswered: Vec::new() }.explain())
    }
}

/// Builder of an explanation.
struct Explainer<'a> {
    property: &'a Property,
    logic: Logic,
    formula: Formula,
    /// A quoted atom that is an event, not an expression.
    event: Option<String>,
    unanswered: Vec<String>,
}

impl Explainer<'_> {
    /// Runs an analysis that may exceed the budget.
    fn analyse<T>(
        &mut self,
        name: &str,
        analysis: impl FnOnce(&mut Logic, Formula) -> Result<T, TooLarge>,
    ) -> Option<T> {
        let limit = match analysis(&mut self.logic, self.formula) {
            Ok(answer) => return Some(answer),
            Err(limit) => limit,
        };
        self.unanswered.push(format!("{name}: {limit}"));
        None
    }

    fn explain(mut self) -> Explanation {
        let property = self.property;
        let not = |logic: &mut Logic, formula| logic.formulae.not(formula);
        let classification = self.logic.classify(self.formula);
        let shown = self.logic.formulae.show(self.formula).to_string();
        let smaller =
            self.analyse("simplification", |logic, formula| logic.simplify(formula, Effort::Language));
        let smaller = smaller.map(|smaller| self.logic.formulae.show(smaller).to_string());
        let sentence = describe(&self.logic.formulae, self.formula);
        let stuttering = self.analyse("stutter invariance", Logic::stuttering);
        let generalised = self.analyse("the generalised Büchi automaton", Logic::translate);
        let buchi = self.analyse("the Büchi automaton", Logic::buchi);
        let negated = self.analyse("the automaton of the negation", |logic, formula| {
            let not = not(logic, formula)?;
            logic.translate(not)
        });
        let monitor = self.analyse("the monitor", Logic::monitor);
        let presumptive = self.analyse("the presumptive monitor", |logic, formula| {
            Ok(logic.presumptive_monitor(formula)?.states())
        });
        let finite = self.analyse("the automaton for finite traces", |logic, formula| {
            Ok(logic.finite_monitor(formula)?.states())
        });
        let states = self.analyse("the states of the monitor", |logic, formula| {
            let machine = property.machine(logic, formula)?;
            states(logic, &machine)
        });
        let hoa = self.analyse("the automaton in the HOA format", |logic, formula| {
            logic.translate(formula)?.to_hoa(logic, Some(&property.formula))
        });
        let logic = &self.logic;
        let letter = |letter: &Letter| valuation(&logic.formulae, letter);
        let letters = |letters: &[Letter]| -> Vec<Valuation> { letters.iter().map(letter).collect() };
        let word = |lasso: &Lasso| Word { prefix: letters(&lasso.prefix), cycle: letters(&lasso.cycle) };
        let size = |automaton: &Automaton| (automaton.states(), automaton.edge_count());
        let monitorability = monitor.as_ref().map(|monitor| monitorability(monitor, &logic.labels));
        Explanation {
            name: property.name.clone(),
            formula: property.formula.clone(),
            simplified: smaller.filter(|smaller| *smaller != shown),
            semantics: property.semantics,
            slice_on: property.slice_on.iter().map(|name| name.text.clone()).collect(),
            pattern: sentence.as_ref().and_then(|sentence| sentence.pattern).map(|(pattern, scope)| {
                format!("{}, {}", split_words(&format!("{pattern:?}")), split_words(&format!("{scope:?}")))
            }),
            sentence: sentence.map(|sentence| sentence.text),
            class: classification.to_string(),
            class_description: describe_class(classification.class),
            stutter_invariant: stuttering.as_ref().map(|found| *found == Stuttering::Invariant),
            stuttering_words: stuttering.and_then(|found| match found {
                Stuttering::Invariant => None,
                Stuttering::Sensitive { holds, fails } => Some([word(&holds), word(&fails)]),
            }),
            monitorable: monitorability.map(|found| MonitorabilityInfo {
                is_monitorable: found.is_monitorable(),
                reason: found.to_string(),
                blind_prefix: found.ugly_prefix.as_deref().map(letters),
            }),
            good_prefix: monitor
                .as_ref()
                .and_then(|of| of.good_prefix(&logic.labels))
                .as_deref()
                .map(letters),
            bad_prefix: monitor.as_ref().and_then(|of| of.bad_prefix(&logic.labels)).as_deref().map(letters),
            holds_on: generalised.as_ref().and_then(|of| of.accepting_word(&logic.labels)).as_ref().map(word),
            fails_on: negated.and_then(|of| of.accepting_word(&logic.labels)).as_ref().map(word),
            sizes: Sizes {
                generalised: generalised.as_ref().map(|of| (of.states(), of.edge_count(), of.sets)),
                buchi: buchi.as_ref().map(size),
                monitor: monitor.as_ref().map(invigil_ltl::moore::Moore::states),
                presumptive,
                finite,
            },
            never_claim: match (&buchi, self.event) {
                (_, Some(event)) => Err(NeverClaimError::Proposition(event).to_string()),
                (Some(buchi), None) => {
                    buchi.to_never_claim(logic, Some(&property.formula)).map_err(|error| error.to_string())
                }
                (None, None) => Err("the Büchi automaton is too large".to_owned()),
            },
            states: states.unwrap_or_default(),
            hoa,
            unanswered: self.unanswered,
        }
    }
}

/// Returns the names and expressions that hold.
fn valuation(formulae: &Formulae, letter: &Letter) -> Valuation {
    let is_known = |atom: &&Atom| !matches!(formulae.proposition(**atom), Proposition::Fresh(_));
    letter.atoms().iter().filter(is_known).map(|atom| formulae.proposition(*atom).to_string()).collect()
}

/// Summarises the states of a monitor.
fn states(logic: &Logic, machine: &Machine) -> Result<Vec<StateInfo>, TooLarge> {
    let (labels, formulae) = (&logic.labels, &logic.formulae);
    let names = names(machine, labels, formulae)?;
    let mut states = Vec::new();
    for (at, output) in machine.outputs.iter().enumerate() {
        let mut edges = Vec::new();
        for (label, to) in machine.edges[at].iter().filter(|(_, to)| *to as usize != at) {
            edges.push((sum(&labels.cubes(label)?, formulae), names[*to as usize].clone()));
        }
        states.push(StateInfo {
            name: names[at].clone(),
            verdict: output.verdict,
            at_end: output.at_end,
            is_initial: at == machine.initial as usize,
            edges,
        });
    }
    Ok(states)
}

/// Converts `BoundedExistence` to `bounded existence`.
fn split_words(word: &str) -> String {
    let mut out = String::new();
    for letter in word.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// Describes a class in words.
fn describe_class(class: Class) -> &'static str {
    match class {
        Class::Bounded => "decided after a bounded number of positions",
        Class::Safety => "nothing bad happens: a finite run can refute it",
        Class::Guarantee => "something good happens: a finite run can confirm it",
        Class::Obligation => "a Boolean combination of safety and guarantee properties",
        Class::Recurrence => "something good happens infinitely often",
        Class::Persistence => "eventually nothing bad happens any more",
        Class::Reactivity => "a Boolean combination of recurrence and persistence properties",
    }
}

impl Explanation {
    /// Returns the monitor as a graph.
    pub fn graph(&self) -> Graph {
        let position = |name: &str| self.states.iter().position(|state| state.name == name);
        let nodes = self.states.iter().map(|state| Node {
            is_initial: state.is_initial,
            note: note(state.at_end).into_iter().collect(),
            ..Node::new(&state.name, class(state.verdict))
        });
        let edges = self.states.iter().enumerate().flat_map(|(from, state)| {
            state.edges.iter().filter_map(move |(label, to)| {
                Some(Edge {
                    from,
                    to: position(to)?,
                    label: vec![shorten(label)],
                    branch: BranchKind::Success,
                })
            })
        });
        Graph { nodes: nodes.collect(), edges: edges.collect() }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.prefix.is_empty() {
            write!(f, "{} ", render_valuations(&self.prefix))?;
        }
        write!(f, "({})ω", render_valuations(&self.cycle))
    }
}

/// Renders positions, each with the atoms that hold in braces.
pub fn render_valuations(valuations: &[Valuation]) -> String {
    let words: Vec<String> = valuations.iter().map(|holds| format!("{{{}}}", holds.join(", "))).collect();
    words.join(" ")
}
