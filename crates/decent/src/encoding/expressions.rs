//! The execution history encoding (EHE) of [EH18 §5]: for each instant and state an expression that holds if and only
//! if the automaton is in that state at that instant.
//!
//! It exists to reproduce the tables, counts and sizes of EH18. [`States`](super::States) knows at least as much and
//! is faster.

use super::{Encoding, KnownState, WorkCounters};
use crate::automaton::{Cube, Machine, State};
use crate::expression::{Expression, Pool, Simplifier, evaluate};
use crate::memory::{Atom, Memory, Obligation};
use crate::system::Instant;
use invigil_ltl::moore::{Truth, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Simplification profile, see [EH18 §7].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simplification {
    /// Every expression is passed to the simplifier, which decides whether it is constant and otherwise leaves it
    /// unchanged.
    Quick,
    /// Only expressions that are still complex after rewriting are passed to the simplifier, which computes an
    /// irredundant sum of products.
    Aggressive,
}

/// Type-level [`Simplification`].
pub trait Profile: Clone + Send {
    /// The profile.
    const SIMPLIFICATION: Simplification;
}

/// [`Simplification::Quick`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quick;

/// [`Simplification::Aggressive`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggressive;

impl Profile for Quick {
    const SIMPLIFICATION: Simplification = Simplification::Quick;
}

impl Profile for Aggressive {
    const SIMPLIFICATION: Simplification = Simplification::Aggressive;
}

/// Expression for each instant and state.
///
/// ```
/// use invigil_decent::automaton::{Automaton, Machine};
/// use invigil_decent::encoding::{Encoding, Expressions, Quick};
/// use invigil_decent::memory::Atom;
/// use invigil_decent::system::PropositionId;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("F on").unwrap();
/// let monitor = logic.monitor(formula)?;
/// let machine = Machine::new(Automaton::of(&logic, &monitor, |_| Some(Atom::Observed(PropositionId(0))))?)?;
/// let mut history = Expressions::<Quick>::new(&machine, 0);
/// history.extend(&machine, 2);
/// let stays = history.expression(2, machine.initial).unwrap();
/// assert_eq!(history.pool().display(stays, &|_| "on".into()).to_string(), "¬⟨1,on⟩ ∧ ¬⟨2,on⟩");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Expressions<P = Aggressive> {
    pool: Pool,
    /// The states of each instant, sorted. There is at least one instant.
    rows: BTreeMap<Instant, Vec<Entry>>,
    resolved: Option<KnownState>,
    verdict: Option<(Truth, Instant)>,
    profile: PhantomData<P>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    state: State,
    expression: Expression,
    /// Whether the simplifier has processed the expression.
    simplified: bool,
    /// Whether the expression was rewritten and has to be evaluated.
    rewritten: bool,
}

impl Entry {
    fn new(state: State, expression: Expression) -> Entry {
        Entry { state, expression, simplified: false, rewritten: false }
    }
}

impl<P: Profile> Encoding for Expressions<P> {
    fn new(machine: &Machine, at: Instant) -> Expressions<P> {
        let mut new = Expressions {
            pool: Pool::default(),
            rows: BTreeMap::new(),
            resolved: None,
            verdict: None,
            profile: PhantomData,
        };
        new.add_init_rule(machine, at);
        new
    }

    fn reset(&mut self, machine: &Machine, at: Instant) {
        *self = Encoding::new(machine, at);
    }

    fn fits(&self, machine: &Machine) -> bool {
        let is_valid = |entry: &Entry| {
            (entry.state as usize) < machine.states() && entry.expression.index() < self.pool.len()
        };
        let known = |resolved: KnownState| self.state(resolved.at) == Some(resolved.state);
        !self.rows.is_empty() && self.rows.values().flatten().all(is_valid) && self.resolved.is_none_or(known)
    }

    fn start(&self) -> Instant {
        self.rows.first_key_value().map_or(0, |(at, _)| *at)
    }

    fn end(&self) -> Instant {
        self.rows.last_key_value().map_or(0, |(at, _)| *at)
    }

    fn extend(&mut self, machine: &Machine, to: Instant) {
        while self.end() < to {
            self.tick(machine);
        }
    }

    fn learn(&mut self, machine: &Machine, memory: &Memory, work: &mut WorkCounters) -> Option<KnownState> {
        let mut simplifier = self.rewrite(memory);
        for at in self.instants_from(self.first_unknown()) {
            self.simplify(machine, &mut simplifier, at, false, work);
        }
        self.resolved
    }

    fn merge(&mut self, machine: &Machine, other: &Expressions<P>, _: &mut WorkCounters) {
        self.merge_from(machine, other, self.start());
    }

    fn resolved(&self) -> Option<KnownState> {
        self.resolved
    }

    fn verdict(&self) -> Option<(Truth, Instant)> {
        self.verdict
    }

    fn state(&self, at: Instant) -> Option<State> {
        let row = self.rows.get(&at)?;
        row.iter().find(|entry| entry.expression == Expression::TRUE).map(|entry| entry.state)
    }

    fn drop_before(&mut self, at: Instant) -> u32 {
        let before = self.rows.len();
        let last = self.end();
        self.rows = self.rows.split_off(&at.min(last));
        let dropped = before - self.rows.len();
        if dropped > 0 {
            self.resolved = self.resolved.filter(|resolved| resolved.at >= self.start());
            if let (Some(state), Some(mut first)) = (self.state(self.start()), self.rows.first_entry()) {
                first.get_mut().retain(|entry| entry.state == state);
            }
            self.rewrite(&Memory::default());
        }
        dropped as u32
    }

    fn open_obligations(&self, _: &Machine) -> impl Iterator<Item = Obligation> {
        let entries = self.rows.range(self.first_unknown()..).flat_map(|(_, row)| row);
        self.pool.obligations(entries.map(|entry| entry.expression)).into_iter()
    }

    fn size(&self, _: &Machine, name: &dyn Fn(Atom) -> usize) -> usize {
        let entries = self.rows.values().flatten().map(|entry| entry.expression);
        let count = entries.clone().count();
        (8 * count).saturating_add(self.pool.size(entries, name))
    }
}

impl<P: Profile> Expressions<P> {
    /// Returns the pool that stores the expressions.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the condition for a state at an instant, or `None` if the state is unreachable.
    pub fn expression(&self, at: Instant, state: State) -> Option<Expression> {
        let row = self.rows.get(&at)?;
        row.iter().find(|entry| entry.state == state).map(|entry| entry.expression)
    }

    /// Sets the automaton to its initial state at an instant and keeps earlier instants (`addInitRule` of [EH18 §7]).
    pub fn add_init_rule(&mut self, machine: &Machine, at: Instant) {
        self.rows.retain(|when, _| *when < at);
        self.verdict = self.verdict.filter(|(_, when)| *when < at);
        self.resolved = None;
        self.rows.insert(at, vec![Entry::new(machine.initial, Expression::TRUE)]);
        self.resolve(machine, at, machine.initial);
    }

    /// Returns the instants of the history (`rounds` of [EH18 §5]).
    pub fn instants(&self) -> impl Iterator<Item = Instant> {
        self.rows.keys().copied()
    }

    /// Appends one instant (one step of `mov` of [EH18 §5]).
    pub fn tick(&mut self, machine: &Machine) {
        let Some((&end, row)) = self.rows.last_key_value() else { return };
        let Some(at) = end.checked_add(1) else { return };
        let mut by_target: BTreeMap<State, Vec<Expression>> = BTreeMap::new();
        for entry in row.clone() {
            if entry.expression == Expression::FALSE {
                continue;
            }
            for edge in &machine.edges[entry.state as usize] {
                let label = label(&mut self.pool, &edge.cubes, at);
                let condition = self.pool.and([entry.expression, label]);
                by_target.entry(edge.to).or_default().push(condition);
            }
        }
        let pool = &mut self.pool;
        let row = by_target.into_iter().map(|(state, by_target)| Entry::new(state, pool.or(by_target)));
        let row: Vec<Entry> = row.collect();
        let certain = row.iter().find(|entry| entry.expression == Expression::TRUE).map(|entry| entry.state);
        self.rows.insert(at, row);
        if let Some(state) = certain {
            self.resolve(machine, at, state);
        }
    }

    /// Returns the state at an instant, as far as a memory determines it (`sel` of [EH18 §5]).
    pub fn select(&self, memory: &Memory, at: Instant) -> Option<State> {
        let row = self.rows.get(&at)?;
        let holds = |entry: &&Entry| evaluate(&self.pool, entry.expression, memory) == Some(true);
        row.iter().find(holds).map(|entry| entry.state)
    }

    /// Returns the verdict at an instant, as far as a memory determines it (`verAt` of [EH18 §5]).
    pub fn verdict_at(&self, machine: &Machine, memory: &Memory, at: Instant) -> Truth {
        self.select(memory, at).map_or(Truth::Unknown, |state| machine.verdict(state))
    }

    /// Substitutes a memory into all expressions and simplifies them (`inc` of [EH18 §5]). The memory is not needed
    /// afterwards.
    pub fn incorporate(&mut self, machine: &Machine, memory: &Memory, work: &mut WorkCounters) {
        let mut simplifier = self.rewrite(memory);
        for at in self.instants_from(self.start()) {
            self.simplify(machine, &mut simplifier, at, true, work);
        }
    }

    /// Substitutes a memory into the expressions of each instant from `from` (default: the first unknown one) until a
    /// state becomes known. Returns whether one did.
    pub fn update(
        &mut self,
        machine: &Machine,
        memory: &Memory,
        from: Option<Instant>,
        work: &mut WorkCounters,
    ) -> bool {
        let mut simplifier = self.rewrite(memory);
        let from = from.unwrap_or_else(|| self.first_unknown());
        self.instants_from(from)
            .into_iter()
            .any(|at| self.simplify(machine, &mut simplifier, at, false, work))
    }

    /// Merges another history, including instants before the own start.
    pub fn merge_all(&mut self, machine: &Machine, other: &Expressions<P>) {
        self.merge_from(machine, other, 0);
    }

    fn merge_from(&mut self, machine: &Machine, other: &Expressions<P>, from: Instant) {
        if !other.fits(machine) {
            return;
        }
        let rows = || other.rows.range(from..);
        let entries = rows().flat_map(|(_, row)| row).map(|entry| entry.expression);
        let mut copies = other.pool.rewrite(entries, &Memory::default(), &mut self.pool).into_iter();
        for (at, theirs) in rows() {
            let row = self.rows.entry(*at).or_default();
            for (entry, copy) in theirs.iter().zip(&mut copies) {
                match row.binary_search_by_key(&entry.state, |own| own.state) {
                    Ok(place) if row[place].expression != copy => {
                        let either = self.pool.or([row[place].expression, copy]);
                        row[place] = Entry::new(entry.state, either);
                    }
                    Ok(_) => {}
                    Err(place) => row.insert(place, Entry { expression: copy, ..*entry }),
                }
            }
            if let Some(state) = self.state(*at) {
                self.resolve(machine, *at, state);
            }
        }
        if let Some(theirs) = other.verdict {
            self.conclude(theirs);
        }
    }

    fn first_unknown(&self) -> Instant {
        self.resolved.map_or(0, |resolved| resolved.at.saturating_add(1))
    }

    fn instants_from(&self, first: Instant) -> Vec<Instant> {
        self.rows.range(first..).map(|(at, _)| *at).collect()
    }

    /// Substitutes a memory into all expressions and drops those that are no longer needed.
    fn rewrite(&mut self, memory: &Memory) -> Simplifier {
        let pool = std::mem::take(&mut self.pool);
        let touched = pool.touched(memory);
        let entries = self.rows.values().flatten().map(|entry| entry.expression);
        let copies = pool.rewrite(entries, memory, &mut self.pool);
        for (entry, copy) in self.rows.values_mut().flatten().zip(copies) {
            entry.simplified &= !touched[entry.expression.index()];
            entry.rewritten = entry.expression.constant().is_none();
            entry.expression = copy;
        }
        Simplifier::new(&self.pool, self.rows.values().flatten().map(|entry| entry.expression))
    }

    /// Simplifies the expressions of an instant: all, or until one is true. Returns whether one is.
    fn simplify(
        &mut self,
        machine: &Machine,
        simplifier: &mut Simplifier,
        at: Instant,
        all: bool,
        work: &mut WorkCounters,
    ) -> bool {
        let Some(row) = self.rows.get_mut(&at) else { return false };
        let mut known = None;
        for entry in row.iter_mut() {
            if std::mem::take(&mut entry.rewritten) {
                work.evaluations += 1;
                let quick = P::SIMPLIFICATION == Simplification::Quick;
                let needed = quick || !self.pool.is_plain(entry.expression);
                work.simplifications += u64::from(needed);
                // THEMIS calls the simplifier again; its result is known, so only the call is counted.
                if needed && !entry.simplified {
                    entry.expression = simplified::<P>(simplifier, &mut self.pool, entry.expression);
                    entry.simplified = true;
                }
            }
            if entry.expression == Expression::TRUE {
                known = Some(entry.state);
                if !all {
                    break;
                }
            }
        }
        let Some(state) = known else { return false };
        if !all {
            // The automaton is in exactly one state at a time.
            for entry in row.iter_mut().filter(|entry| entry.state != state) {
                entry.expression = Expression::FALSE;
            }
        }
        self.resolve(machine, at, state);
        true
    }

    /// Stores the state at an instant as known.
    fn resolve(&mut self, machine: &Machine, at: Instant, state: State) {
        if self.resolved.is_none_or(|resolved| resolved.at <= at) {
            self.resolved = Some(KnownState { at, state });
        }
        let verdict = machine.verdict(state);
        if verdict.is_final() {
            self.conclude((verdict, at));
        }
    }

    /// Stores a verdict if it is earlier than the stored one.
    fn conclude(&mut self, verdict: (Truth, Instant)) {
        if self.verdict.is_none_or(|(_, known)| verdict.1 < known) {
            self.verdict = Some(verdict);
        }
    }
}

/// Simplifies an expression. One that is too large is kept unchanged, which is correct but decides nothing.
fn simplified<P: Profile>(
    simplifier: &mut Simplifier,
    pool: &mut Pool,
    expression: Expression,
) -> Expression {
    match P::SIMPLIFICATION {
        Simplification::Aggressive => simplifier.simplify(pool, expression).unwrap_or(expression),
        Simplification::Quick => match simplifier.decide(pool, expression) {
            Some(true) => Expression::TRUE,
            Some(false) => Expression::FALSE,
            None => expression,
        },
    }
}

/// Builds a label at an instant.
fn label(pool: &mut Pool, cubes: &[Cube], at: Instant) -> Expression {
    let mut sum = Vec::with_capacity(cubes.len());
    for cube in cubes {
        let literals: Vec<_> =
            cube.iter().map(|(atom, value)| pool.literal(Obligation { at, atom: *atom }, *value)).collect();
        sum.push(pool.and(literals));
    }
    pool.or(sum)
}
