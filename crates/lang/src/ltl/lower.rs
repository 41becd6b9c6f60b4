//! Compiles the monitor of a formula to an automaton over events.
//!
//! Each event of the formula's alphabet, that is, each event that an atom names, is a position. At such an event the
//! atom of its name holds, atoms of other names do not, and atoms that are expressions are evaluated. In a record
//! that names no event, the atoms of names are read from its fields.

use super::atoms::{Atoms, EventAtom, parameter_named};
use super::decision_diagram::{Diagrams, Edges};
use super::labels::sum;
use super::names::{is_good, names};
use super::state_output::{Machine, StateOutput};
use crate::prop::ast::Name;
use crate::prop::lower::HOST_FUNCTIONS;
use invigil_expr::compile::{Block, BlockRole, Compiler, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::formula::{Atom, Formulae};
use invigil_ltl::label::{Labels, Variable};
use invigil_ltl::{Label, Logic, TooLarge, automaton};
use invigil_monitor::automaton::{
    Automaton, AutomatonDef, BranchEffect, MAX_STATES, State, StateId, Transition,
};
use invigil_monitor::decision::{DecisionDiagram, DecisionEdge, DecisionTest};
use invigil_monitor::event::{ANY_EVENT, EventCatalog, EventId, EventKind, Param, ParamSource, STATE_EVENT};
use invigil_monitor::verdict::Verdict;
use std::collections::HashMap;

/// The header of the automaton.
pub(super) struct PropertyHeader<'a> {
    pub(super) name: &'a str,
    pub(super) formula: &'a str,
    pub(super) span: Span,
    pub(super) slice_on: &'a [Name],
}

/// An event of the alphabet.
struct Letter {
    event: EventId,
    /// The event atoms that hold at it; `None` for a record that names no event.
    true_atoms: Option<Vec<Atom>>,
    /// The parameters that its atoms define.
    params: Vec<Param>,
}

/// Builds the automaton; returns `None` if an error was added to `diagnostics`.
///
/// # Errors
/// Fails if the machine is too large.
pub(super) fn lower(
    logic: &mut Logic,
    machine: &Machine,
    atoms: &Atoms,
    header: &PropertyHeader<'_>,
    functions: &[(SourceId, &str)],
    catalog: &mut EventCatalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Automaton>, TooLarge> {
    // A start state may be added.
    if machine.states() >= MAX_STATES {
        return Err(TooLarge { resource: "states of a monitor", limit: MAX_STATES - 1 });
    }
    let Logic { formulae, labels, .. } = logic;
    let mut names = names(machine, labels, formulae)?;
    let with_start_state =
        match header.slice_on.is_empty() || is_good(&machine.outputs[machine.initial as usize]) {
            true => None,
            false => {
                names.push(START.to_owned());
                Some(add_start(machine))
            }
        };
    let machine = with_start_state.as_ref().unwrap_or(machine);
    let letters = letters(atoms, catalog);
    let compiler = compiler(functions, diagnostics);
    let mut lowering = Lowering {
        formulae,
        labels,
        machine,
        span: header.span,
        transitions: Vec::new(),
        roots: Vec::new(),
        diagrams: Diagrams::default(),
        tests: Tests { atoms, compiler, catalog, test_numbers: HashMap::new(), tests: Vec::new() },
    };
    let mut bindings = Vec::new();
    for letter in &letters {
        let keys = header.slice_on.iter().map(|key| &key.text);
        let keys = keys.map(|key| Some(lowering.tests.param(letter, key, parameter_named(key))));
        bindings.push((letter.event, keys.collect()));
        lowering.letter(letter)?;
    }
    let Lowering { transitions, mut roots, diagrams, tests: Tests { tests, compiler, .. }, .. } = lowering;
    let (program, found) = compiler.finish();
    for diagnostic in found {
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(None);
    }
    roots.sort_unstable_by_key(|(of, _)| *of);
    let states = names.into_iter().zip(&machine.outputs).map(|(name, StateOutput { verdict, at_end })| {
        State { name, verdict: *verdict, is_final: false, action: None, at_end: *at_end, span: header.span }
    });
    Ok(Some(Automaton::new(AutomatonDef {
        name: header.name.to_owned(),
        formula: Some(header.formula.to_owned()),
        slice_on: header.slice_on.iter().map(|name| name.text.clone()).collect(),
        bindings,
        states: states.collect(),
        initial: machine.initial as StateId,
        transitions,
        decisions: DecisionDiagram { tests, nodes: diagrams.nodes, roots },
        program,
        ..AutomatonDef::default()
    })))
}

/// The name of the state of a slice before its first position.
const START: &str = "start";

/// Returns the machine with an additional start state, which every event leaves. Otherwise a slice whose events change
/// nothing would not exist at the end of the run, where it may have an open obligation.
fn add_start(machine: &Machine) -> Machine {
    let (mut with_start_state, initial) = (machine.clone(), machine.initial as usize);
    with_start_state.initial = machine.states() as automaton::State;
    with_start_state.outputs.push(machine.outputs[initial]);
    with_start_state.edges.push(machine.edges[initial].clone());
    with_start_state
}

/// Creates a compiler with the functions that expressions may call.
fn compiler(functions: &[(SourceId, &str)], diagnostics: &mut Vec<Diagnostic>) -> Compiler {
    let mut compiler = Compiler::new(Vec::new(), HOST_FUNCTIONS);
    let files: Vec<Block> = functions
        .iter()
        .filter_map(|(source, text)| Block::parse(Snippet::file(*source, text), diagnostics))
        .collect();
    files.iter().for_each(|file| compiler.declare(file));
    for file in &files {
        compiler.functions(file);
        compiler.block(file, &[], BlockRole::Functions);
    }
    compiler
}

/// An automaton under construction.
struct Lowering<'a> {
    formulae: &'a Formulae,
    labels: &'a mut Labels,
    machine: &'a Machine,
    span: Span,
    transitions: Vec<Transition>,
    roots: Vec<((StateId, EventId), DecisionEdge)>,
    diagrams: Diagrams,
    tests: Tests<'a>,
}

impl Lowering<'_> {
    /// Adds the transitions of all states for an event.
    fn letter(&mut self, letter: &Letter) -> Result<(), TooLarge> {
        self.diagrams.next_event();
        let event_literals: Vec<(Variable, bool)> = match &letter.true_atoms {
            Some(true_atoms) => {
                let events = self.tests.atoms.events.iter().map(|event| event.atom);
                events.map(|atom| (Variable::Atom(atom), true_atoms.contains(&atom))).collect()
            }
            None => Vec::new(),
        };
        let event_cube = self.labels.cube(&event_literals)?;
        for (state, edges) in self.machine.edges.iter().enumerate() {
            let mut branches: Edges = Vec::new();
            for (label, target) in edges {
                let label = self.labels.restrict(label, &event_cube)?;
                match *target as usize {
                    _ if label.is_false() => {}
                    target if target == state => branches.push((label, DecisionEdge::Stay)),
                    target => self.branches(letter.event, state, target, label, &mut branches)?,
                }
            }
            // If a state never changes on an event, it does not need the event.
            if branches.iter().all(|(_, next)| *next == DecisionEdge::Stay) {
                continue;
            }
            let Lowering { labels, tests, diagrams, .. } = self;
            let root = diagrams.decide(labels, &branches, &mut |atom| tests.test(letter, atom))?;
            if matches!(root, DecisionEdge::Test(_)) {
                self.roots.push(((state as StateId, letter.event), root));
            }
        }
        Ok(())
    }

    /// Adds the transitions for an edge. Violations are reported with a sufficient reason, so each reason becomes a
    /// transition of its own.
    fn branches(
        &mut self,
        event: EventId,
        state: usize,
        target: usize,
        label: Label,
        branches: &mut Edges,
    ) -> Result<(), TooLarge> {
        let mut reasons = Vec::new();
        if label.is_true() {
            reasons.push((label, None));
        } else if self.machine.outputs[target].verdict == Verdict::NonAccepting {
            let cubes = self.labels.cubes(&label)?;
            let mut rest = label;
            for cube in cubes {
                let enough = self.labels.cube(&cube)?;
                let condition = sum(&[cube], self.formulae);
                reasons.push((self.labels.and(&rest, &enough)?, Some(condition)));
                rest = self.labels.minus(&rest, &enough)?;
            }
        } else {
            let condition = sum(&self.labels.cubes(&label)?, self.formulae);
            reasons.push((label, Some(condition)));
        }
        for (label, condition) in reasons {
            branches.push((label, DecisionEdge::Take(self.transitions.len() as u32)));
            self.transitions.push(Transition {
                from: state as StateId,
                event,
                guard: None,
                success: Some(BranchEffect { target: Some(target as StateId), ..BranchEffect::default() }),
                failure: None,
                reads: Vec::new(),
                condition,
                span: self.span,
            });
        }
        Ok(())
    }
}

/// Returns the alphabet: the events that atoms name, and records that name none. A formula without event names reads
/// every record.
fn letters(atoms: &Atoms, catalog: &mut EventCatalog) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    for EventAtom { atom, name, kind, params, .. } in &atoms.events {
        let id = catalog.declare(name, *kind);
        let at = letters.iter().position(|letter| letter.event == id).unwrap_or_else(|| {
            letters.push(Letter { event: id, true_atoms: Some(Vec::new()), params: Vec::new() });
            letters.len() - 1
        });
        letters[at].params.extend_from_slice(params);
        letters[at].true_atoms.get_or_insert_default().push(*atom);
    }
    if letters.is_empty() {
        let id = catalog.declare(ANY_EVENT, EventKind::Before);
        // Reports show the name of the event.
        catalog.declare_param(id, &parameter_named("event"));
        letters.push(Letter { event: id, true_atoms: Some(Vec::new()), params: Vec::new() });
    }
    let id = catalog.declare(STATE_EVENT, EventKind::Before);
    // In source order, not in evaluation order.
    for event in &atoms.events {
        catalog.declare_param(id, &field(event));
    }
    letters.push(Letter { event: id, true_atoms: None, params: Vec::new() });
    letters
}

/// Returns the record field with the value of an event atom, for records that name no event.
fn field(event: &EventAtom) -> Param {
    Param { source: ParamSource::Name(event.field.clone()), name: event.field.clone(), ty: None }
}

/// The tests of atoms, created on demand.
struct Tests<'a> {
    atoms: &'a Atoms,
    compiler: Compiler,
    catalog: &'a mut EventCatalog,
    test_numbers: HashMap<(EventId, Atom), u32>,
    tests: Vec<DecisionTest>,
}

impl Tests<'_> {
    /// Returns the index of a parameter of an event; the event may define its source.
    fn param(&mut self, letter: &Letter, name: &str, fallback: Param) -> usize {
        let declared = letter.params.iter().find(|param| param.name == name);
        self.catalog.declare_param(letter.event, declared.unwrap_or(&fallback))
    }

    /// Returns the test for an atom at an event.
    fn test(&mut self, letter: &Letter, atom: Atom) -> u32 {
        if let Some(number) = self.test_numbers.get(&(letter.event, atom)) {
            return *number;
        }
        let test = self.create_test(letter, atom);
        let number = self.tests.len() as u32;
        self.tests.push(test);
        self.test_numbers.insert((letter.event, atom), number);
        number
    }

    fn create_test(&mut self, letter: &Letter, atom: Atom) -> DecisionTest {
        let atoms = self.atoms;
        if let Some(event) = atoms.events.iter().find(|event| event.atom == atom) {
            return DecisionTest::Parameter(self.catalog.declare_param(letter.event, &field(event)));
        }
        let Some(condition) = atoms.conditions.iter().find(|condition| condition.atom == atom) else {
            // Syntax errors have been reported, and the automaton is discarded.
            return DecisionTest::Parameter(usize::MAX);
        };
        let params: Vec<(String, usize)> = condition
            .reads
            .iter()
            .map(|(name, param)| (name.clone(), self.param(letter, name, param.clone())))
            .collect();
        match self.compiler.block(&condition.block, &params, BlockRole::Guard) {
            Some(compiled) => {
                DecisionTest::Block { code: compiled.code, reads: compiled.params.into_iter().collect() }
            }
            None => DecisionTest::Parameter(usize::MAX),
        }
    }
}
