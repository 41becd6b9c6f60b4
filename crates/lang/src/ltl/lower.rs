//! From a monitor for a formula to an automaton that reads events.
//!
//! An instant is an event of the formula's alphabet: one that an atom names. At such an event the atom of its
//! name holds, the atoms of other names do not, and the atoms that are expressions are asked. In a record that
//! names no event, all names are asked of its fields.

use super::atoms::{Atoms, EventAtom, named};
use super::diagram::{Diagrams, Edges};
use super::machine::{Machine, Meaning};
use super::names::{is_good, names};
use super::words::sum;
use crate::prop::ast::Name;
use crate::prop::lower::HOST_FUNCTIONS;
use invigil_expr::compile::{Block, Compiler, Role, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::formula::{Atom, Formulae};
use invigil_ltl::label::{Labels, Variable};
use invigil_ltl::{Label, Logic, TooLarge, automaton};
use invigil_monitor::automaton::{Automaton, End, MAX_STATES, Parts, State, StateId, Transition};
use invigil_monitor::decision::{Decisions, Next, Test};
use invigil_monitor::event::{ANY, Catalog, Kind, Param, STATE, Source, SymbolId};
use invigil_monitor::verdict::Verdict;
use std::collections::HashMap;

/// What an automaton is called and shown as.
pub(super) struct Title<'a> {
    pub(super) name: &'a str,
    pub(super) formula: &'a str,
    pub(super) span: Span,
    pub(super) slice_on: &'a [Name],
}

/// An event of the alphabet.
struct Letter {
    symbol: SymbolId,
    /// The event atoms that hold at it; none in a record that names no event.
    holds: Option<Vec<Atom>>,
    /// Where parameters of these names come from.
    params: Vec<Param>,
}

/// Makes the automaton; none if a mistake was added to `diagnostics`.
///
/// # Errors
/// If the machine is too large for one.
pub(super) fn lower(
    logic: &mut Logic,
    machine: &Machine,
    atoms: &Atoms,
    title: &Title<'_>,
    functions: &[(SourceId, &str)],
    catalog: &mut Catalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Automaton>, TooLarge> {
    // One more may be added.
    if machine.states() >= MAX_STATES {
        return Err(TooLarge { what: "states of a monitor", limit: MAX_STATES - 1 });
    }
    let Logic { formulae, labels, .. } = logic;
    let mut names = names(machine, labels, formulae)?;
    let begun = match title.slice_on.is_empty() || is_good(&machine.outputs[machine.initial as usize]) {
        true => None,
        false => {
            names.push(START.to_owned());
            Some(with_start(machine))
        }
    };
    let machine = begun.as_ref().unwrap_or(machine);
    let letters = letters(atoms, catalog);
    let compiler = compiler(functions, diagnostics);
    let mut lowering = Lowering {
        formulae,
        labels,
        machine,
        span: title.span,
        transitions: Vec::new(),
        firsts: Vec::new(),
        diagrams: Diagrams::default(),
        tests: Tests { atoms, compiler, catalog, known: HashMap::new(), tests: Vec::new() },
    };
    let mut bindings = Vec::new();
    for letter in &letters {
        let keys = title.slice_on.iter().map(|key| &key.text);
        let keys = keys.map(|key| Some(lowering.tests.param(letter, key, named(key))));
        bindings.push((letter.symbol, keys.collect()));
        lowering.letter(letter)?;
    }
    let Lowering { transitions, mut firsts, diagrams, tests: Tests { tests, compiler, .. }, .. } = lowering;
    let (program, found) = compiler.finish();
    for diagnostic in found {
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(None);
    }
    firsts.sort_unstable_by_key(|(of, _)| *of);
    let states = names.into_iter().zip(&machine.outputs).map(|(name, Meaning { verdict, at_end })| State {
        name,
        verdict: *verdict,
        is_final: false,
        action: None,
        at_end: *at_end,
        span: title.span,
    });
    Ok(Some(Automaton::new(Parts {
        name: title.name.to_owned(),
        formula: Some(title.formula.to_owned()),
        slice_on: title.slice_on.iter().map(|name| name.text.clone()).collect(),
        bindings,
        states: states.collect(),
        initial: machine.initial as StateId,
        transitions,
        decisions: Decisions { tests, forks: diagrams.forks, firsts },
        program,
        ..Parts::default()
    })))
}

/// What the state before the first instant of an instance is called.
const START: &str = "start";

/// The same machine with a state before the first instant, which every event leaves. An instance whose events
/// change nothing would else not be there at the end, when it owes something.
fn with_start(machine: &Machine) -> Machine {
    let (mut begun, initial) = (machine.clone(), machine.initial as usize);
    begun.initial = machine.states() as automaton::State;
    begun.outputs.push(machine.outputs[initial]);
    begun.edges.push(machine.edges[initial].clone());
    begun
}

/// A compiler that knows the functions that expressions may call.
fn compiler(functions: &[(SourceId, &str)], diagnostics: &mut Vec<Diagnostic>) -> Compiler {
    let mut compiler = Compiler::new(Vec::new(), HOST_FUNCTIONS);
    let files: Vec<Block> = functions
        .iter()
        .filter_map(|(source, text)| Block::parse(Snippet::file(*source, text), diagnostics))
        .collect();
    files.iter().for_each(|file| compiler.declare(file));
    for file in &files {
        compiler.functions(file);
        compiler.block(file, &[], Role::Functions);
    }
    compiler
}

/// An automaton on its way.
struct Lowering<'a> {
    formulae: &'a Formulae,
    labels: &'a mut Labels,
    machine: &'a Machine,
    span: Span,
    transitions: Vec<Transition>,
    firsts: Vec<((StateId, SymbolId), Next)>,
    diagrams: Diagrams,
    tests: Tests<'a>,
}

impl Lowering<'_> {
    /// What all states do on an event.
    fn letter(&mut self, letter: &Letter) -> Result<(), TooLarge> {
        self.diagrams.next_event();
        let given: Vec<(Variable, bool)> = match &letter.holds {
            Some(holds) => {
                let events = self.tests.atoms.events.iter().map(|event| event.atom);
                events.map(|atom| (Variable::Atom(atom), holds.contains(&atom))).collect()
            }
            None => Vec::new(),
        };
        let given = self.labels.cube(&given)?;
        for (state, edges) in self.machine.edges.iter().enumerate() {
            let mut ways: Edges = Vec::new();
            for (label, target) in edges {
                let label = self.labels.restrict(label, &given)?;
                match *target as usize {
                    _ if label.is_false() => {}
                    target if target == state => ways.push((label, Next::Stay)),
                    target => self.ways(letter.symbol, state, target, label, &mut ways)?,
                }
            }
            // An event on which a state always stays is not needed there.
            if ways.iter().all(|(_, next)| *next == Next::Stay) {
                continue;
            }
            let Lowering { labels, tests, diagrams, .. } = self;
            let first = diagrams.decide(labels, &ways, &mut |atom| tests.test(letter, atom))?;
            if matches!(first, Next::Ask(_)) {
                self.firsts.push(((state as StateId, letter.symbol), first));
            }
        }
        Ok(())
    }

    /// The transitions that an edge becomes. A violation is told with what is enough for it, so every such
    /// reason is a transition of its own.
    fn ways(
        &mut self,
        symbol: SymbolId,
        state: usize,
        target: usize,
        label: Label,
        ways: &mut Edges,
    ) -> Result<(), TooLarge> {
        let mut reasons = Vec::new();
        if label.is_true() {
            reasons.push((label, None));
        } else if self.machine.outputs[target].verdict == Verdict::NonAccepting {
            let cubes = self.labels.cubes(&label)?;
            let mut rest = label;
            for cube in cubes {
                let enough = self.labels.cube(&cube)?;
                let words = sum(&[cube], self.formulae);
                reasons.push((self.labels.and(&rest, &enough)?, Some(words)));
                rest = self.labels.minus(&rest, &enough)?;
            }
        } else {
            let words = sum(&self.labels.cubes(&label)?, self.formulae);
            reasons.push((label, Some(words)));
        }
        for (label, condition) in reasons {
            ways.push((label, Next::Take(self.transitions.len() as u32)));
            self.transitions.push(Transition {
                from: state as StateId,
                symbol,
                guard: None,
                success: Some(End { target: Some(target as StateId), ..End::default() }),
                failure: None,
                reads: Vec::new(),
                condition,
                span: self.span,
            });
        }
        Ok(())
    }
}

/// The alphabet: the events that atoms name, and records that name none. A formula that names no event is
/// about every record.
fn letters(atoms: &Atoms, catalog: &mut Catalog) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    for EventAtom { atom, name, kind, params, .. } in &atoms.events {
        let symbol = catalog.symbol(name, *kind);
        let at = letters.iter().position(|letter| letter.symbol == symbol).unwrap_or_else(|| {
            letters.push(Letter { symbol, holds: Some(Vec::new()), params: Vec::new() });
            letters.len() - 1
        });
        letters[at].params.extend_from_slice(params);
        letters[at].holds.get_or_insert_default().push(*atom);
    }
    if letters.is_empty() {
        let symbol = catalog.symbol(ANY, Kind::Before);
        // Its name is worth telling.
        catalog.param(symbol, &named("event"));
        letters.push(Letter { symbol, holds: Some(Vec::new()), params: Vec::new() });
    }
    let symbol = catalog.symbol(STATE, Kind::Before);
    // In the order in which they are written, not in that in which they are asked.
    for event in &atoms.events {
        catalog.param(symbol, &field(event));
    }
    letters.push(Letter { symbol, holds: None, params: Vec::new() });
    letters
}

/// What says in a record that names no event whether the atom of one holds.
fn field(event: &EventAtom) -> Param {
    Param { source: Source::Name(event.field.clone()), name: event.field.clone(), ty: None }
}

/// The questions that are asked, made when they are first.
struct Tests<'a> {
    atoms: &'a Atoms,
    compiler: Compiler,
    catalog: &'a mut Catalog,
    known: HashMap<(SymbolId, Atom), u32>,
    tests: Vec<Test>,
}

impl Tests<'_> {
    /// The position of a parameter at an event, which may say where it comes from.
    fn param(&mut self, letter: &Letter, name: &str, otherwise: Param) -> usize {
        let said = letter.params.iter().find(|param| param.name == name);
        self.catalog.param(letter.symbol, said.unwrap_or(&otherwise))
    }

    /// The question whether an atom holds at an event.
    fn test(&mut self, letter: &Letter, atom: Atom) -> u32 {
        if let Some(known) = self.known.get(&(letter.symbol, atom)) {
            return *known;
        }
        let test = self.make(letter, atom);
        let number = self.tests.len() as u32;
        self.tests.push(test);
        self.known.insert((letter.symbol, atom), number);
        number
    }

    fn make(&mut self, letter: &Letter, atom: Atom) -> Test {
        let atoms = self.atoms;
        if let Some(event) = atoms.events.iter().find(|event| event.atom == atom) {
            return Test::Parameter(self.catalog.param(letter.symbol, &field(event)));
        }
        let Some(condition) = atoms.conditions.iter().find(|condition| condition.atom == atom) else {
            // What could not be read was complained about, and the automaton will not be run.
            return Test::Parameter(usize::MAX);
        };
        let params: Vec<(String, usize)> = condition
            .reads
            .iter()
            .map(|(name, param)| (name.clone(), self.param(letter, name, param.clone())))
            .collect();
        match self.compiler.block(&condition.block, &params, Role::Guard) {
            Some(compiled) => {
                Test::Block { code: compiled.code, reads: compiled.params.into_iter().collect() }
            }
            None => Test::Parameter(usize::MAX),
        }
    }
}
