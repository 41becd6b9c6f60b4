//! What stands between `--BODY--` and `--END--`.

use super::Stop;
use super::acceptance;
use super::header::Header;
use super::scan::{Reader, Token};
use crate::automaton::{Automaton, Edge, Marks, State};
use crate::label::{Label, Variable};
use crate::{Budget, Logic};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A state of the text.
#[derive(Clone, Default)]
struct Described {
    /// Where it is named first, unless as the one that is described.
    used: Option<usize>,
    defined: bool,
    edges: Vec<Edge>,
}

/// An edge of the text: its label, if it has one, where it leads, and its sets.
type Arrow = (Option<Label>, State, Marks);

struct Body<'a> {
    header: &'a Header,
    states: Vec<Described>,
    edges: usize,
}

/// Reads a body, up to `--END--`.
pub(super) fn read(reader: &mut Reader<'_>, logic: &mut Logic, header: &Header) -> Result<Automaton, Stop> {
    let declared = header.states.unwrap_or_default() as usize;
    let mut body = Body { header, states: vec![Described::default(); declared], edges: 0 };
    for (state, at) in &header.starts {
        body.mention(*state, *at, logic)?;
    }
    while *reader.token() != Token::End {
        if *reader.token() != Token::Header("State") {
            return reader.expected("`State:` or `--END--`");
        }
        reader.advance()?;
        body.state(reader, logic)?;
    }
    body.finish(logic)
}

/// Reads where an edge leads, or where runs begin.
pub(super) fn one_state(reader: &mut Reader<'_>) -> Result<State, Stop> {
    let state = reader.must_number("the number of a state")?;
    if *reader.token() == Token::Sign('&') {
        return reader.wrong(
            "alternating automata (`&` between states) are not supported; remove the alternation first",
        );
    }
    Ok(state)
}

impl Body<'_> {
    /// Makes room for a state.
    fn room(&mut self, state: State, at: usize, logic: &Logic) -> Result<&mut Described, Stop> {
        let wanted = state as usize + 1;
        match self.header.states {
            Some(count) if state >= count => {
                return Err(Stop::Mistake(at, format!("there is no state {state}: {count} are declared")));
            }
            _ => Budget::allows("states", wanted, logic.budget.states)?,
        }
        if self.states.len() < wanted {
            self.states.resize(wanted, Described::default());
        }
        Ok(&mut self.states[state as usize])
    }

    /// Something leads to a state.
    fn mention(&mut self, state: State, at: usize, logic: &Logic) -> Result<(), Stop> {
        self.room(state, at, logic)?.used.get_or_insert(at);
        Ok(())
    }

    /// Reads one state with its edges.
    fn state(&mut self, reader: &mut Reader<'_>, logic: &mut Logic) -> Result<(), Stop> {
        let label = self.label(reader, logic)?;
        let at = reader.at();
        let state = reader.must_number("the number of a state")?;
        let described = self.room(state, at, logic)?;
        if described.defined {
            return Err(Stop::Mistake(at, format!("state {state} is described twice")));
        }
        described.defined = true;
        reader.text()?;
        let sets = self.sets(reader)?;
        let (mut arrows, begin): (Vec<Arrow>, usize) = (Vec::new(), reader.at());
        while matches!(reader.token(), Token::Sign('[') | Token::Number(_)) {
            let own = self.label(reader, logic)?;
            let at = reader.at();
            if let Some((before, ..)) = arrows.last()
                && before.is_some() != own.is_some()
            {
                return Err(Stop::Mistake(at, "either all edges of a state have labels, or none".into()));
            }
            if own.is_some() && label.is_some() {
                return Err(Stop::Mistake(at, "an edge of a state with a label has none of its own".into()));
            }
            let target = one_state(reader)?;
            self.mention(target, at, logic)?;
            arrows.push((own, target, sets | self.sets(reader)?));
            Budget::allows("edges", self.edges + arrows.len(), logic.budget.edges)?;
        }
        let labelled = label.is_some() || arrows.iter().all(|(own, ..)| own.is_some());
        let edges = match labelled {
            true => self.explicit(label.as_ref(), arrows, logic),
            false => self.implicit(&arrows, begin, logic)?,
        };
        self.edges += edges.len();
        self.states[state as usize].edges = edges;
        Ok(())
    }

    fn explicit(&self, of_state: Option<&Label>, arrows: Vec<Arrow>, logic: &Logic) -> Vec<Edge> {
        let edge = |(own, target, sets): Arrow| Edge {
            label: own.or(of_state.cloned()).unwrap_or_else(|| logic.labels.top()),
            marks: self.header.condition.marks(sets),
            target,
        };
        arrows.into_iter().map(edge).filter(|edge| !edge.label.is_false()).collect()
    }

    /// Edges without labels: one for each letter, the first proposition changes fastest.
    fn implicit(&self, arrows: &[Arrow], at: usize, logic: &mut Logic) -> Result<Vec<Edge>, Stop> {
        let atoms = &self.header.propositions;
        if 1_usize.checked_shl(atoms.len() as u32) != Some(arrows.len()) {
            let what = format!(
                "{} edges without labels: with {} propositions there is one for each of 2^{} letters",
                arrows.len(),
                atoms.len(),
                atoms.len()
            );
            return Err(Stop::Mistake(at, what));
        }
        let mut found: IndexMap<(State, Marks), Label, FxBuildHasher> = IndexMap::default();
        for (letter, (_, target, sets)) in arrows.iter().enumerate() {
            let literal = |(at, atom): (usize, _)| (Variable::Atom(atom), letter >> at & 1 == 1);
            let cube: Vec<(Variable, bool)> = atoms.iter().copied().enumerate().map(literal).collect();
            let cube = logic.labels.cube(&cube)?;
            let key = (*target, self.header.condition.marks(*sets));
            let known = found.entry(key).or_insert_with(|| logic.labels.bottom());
            *known = logic.labels.or(known, &cube)?;
        }
        let edge = |((target, marks), label)| Edge { label, marks, target };
        Ok(found.into_iter().map(edge).collect())
    }

    fn label(&self, reader: &mut Reader<'_>, logic: &mut Logic) -> Result<Option<Label>, Stop> {
        if !reader.sign('[')? {
            return Ok(None);
        }
        let expression = self.header.expression(reader)?;
        reader.must(']')?;
        self.header.value(&expression, logic).map(Some)
    }

    fn sets(&self, reader: &mut Reader<'_>) -> Result<Marks, Stop> {
        let mut sets = 0;
        if reader.sign('{')? {
            while !reader.sign('}')? {
                sets |= acceptance::set(reader, self.header.sets)?;
            }
        }
        Ok(sets)
    }

    fn finish(self, logic: &Logic) -> Result<Automaton, Stop> {
        for (number, state) in self.states.iter().enumerate() {
            if let (Some(at), false) = (state.used, state.defined) {
                return Err(Stop::Mistake(at, format!("state {number} is described nowhere")));
            }
        }
        let mut starts: Vec<State> = self.header.starts.iter().map(|(state, _)| *state).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut edges: Vec<Vec<Edge>> = self.states.into_iter().map(|state| state.edges).collect();
        let initial = match starts[..] {
            [] => return Ok(Automaton::empty()),
            [one] => one,
            // One more state that begins as all of them do.
            _ => {
                let all = starts.iter().flat_map(|start| edges[*start as usize].clone()).collect();
                edges.push(all);
                edges.len() as State - 1
            }
        };
        Budget::allows("states", edges.len(), logic.budget.states)?;
        Budget::allows("edges", edges.iter().map(Vec::len).sum(), logic.budget.edges)?;
        Ok(Automaton { initial, edges, sets: self.header.condition.sets() })
    }
}
