//! The body of an automaton, between `--BODY--` and `--END--`.

use super::ReadError;
use super::acceptance;
use super::header::Header;
use super::scan::{Scanner, Token};
use crate::automaton::{Automaton, Edge, Marks, State};
use crate::label::{Label, Variable};
use crate::{Budget, Logic};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// State that the text defines or refers to.
#[derive(Clone, Default)]
struct StateEntry {
    /// Offset of the first reference to the state.
    referenced: Option<usize>,
    is_defined: bool,
    edges: Vec<Edge>,
}

/// Edge as written in the text: label if it has one, target, and acceptance sets.
type RawEdge = (Option<Label>, State, Marks);

struct Body<'a> {
    header: &'a Header,
    states: Vec<StateEntry>,
    /// Number of edges so far.
    edges: usize,
}

/// Parses a body, up to `--END--`.
pub(super) fn read(
    scanner: &mut Scanner<'_>,
    logic: &mut Logic,
    header: &Header,
) -> Result<Automaton, ReadError> {
    let declared = header.states.unwrap_or_default() as usize;
    let mut body = Body { header, states: vec![StateEntry::default(); declared], edges: 0 };
    for (state, at) in &header.starts {
        body.reference(*state, *at, logic)?;
    }
    while *scanner.token() != Token::End {
        if *scanner.token() != Token::Header("State") {
            return scanner.expected("`State:` or `--END--`");
        }
        scanner.advance()?;
        body.state(scanner, logic)?;
    }
    body.finish(logic)
}

/// Parses a single state, as the target of an edge or as an initial state.
pub(super) fn single_state(scanner: &mut Scanner<'_>) -> Result<State, ReadError> {
    let state = scanner.expect_number("the number of a state")?;
    if *scanner.token() == Token::Sign('&') {
        return scanner.error(
            "alternating automata (`&` between states) are not supported; remove the alternation first",
        );
    }
    Ok(state)
}

impl Body<'_> {
    /// Returns the entry of a state, and creates it if needed.
    fn entry(&mut self, state: State, at: usize, logic: &Logic) -> Result<&mut StateEntry, ReadError> {
        let count_needed = state as usize + 1;
        match self.header.states {
            Some(count) if state >= count => {
                return Err(ReadError::Syntax(at, format!("unknown state {state}: {count} are declared")));
            }
            _ => Budget::check("states", count_needed, logic.budget.states)?,
        }
        if self.states.len() < count_needed {
            self.states.resize(count_needed, StateEntry::default());
        }
        Ok(&mut self.states[state as usize])
    }

    /// Records a reference to a state.
    fn reference(&mut self, state: State, at: usize, logic: &Logic) -> Result<(), ReadError> {
        self.entry(state, at, logic)?.referenced.get_or_insert(at);
        Ok(())
    }

    /// Parses a state with its edges.
    fn state(&mut self, scanner: &mut Scanner<'_>, logic: &mut Logic) -> Result<(), ReadError> {
        let label = self.label(scanner, logic)?;
        let at = scanner.at();
        let state = scanner.expect_number("the number of a state")?;
        let entry = self.entry(state, at, logic)?;
        if entry.is_defined {
            return Err(ReadError::Syntax(at, format!("state {state} is defined twice")));
        }
        entry.is_defined = true;
        scanner.take_string()?;
        let sets = self.sets(scanner)?;
        let (mut raw_edges, start): (Vec<RawEdge>, usize) = (Vec::new(), scanner.at());
        while matches!(scanner.token(), Token::Sign('[') | Token::Number(_)) {
            let own = self.label(scanner, logic)?;
            let at = scanner.at();
            if let Some((before, ..)) = raw_edges.last()
                && before.is_some() != own.is_some()
            {
                return Err(ReadError::Syntax(at, "either all edges of a state have labels, or none".into()));
            }
            if own.is_some() && label.is_some() {
                return Err(ReadError::Syntax(
                    at,
                    "an edge of a labelled state cannot have its own label".into(),
                ));
            }
            let target = single_state(scanner)?;
            self.reference(target, at, logic)?;
            raw_edges.push((own, target, sets | self.sets(scanner)?));
            Budget::check("edges", self.edges + raw_edges.len(), logic.budget.edges)?;
        }
        let labelled = label.is_some() || raw_edges.iter().all(|(own, ..)| own.is_some());
        let edges = match labelled {
            true => self.explicit(label.as_ref(), raw_edges, logic),
            false => self.implicit(&raw_edges, start, logic)?,
        };
        self.edges += edges.len();
        self.states[state as usize].edges = edges;
        Ok(())
    }

    /// Converts edges with labels of their own or of their state.
    fn explicit(&self, of_state: Option<&Label>, raw_edges: Vec<RawEdge>, logic: &Logic) -> Vec<Edge> {
        let edge = |(own, target, sets): RawEdge| Edge {
            label: own.or(of_state.cloned()).unwrap_or_else(|| logic.labels.top()),
            marks: self.header.condition.marks(sets),
            target,
        };
        raw_edges.into_iter().map(edge).filter(|edge| !edge.label.is_false()).collect()
    }

    /// Converts edges without labels: one for each letter, where the first proposition changes fastest.
    fn implicit(&self, raw_edges: &[RawEdge], at: usize, logic: &mut Logic) -> Result<Vec<Edge>, ReadError> {
        let atoms = &self.header.propositions;
        if 1_usize.checked_shl(atoms.len() as u32) != Some(raw_edges.len()) {
            let message = format!(
                "{} edges without labels: with {} propositions there is one for each of 2^{} letters",
                raw_edges.len(),
                atoms.len(),
                atoms.len()
            );
            return Err(ReadError::Syntax(at, message));
        }
        let mut merged: IndexMap<(State, Marks), Label, FxBuildHasher> = IndexMap::default();
        for (letter, (_, target, sets)) in raw_edges.iter().enumerate() {
            let literal = |(at, atom): (usize, _)| (Variable::Atom(atom), letter >> at & 1 == 1);
            let cube: Vec<(Variable, bool)> = atoms.iter().copied().enumerate().map(literal).collect();
            let cube = logic.labels.cube(&cube)?;
            let key = (*target, self.header.condition.marks(*sets));
            let label = merged.entry(key).or_insert_with(|| logic.labels.bottom());
            *label = logic.labels.or(label, &cube)?;
        }
        let edge = |((target, marks), label)| Edge { label, marks, target };
        Ok(merged.into_iter().map(edge).collect())
    }

    fn label(&self, scanner: &mut Scanner<'_>, logic: &mut Logic) -> Result<Option<Label>, ReadError> {
        if !scanner.take_sign('[')? {
            return Ok(None);
        }
        let expression = self.header.expression(scanner)?;
        scanner.expect_sign(']')?;
        self.header.evaluate(&expression, logic).map(Some)
    }

    fn sets(&self, scanner: &mut Scanner<'_>) -> Result<Marks, ReadError> {
        let mut sets = 0;
        if scanner.take_sign('{')? {
            while !scanner.take_sign('}')? {
                sets |= acceptance::set(scanner, self.header.sets)?;
            }
        }
        Ok(sets)
    }

    fn finish(self, logic: &Logic) -> Result<Automaton, ReadError> {
        for (number, state) in self.states.iter().enumerate() {
            if let (Some(at), false) = (state.referenced, state.is_defined) {
                return Err(ReadError::Syntax(at, format!("state {number} is not defined")));
            }
        }
        let mut starts: Vec<State> = self.header.starts.iter().map(|(state, _)| *state).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut edges: Vec<Vec<Edge>> = self.states.into_iter().map(|state| state.edges).collect();
        let initial = match starts[..] {
            [] => return Ok(Automaton::empty()),
            [one] => one,
            // A new initial state with the edges of all initial states.
            _ => {
                let all = starts.iter().flat_map(|start| edges[*start as usize].clone()).collect();
                edges.push(all);
                edges.len() as State - 1
            }
        };
        Budget::check("states", edges.len(), logic.budget.states)?;
        Budget::check("edges", edges.iter().map(Vec::len).sum(), logic.budget.edges)?;
        Ok(Automaton { initial, edges, sets: self.header.condition.sets() })
    }
}
