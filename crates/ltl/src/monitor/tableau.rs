//! Symbolic tableau: a formula at a position, as a decision diagram.
//!
//! Three kinds of variables express the requirements of a formula at a position: *atoms*, *promises* about later positions (an
//! atom or an until that holds a number of positions ahead), and *memories* of the previous position (of a since, or of the
//! operand of `Y`). An until is its goal now, or its left operand now and a promise of itself for the next position. All
//! other operators reduce to until, to since as its mirror image, and to negation. Next is pushed down to atoms and untils.
//! So equivalent formulae usually have equal diagrams; if all operators are bounded, they always do.
//!
//! The diagrams have their own manager: the order of the variables suits the formula, and all diagrams are freed together.

use crate::formula::{Atom, Formula, Formulae, Node};
use crate::label::{Label, Labels, Variable};
use crate::{Budget, TooLarge};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Subject of a promise.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PromiseSubject {
    Atom(Atom),
    Until(usize),
    /// Existence of the position. On finite words, `X !a` and `!X a` differ.
    Position,
}

/// Formula at a position.
#[derive(Clone)]
struct Value {
    /// Diagram over atoms, promises and memories.
    whole: Label,
    /// The same, but inner untils are their promises from the previous position, and inner sinces their memories at the next
    /// position. Small even for deeply nested formulae. Differs from `whole` only if relations are computed from it.
    local: Label,
}

/// Promise about a later position.
pub(super) struct Promise {
    /// Number of its variable; the variables of its copies follow.
    number: u32,
    /// Meaning at the next position, as a function of the variables of that position.
    pub(super) kept: Label,
    local: Label,
    /// Whether the promise is an until, which only fairness prevents from being postponed forever.
    pub(super) is_until: bool,
}

/// Memory of a position.
pub(super) struct Memory {
    /// Number of its variable; the variable of its copy follows.
    number: u32,
    /// Remembered value, as a function of the variables of the position.
    pub(super) value: Label,
    local: Label,
}

/// Operands of `keep U goal` or `keep S goal`.
type Pair = (Label, Label);

/// Tableau of a formula.
pub(crate) struct Tableau {
    /// Manager of the diagrams.
    pub(crate) labels: Labels,
    /// Formula at the first position.
    pub(crate) formula: Label,
    /// Atoms in the order of their variables.
    pub(super) atoms: Vec<Atom>,
    pub(super) promises: Vec<Promise>,
    pub(super) memories: Vec<Memory>,
    /// For each until, the condition that it holds without its goal, which must not persist forever.
    pub(super) postponed: Vec<Label>,
    /// Number of variables for each promise.
    copies: u32,
}

/// Copy for an adjacent position: of a promise, as made at the previous position; of a memory, of the next position.
pub(super) const SHIFTED: u32 = 1;

impl Tableau {
    /// Builds the tableau of a formula, for finite or for infinite words.
    pub(crate) fn new(
        formulae: &Formulae,
        formula: Formula,
        budget: &Budget,
        is_finite: bool,
    ) -> Result<Tableau, TooLarge> {
        let unbounded = |part: &Formula| {
            use Node::{Finally, Globally, Release, StrongRelease, Until, WeakUntil};
            let node = formulae.node(*part);
            matches!(node, Finally(_) | Globally(_) | Until(_) | Release(_) | WeakUntil(_) | StrongRelease(_))
        };
        let unbounded = formulae.subformulae(formula).iter().any(unbounded);
        // Relations between promises of different positions are only needed for fairness.
        let copies = if unbounded && !is_finite { 4 } else { 1 };
        // Fixed points on large diagrams become slow long before memory runs out.
        let nodes = if unbounded { budget.nodes / 8 } else { budget.nodes };
        let mut builder = Builder::new(formulae, &Budget { nodes, ..*budget }, is_finite, copies);
        let now = builder.build(formula)?;
        Ok(builder.finish(now))
    }

    /// Returns the variable of a copy of a promise.
    pub(super) fn promise(&self, promise: &Promise, copy: u32) -> Variable {
        debug_assert!(copy < self.copies);
        Variable::Helper(promise.number + copy)
    }

    /// Returns the variable of a copy of a memory.
    pub(super) fn memory(&self, memory: &Memory, copy: u32) -> Variable {
        Variable::Helper(memory.number + copy)
    }

    /// Returns the relation between the promises and memories before a position and those after it: one conjunct for each,
    /// inner operators first.
    pub(super) fn relations(&mut self) -> Result<Vec<Label>, TooLarge> {
        let promises = self.promises.iter().map(|promise| (promise.number, promise.local.clone()));
        let memories = self.memories.iter().map(|memory| (memory.number, memory.local.clone()));
        let mut all: Vec<(u32, Label)> = promises.chain(memories).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        let mut conjuncts = Vec::with_capacity(all.len());
        for (number, local) in all {
            let other = self.labels.variable(Variable::Helper(number + SHIFTED))?;
            conjuncts.push(self.labels.iff(&other, &local)?);
        }
        Ok(conjuncts)
    }

    /// Returns the condition on the memories before the first position.
    pub(crate) fn initial_memories(&mut self) -> Result<Label, TooLarge> {
        let all: Vec<_> = self.memories.iter().map(|memory| (self.memory(memory, 0), false)).collect();
        self.labels.cube(&all)
    }

    /// Returns the condition that nothing is promised, so that a finite word can end.
    pub(crate) fn no_promises(&mut self) -> Result<Label, TooLarge> {
        let all: Vec<_> = self.promises.iter().map(|promise| (self.promise(promise, 0), false)).collect();
        self.labels.cube(&all)
    }
}

struct Builder<'a> {
    formulae: &'a Formulae,
    labels: Labels,
    is_finite: bool,
    limit: usize,
    copies: u32,
    /// Number of helper variables.
    helpers: u32,
    /// Formulae at a number of positions ahead.
    known: FxHashMap<(Formula, u32), Value>,
    atoms: Vec<Atom>,
    promises: IndexMap<(u32, PromiseSubject), Promise, FxBuildHasher>,
    untils: IndexMap<Pair, (), FxBuildHasher>,
    postponed: Vec<Label>,
    memories: Vec<Memory>,
    sinces: FxHashMap<Pair, Value>,
    previous_values: FxHashMap<Label, Value>,
}

impl<'a> Builder<'a> {
    fn new(formulae: &'a Formulae, budget: &Budget, is_finite: bool, copies: u32) -> Builder<'a> {
        Builder {
            formulae,
            labels: Labels::new(budget),
            is_finite,
            limit: budget.formulae,
            copies,
            helpers: 0,
            known: FxHashMap::default(),
            atoms: Vec::new(),
            promises: IndexMap::default(),
            untils: IndexMap::default(),
            postponed: Vec::new(),
            memories: Vec::new(),
            sinces: FxHashMap::default(),
            previous_values: FxHashMap::default(),
        }
    }

    fn finish(self, formula: Label) -> Tableau {
        Tableau {
            labels: self.labels,
            formula,
            atoms: self.atoms,
            promises: self.promises.into_values().collect(),
            memories: self.memories,
            postponed: self.postponed,
            copies: self.copies,
        }
    }

    /// Builds the diagram of a formula at the first position, without recursion.
    fn build(&mut self, formula: Formula) -> Result<Label, TooLarge> {
        let mut open = vec![(formula, 0)];
        while let Some((part, ahead)) = open.last().copied() {
            if self.known.contains_key(&(part, ahead)) {
                open.pop();
                continue;
            }
            let missing: Vec<_> = self
                .dependencies(part, ahead)
                .into_iter()
                .filter(|need| !self.known.contains_key(need))
                .collect();
            if missing.is_empty() {
                let value = self.value(part, ahead)?;
                Budget::check("subformulae", self.known.len() + 1, self.limit)?;
                self.known.insert((part, ahead), value);
                open.pop();
            } else {
                // The existence of a position is ordered directly before the conditions on it.
                if self.is_finite && matches!(self.formulae.node(part), Node::Next(_)) {
                    self.promise(ahead + 1, PromiseSubject::Position)?;
                }
                // The order of variables follows the order of the formula.
                open.extend(missing.into_iter().rev());
                Budget::check("subformulae", open.len(), self.limit)?;
            }
        }
        Ok(self.known[&(formula, 0)].whole.clone())
    }

    /// Returns the formulae whose values are needed first.
    fn dependencies(&self, formula: Formula, ahead: u32) -> Vec<(Formula, u32)> {
        let node = self.formulae.node(formula);
        let parts = |ahead: u32| node.parts().iter().map(move |part| (*part, ahead));
        match node {
            Node::Next(_) => parts(ahead + 1).collect(),
            Node::Finally(_)
            | Node::Globally(_)
            | Node::Until(_)
            | Node::Release(_)
            | Node::WeakUntil(_)
            | Node::StrongRelease(_) => parts(0).collect(),
            Node::Yesterday(_) | Node::WeakYesterday(_) => parts(ahead.saturating_sub(1)).collect(),
            Node::Once(_) | Node::Historically(_) | Node::Since(_) | Node::Triggered(_) if ahead > 0 => {
                parts(ahead).chain([(formula, ahead - 1)]).collect()
            }
            _ => parts(ahead).collect(),
        }
    }

    fn value(&mut self, formula: Formula, ahead: u32) -> Result<Value, TooLarge> {
        let at = |part: &Formula, ahead: u32| self.known[&(*part, ahead)].clone();
        match self.formulae.node(formula) {
            Node::False => Ok(plain(self.labels.bottom())),
            Node::True => Ok(self.top()),
            Node::Atom(atom) => self.atom(*atom, ahead),
            Node::Not(a) => self.not(&at(a, ahead)),
            // From the last operand: its variables are the deepest in the diagrams.
            Node::And(parts) => {
                let mut parts = parts.iter().rev().map(|part| at(part, ahead));
                parts.try_fold(self.top(), |all, part| self.and(&part, &all))
            }
            Node::Or(parts) => {
                let mut parts = parts.iter().rev().map(|part| at(part, ahead));
                parts.try_fold(plain(self.labels.bottom()), |all, part| self.or(&part, &all))
            }
            Node::Next(a) => {
                let then = at(a, ahead + 1);
                if self.is_finite {
                    let position = self.promise(ahead + 1, PromiseSubject::Position)?;
                    self.and(&plain(position), &then)
                } else {
                    Ok(then)
                }
            }
            Node::Finally(a) => self.until(self.top(), at(a, 0), ahead),
            Node::Until([a, b]) => self.until(at(a, 0), at(b, 0), ahead),
            Node::StrongRelease([a, b]) => {
                let both = self.and(&at(a, 0), &at(b, 0))?;
                self.until(at(b, 0), both, ahead)
            }
            // The remaining future operators are negations of untils.
            Node::Globally(a) => {
                let goal = self.not(&at(a, 0))?;
                let until = self.until(self.top(), goal, ahead)?;
                self.not(&until)
            }
            Node::Release([a, b]) => {
                let until = self.until(self.not(&at(a, 0))?, self.not(&at(b, 0))?, ahead)?;
                self.not(&until)
            }
            Node::WeakUntil([a, b]) => {
                let goal = self.not(&self.or(&at(a, 0), &at(b, 0))?)?;
                let until = self.until(self.not(&at(b, 0))?, goal, ahead)?;
                self.not(&until)
            }
            Node::Yesterday(a) | Node::WeakYesterday(a) if ahead > 0 => Ok(at(a, ahead - 1)),
            Node::Yesterday(a) => self.previous(at(a, 0)),
            Node::WeakYesterday(a) => {
                let before = self.previous(self.not(&at(a, 0))?)?;
                self.not(&before)
            }
            Node::Once(a) => self.since(formula, self.top(), at(a, ahead), ahead, false),
            Node::Since([a, b]) => self.since(formula, at(a, ahead), at(b, ahead), ahead, false),
            Node::Historically(a) => {
                let goal = self.not(&at(a, ahead))?;
                self.since(formula, self.top(), goal, ahead, true)
            }
            Node::Triggered([a, b]) => {
                let (keep, goal) = (self.not(&at(a, ahead))?, self.not(&at(b, ahead))?);
                self.since(formula, keep, goal, ahead, true)
            }
        }
    }

    fn top(&self) -> Value {
        plain(self.labels.top())
    }

    fn not(&self, a: &Value) -> Result<Value, TooLarge> {
        self.combine(a, a, |labels, a, _| labels.not(a))
    }

    fn and(&self, a: &Value, b: &Value) -> Result<Value, TooLarge> {
        self.combine(a, b, Labels::and)
    }

    fn or(&self, a: &Value, b: &Value) -> Result<Value, TooLarge> {
        self.combine(a, b, Labels::or)
    }

    /// Combines both diagrams of two values.
    fn combine(
        &self,
        a: &Value,
        b: &Value,
        operation: impl Fn(&Labels, &Label, &Label) -> Result<Label, TooLarge>,
    ) -> Result<Value, TooLarge> {
        let whole = operation(&self.labels, &a.whole, &b.whole)?;
        let local =
            if self.copies > 1 { operation(&self.labels, &a.local, &b.local)? } else { whole.clone() };
        Ok(Value { whole, local })
    }

    /// Creates a variable with copies. Returns its number.
    fn helper(&mut self, copies: u32) -> Result<u32, TooLarge> {
        let number = self.helpers;
        self.helpers += copies;
        for copy in 0..copies {
            self.labels.variable(Variable::Helper(number + copy))?;
        }
        Ok(number)
    }

    fn atom(&mut self, atom: Atom, ahead: u32) -> Result<Value, TooLarge> {
        if !self.atoms.contains(&atom) {
            self.atoms.push(atom);
        }
        let now = self.labels.atom(atom)?;
        Ok(plain(if ahead == 0 { now } else { self.promise(ahead, PromiseSubject::Atom(atom))? }))
    }

    /// Creates the promise of something a number of positions ahead, with the promises at all positions in between. Returns
    /// its variable.
    fn promise(&mut self, ahead: u32, subject: PromiseSubject) -> Result<Label, TooLarge> {
        for ahead in 1..=ahead {
            if self.promises.contains_key(&(ahead, subject)) {
                continue;
            }
            let kept = match (ahead, subject) {
                (1, PromiseSubject::Atom(atom)) => self.labels.atom(atom)?,
                (1, PromiseSubject::Position) => self.labels.top(),
                // Self-referential: `until` sets it.
                (1, PromiseSubject::Until(_)) => self.labels.bottom(),
                _ => self.labels.variable(Variable::Helper(self.promises[&(ahead - 1, subject)].number))?,
            };
            let number = self.helper(self.copies)?;
            let is_until = matches!(subject, PromiseSubject::Until(_));
            self.promises.insert((ahead, subject), Promise { number, local: kept.clone(), kept, is_until });
        }
        self.labels.variable(Variable::Helper(self.promises[&(ahead, subject)].number))
    }

    /// Returns `keep U goal` a number of positions ahead; the operands are those of that position.
    fn until(&mut self, keep: Value, goal: Value, ahead: u32) -> Result<Value, TooLarge> {
        if goal.whole.is_true() || goal.whole.is_false() {
            return Ok(goal);
        }
        let keep = self.combine(&keep, &goal, Labels::minus)?;
        if keep.whole.is_false() && ahead == 0 {
            return Ok(goal);
        }
        let pair = (keep.whole.clone(), goal.whole.clone());
        let known = self.untils.contains_key(&pair);
        let at = self.untils.insert_full(pair, ()).0;
        let next = self.promise(1, PromiseSubject::Until(at))?;
        let kept = self.and(&keep, &plain(next))?;
        let mut now = self.or(&goal, &kept)?;
        if let Some(promise) = self.promises.get_mut(&(1, PromiseSubject::Until(at))) {
            let local = if self.copies > 1 { Some(Variable::Helper(promise.number + SHIFTED)) } else { None };
            if !known {
                (promise.kept, promise.local) = (now.whole.clone(), now.local.clone());
                self.postponed.push(kept.local);
            }
            if let Some(local) = local {
                now.local = self.labels.variable(local)?;
            }
        }
        if ahead == 0 { Ok(now) } else { self.promise(ahead, PromiseSubject::Until(at)).map(plain) }
    }

    /// Creates a memory of a value that may depend on its previous value. Returns its variables before and after a position.
    fn memory(
        &mut self,
        value: impl FnOnce(&Self, &Value) -> Result<Value, TooLarge>,
    ) -> Result<(Value, Label), TooLarge> {
        let number = self.helper(2)?;
        let before = plain(self.labels.variable(Variable::Helper(number))?);
        let Value { whole, local } = value(self, &before)?;
        self.memories.push(Memory { number, value: whole, local });
        Ok((before, self.labels.variable(Variable::Helper(number + SHIFTED))?))
    }

    /// Returns the value at the previous position; false at the first position.
    fn previous(&mut self, value: Value) -> Result<Value, TooLarge> {
        if value.whole.is_false() {
            return Ok(value);
        }
        if let Some(known) = self.previous_values.get(&value.whole) {
            return Ok(known.clone());
        }
        let (before, _) = self.memory(|_, _| Ok(value.clone()))?;
        self.previous_values.insert(value.whole, before.clone());
        Ok(before)
    }

    /// Returns `keep S goal` a number of positions ahead, or its negation; the operands are those of that position.
    fn since(
        &mut self,
        formula: Formula,
        keep: Value,
        goal: Value,
        ahead: u32,
        negated: bool,
    ) -> Result<Value, TooLarge> {
        let now = |this: &Self, before: &Value| this.or(&goal, &this.and(&keep, before)?);
        let signed = |this: &Self, value: &Value| if negated { this.not(value) } else { Ok(value.clone()) };
        if ahead > 0 {
            let before = signed(self, &self.known[&(formula, ahead - 1)])?;
            return signed(self, &now(self, &before)?);
        }
        let pair = (keep.whole.clone(), goal.whole.clone());
        let value = match self.sinces.get(&pair) {
            Some(known) => known.clone(),
            None => {
                let (before, after) = self.memory(now)?;
                let mut value = now(self, &before)?;
                if self.copies > 1 {
                    value.local = after;
                }
                self.sinces.insert(pair, value.clone());
                value
            }
        };
        signed(self, &value)
    }
}

/// Creates a value without until and since.
fn plain(label: Label) -> Value {
    Value { whole: label.clone(), local: label }
}
