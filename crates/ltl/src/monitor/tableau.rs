//! What a formula says now and what it leaves for later, as decision diagrams.
//!
//! Three kinds of variables are enough to say what a formula means at an instant: the *atoms*, *promises* about
//! later instants (an atom, or an until, so many instants ahead), and *memories* of the instant before (of a
//! since, or of what `Y` looks at). An until is its goal now, or what it keeps now and a promise of itself for
//! the next instant; everything else reduces to this, to its mirror image in the past, and to negation. Next
//! is pushed down to the atoms and untils. So equal meanings mostly are equal diagrams, in a formula of bounded
//! operators always.
//!
//! The diagrams live apart from the labels of automata: the order of the variables is made for the formula, and
//! all is thrown away together.

use crate::formula::{Atom, Formula, Formulae, Node};
use crate::label::{Label, Labels, Variable};
use crate::{Budget, TooLarge};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What a promise is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Promised {
    Atom(Atom),
    Until(usize),
    /// That there is an instant: words that end make a difference between `X !a` and `!X a`.
    Instant,
}

/// What a formula says at an instant.
#[derive(Clone)]
struct Value {
    /// In atoms, promises and memories.
    whole: Label,
    /// The same, but an until inside is its promise of the instant before, and a since is its memory of the
    /// instant after: small, however deep the formula is. Only where there are relations to make of it.
    local: Label,
}

/// A promise.
pub(super) struct Promise {
    /// Its variable; those of its copies follow.
    number: u32,
    /// What it stands for at the next instant: a function of the variables of that instant.
    pub(super) kept: Label,
    local: Label,
    /// Whether it may be put off for ever unless fairness forbids it.
    pub(super) is_until: bool,
}

/// A memory.
pub(super) struct Memory {
    /// Its variable; that of its copy follows.
    number: u32,
    /// What is remembered: a function of the variables of the instant.
    pub(super) value: Label,
    local: Label,
}

/// `keep U goal`, or its mirror image.
type Pair = (Label, Label);

/// A formula taken apart.
pub(crate) struct Tableau {
    /// Where all of this lives.
    pub(crate) labels: Labels,
    /// The formula at the first instant.
    pub(crate) formula: Label,
    /// The atoms in the order of their variables.
    pub(super) atoms: Vec<Atom>,
    pub(super) promises: Vec<Promise>,
    pub(super) memories: Vec<Memory>,
    /// For each until, where it holds now without its goal: what must not be so for ever.
    pub(super) waiting: Vec<Label>,
    copies: u32,
}

/// The copy of a promise that was made for the instant before the one it is made for otherwise, and that of a
/// memory of the instant after.
pub(super) const OTHER: u32 = 1;

impl Tableau {
    /// Takes a formula apart, for words that end or for those that do not.
    pub(crate) fn new(
        formulae: &Formulae,
        formula: Formula,
        budget: &Budget,
        ends: bool,
    ) -> Result<Tableau, TooLarge> {
        let unbounded = |part: &Formula| {
            use Node::{Finally, Globally, Release, StrongRelease, Until, WeakUntil};
            let node = formulae.node(*part);
            matches!(node, Finally(_) | Globally(_) | Until(_) | Release(_) | WeakUntil(_) | StrongRelease(_))
        };
        let unbounded = formulae.within(formula).iter().any(unbounded);
        // Relations between promises of one instant and of another are only needed where something is fair.
        let copies = if unbounded && !ends { 4 } else { 1 };
        // Where sets of promises are computed, diagrams are slow long before memory is short.
        let nodes = if unbounded { budget.nodes / 8 } else { budget.nodes };
        let mut builder = Builder::new(formulae, &Budget { nodes, ..*budget }, ends, copies);
        let now = builder.build(formula)?;
        Ok(builder.finish(now))
    }

    /// The variable of a promise, or one of its copies.
    pub(super) fn promise(&self, promise: &Promise, copy: u32) -> Variable {
        debug_assert!(copy < self.copies);
        Variable::Helper(promise.number + copy)
    }

    /// The variable of a memory, or its copy.
    pub(super) fn memory(&self, memory: &Memory, copy: u32) -> Variable {
        Variable::Helper(memory.number + copy)
    }

    /// What holds between the promises for and the memories before an instant, and those after it: one conjunct
    /// for each, inner ones first.
    pub(super) fn relations(&mut self) -> Result<Vec<Label>, TooLarge> {
        let promises = self.promises.iter().map(|promise| (promise.number, promise.local.clone()));
        let memories = self.memories.iter().map(|memory| (memory.number, memory.local.clone()));
        let mut all: Vec<(u32, Label)> = promises.chain(memories).collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        let mut found = Vec::with_capacity(all.len());
        for (number, local) in all {
            let other = self.labels.variable(Variable::Helper(number + OTHER))?;
            found.push(self.labels.same(&other, &local)?);
        }
        Ok(found)
    }

    /// That all memories are as before the first instant.
    pub(crate) fn nothing_remembered(&mut self) -> Result<Label, TooLarge> {
        let all: Vec<_> = self.memories.iter().map(|memory| (self.memory(memory, 0), false)).collect();
        self.labels.cube(&all)
    }

    /// That nothing is promised: the word ends.
    pub(crate) fn nothing_promised(&mut self) -> Result<Label, TooLarge> {
        let all: Vec<_> = self.promises.iter().map(|promise| (self.promise(promise, 0), false)).collect();
        self.labels.cube(&all)
    }
}

struct Builder<'a> {
    formulae: &'a Formulae,
    labels: Labels,
    ends: bool,
    limit: usize,
    copies: u32,
    /// How many helper variables there are.
    helpers: u32,
    /// What a formula says, so many instants ahead.
    known: FxHashMap<(Formula, u32), Value>,
    atoms: Vec<Atom>,
    promises: IndexMap<(u32, Promised), Promise, FxBuildHasher>,
    untils: IndexMap<Pair, (), FxBuildHasher>,
    waiting: Vec<Label>,
    memories: Vec<Memory>,
    sinces: FxHashMap<Pair, Value>,
    remembered: FxHashMap<Label, Value>,
}

impl<'a> Builder<'a> {
    fn new(formulae: &'a Formulae, budget: &Budget, ends: bool, copies: u32) -> Builder<'a> {
        Builder {
            formulae,
            labels: Labels::new(budget),
            ends,
            limit: budget.formulae,
            copies,
            helpers: 0,
            known: FxHashMap::default(),
            atoms: Vec::new(),
            promises: IndexMap::default(),
            untils: IndexMap::default(),
            waiting: Vec::new(),
            memories: Vec::new(),
            sinces: FxHashMap::default(),
            remembered: FxHashMap::default(),
        }
    }

    fn finish(self, formula: Label) -> Tableau {
        Tableau {
            labels: self.labels,
            formula,
            atoms: self.atoms,
            promises: self.promises.into_values().collect(),
            memories: self.memories,
            waiting: self.waiting,
            copies: self.copies,
        }
    }

    fn build(&mut self, formula: Formula) -> Result<Label, TooLarge> {
        let mut open = vec![(formula, 0)];
        while let Some((part, ahead)) = open.last().copied() {
            if self.known.contains_key(&(part, ahead)) {
                open.pop();
                continue;
            }
            let missing: Vec<_> =
                self.needs(part, ahead).into_iter().filter(|need| !self.known.contains_key(need)).collect();
            if missing.is_empty() {
                let value = self.value(part, ahead)?;
                Budget::allows("subformulae", self.known.len() + 1, self.limit)?;
                self.known.insert((part, ahead), value);
                open.pop();
            } else {
                // That there is an instant is best asked just before what holds there.
                if self.ends && matches!(self.formulae.node(part), Node::Next(_)) {
                    self.promise(ahead + 1, Promised::Instant)?;
                }
                // What stands first comes first, in the order of variables, too.
                open.extend(missing.into_iter().rev());
                Budget::allows("subformulae", open.len(), self.limit)?;
            }
        }
        Ok(self.known[&(formula, 0)].whole.clone())
    }

    /// What has to be known first.
    fn needs(&self, formula: Formula, ahead: u32) -> Vec<(Formula, u32)> {
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
            // From the last: what was made last lies deepest in the diagrams.
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
                if self.ends {
                    let instant = self.promise(ahead + 1, Promised::Instant)?;
                    self.and(&plain(instant), &then)
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
            // The others are the negations of untils.
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
            Node::Yesterday(a) => self.remember(at(a, 0)),
            Node::WeakYesterday(a) => {
                let before = self.remember(self.not(&at(a, 0))?)?;
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
        self.join(a, a, |labels, a, _| labels.not(a))
    }

    fn and(&self, a: &Value, b: &Value) -> Result<Value, TooLarge> {
        self.join(a, b, Labels::and)
    }

    fn or(&self, a: &Value, b: &Value) -> Result<Value, TooLarge> {
        self.join(a, b, Labels::or)
    }

    fn join(
        &self,
        a: &Value,
        b: &Value,
        how: impl Fn(&Labels, &Label, &Label) -> Result<Label, TooLarge>,
    ) -> Result<Value, TooLarge> {
        let whole = how(&self.labels, &a.whole, &b.whole)?;
        let local = if self.copies > 1 { how(&self.labels, &a.local, &b.local)? } else { whole.clone() };
        Ok(Value { whole, local })
    }

    /// A new variable and its copies.
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
        Ok(plain(if ahead == 0 { now } else { self.promise(ahead, Promised::Atom(atom))? }))
    }

    /// The promise of something, and of all that it becomes on the way.
    fn promise(&mut self, ahead: u32, what: Promised) -> Result<Label, TooLarge> {
        for ahead in 1..=ahead {
            if self.promises.contains_key(&(ahead, what)) {
                continue;
            }
            let kept = match (ahead, what) {
                (1, Promised::Atom(atom)) => self.labels.atom(atom)?,
                (1, Promised::Instant) => self.labels.top(),
                // It speaks of itself: told when the until is made.
                (1, Promised::Until(_)) => self.labels.bottom(),
                _ => self.labels.variable(Variable::Helper(self.promises[&(ahead - 1, what)].number))?,
            };
            let number = self.helper(self.copies)?;
            let is_until = matches!(what, Promised::Until(_));
            self.promises.insert((ahead, what), Promise { number, local: kept.clone(), kept, is_until });
        }
        self.labels.variable(Variable::Helper(self.promises[&(ahead, what)].number))
    }

    fn until(&mut self, keep: Value, goal: Value, ahead: u32) -> Result<Value, TooLarge> {
        if goal.whole.is_true() || goal.whole.is_false() {
            return Ok(goal);
        }
        let keep = self.join(&keep, &goal, Labels::minus)?;
        if keep.whole.is_false() && ahead == 0 {
            return Ok(goal);
        }
        let pair = (keep.whole.clone(), goal.whole.clone());
        let known = self.untils.contains_key(&pair);
        let at = self.untils.insert_full(pair, ()).0;
        let next = self.promise(1, Promised::Until(at))?;
        let kept = self.and(&keep, &plain(next))?;
        let mut now = self.or(&goal, &kept)?;
        if let Some(promise) = self.promises.get_mut(&(1, Promised::Until(at))) {
            let local = if self.copies > 1 { Some(Variable::Helper(promise.number + OTHER)) } else { None };
            if !known {
                (promise.kept, promise.local) = (now.whole.clone(), now.local.clone());
                self.waiting.push(kept.local);
            }
            if let Some(local) = local {
                now.local = self.labels.variable(local)?;
            }
        }
        if ahead == 0 { Ok(now) } else { self.promise(ahead, Promised::Until(at)).map(plain) }
    }

    /// A new memory of a value that may depend on what it was before. Its variable before and after.
    fn memory(
        &mut self,
        value: impl FnOnce(&Self, &Value) -> Result<Value, TooLarge>,
    ) -> Result<(Value, Label), TooLarge> {
        let number = self.helper(2)?;
        let before = plain(self.labels.variable(Variable::Helper(number))?);
        let Value { whole, local } = value(self, &before)?;
        self.memories.push(Memory { number, value: whole, local });
        Ok((before, self.labels.variable(Variable::Helper(number + OTHER))?))
    }

    /// What a value was at the instant before; false at the first one.
    fn remember(&mut self, what: Value) -> Result<Value, TooLarge> {
        if what.whole.is_false() {
            return Ok(what);
        }
        if let Some(known) = self.remembered.get(&what.whole) {
            return Ok(known.clone());
        }
        let (before, _) = self.memory(|_, _| Ok(what.clone()))?;
        self.remembered.insert(what.whole, before.clone());
        Ok(before)
    }

    /// `keep S goal` so many instants ahead, or its negation; the values are those of that instant.
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

/// A value in which there is no until and no since.
fn plain(label: Label) -> Value {
    Value { whole: label.clone(), local: label }
}
