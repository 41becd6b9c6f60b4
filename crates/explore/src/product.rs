//! A subject and an automaton that reads its executions, as one space: what a search for accepting cycles looks at.

use crate::path::Path;
use crate::reading::Reading;
use crate::space::{FAULT, IDLE, Space, Successors, Taken};
use invigil_model::Step;
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;

/// The most marks that a step can have.
pub const MAX_MARKS: u32 = u64::BITS;

/// More marks are needed than a step can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyMarks {
    /// How many.
    pub needed: u32,
}

impl fmt::Display for TooManyMarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the property and the demands for fairness need {} acceptance marks, and there can be {MAX_MARKS}: \
             demand fairness of fewer, or take a smaller property",
            self.needed
        )
    }
}

impl std::error::Error for TooManyMarks {}

/// A space and an automaton that reads its executions.
///
/// A configuration is one of the space with the state of the automaton after reading it. Where nothing can happen
/// in the space, or nothing that does not go wrong, the execution stays there for ever ([`IDLE`]) and the automaton
/// goes on reading; nobody is treated unfairly then, so such a step is in all acceptance sets of the space. A label
/// that goes wrong makes the action that it reads go wrong ([`FAULT`]).
///
/// The space must not be a product itself: one whose automaton is stuck would be taken for a subject that is.
///
/// ```
/// use invigil_explore::cycles::cycle;
/// use invigil_explore::product::Product;
/// use invigil_explore::{Limits, plain, reading};
/// use invigil_model::{Action, Expression, Kind, Model, Omega, OmegaEdge, Parts, Statement, Unary, Variable};
///
/// // A lamp that is switched on and off. Is it dark now and then, for ever?
/// let dark = Expression::unary(Unary::Not, Expression::read(0));
/// let switch = Action { effect: vec![Statement::assign(0, dark.clone())], ..Action::named("switch") };
/// let lamp = Variable::scalar("lamp", Kind::Boolean, 0);
/// let model = Model::new(Parts { variables: vec![lamp], actions: vec![switch], ..Parts::default() }).unwrap();
/// let edge = |label, marks| OmegaEdge { label, marks, target: 0 };
/// let omega = Omega {
///     name: "dark".into(),
///     initial: 0,
///     edges: vec![vec![edge(dark, 1), edge(Expression::read(0), 0)]],
///     sets: 1,
///     stutters: true,
/// };
/// let reading = reading::Plain { model: &model, omega: &omega };
/// let product = Product::new(plain::Plain::new(&model, vec![]), reading, model.layout().spare).unwrap();
/// let found = cycle(&product, &Limits::default(), &());
/// let path = product.subject_path(&found.path.unwrap());
/// assert_eq!((path.states.len(), path.back), (2, Some((0, Some(0)))));
/// ```
pub struct Product<S, R> {
    space: S,
    reading: R,
    /// The words of a configuration of the space.
    inner: usize,
    /// Where in the last word of these the automaton's state lies, if it does not have a word of its own.
    shift: Option<u32>,
    /// The acceptance sets of the space, which come first.
    sets: u32,
    /// The first label that went wrong.
    wrong: OnceLock<String>,
}

/// Memory for one call, used again and again.
#[derive(Default)]
struct Scratch {
    source: Vec<u64>,
    inner: Successors,
    edges: Vec<(u32, u64)>,
    state: Vec<u64>,
}

thread_local! {
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
}

impl Scratch {
    fn take() -> Scratch {
        SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    fn give_back(self) {
        SCRATCH.with_borrow_mut(|all| all.push(self));
    }
}

impl<S: Space, R: Reading> Product<S, R> {
    /// The product. `spare` highest bits of the last word of every configuration of `space` are always 0
    /// ([`Layout::spare`](invigil_model::layout::Layout)): if the states of the automaton fit there, configurations
    /// need no more words.
    ///
    /// # Errors
    /// If steps would need too many marks.
    pub fn new(space: S, reading: R, spare: u32) -> Result<Product<S, R>, TooManyMarks> {
        let (sets, pairs) = (space.sets(), space.pairs());
        let needed = sets.saturating_add(reading.sets()).saturating_add(pairs.saturating_mul(2));
        if needed > MAX_MARKS {
            return Err(TooManyMarks { needed });
        }
        let bits = (u32::BITS - reading.states().saturating_sub(1).leading_zeros()).max(1);
        let shift = (bits <= spare).then(|| u64::BITS - bits);
        Ok(Product { inner: space.width(), space, reading, shift, sets, wrong: OnceLock::new() })
    }

    /// Why a label could not be evaluated, if that happened. What the automaton would have done there is not known: that
    /// nothing was found means nothing then.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.get().map(String::as_str)
    }

    /// The subject.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// The part of a configuration that is the space's, and the state of the automaton.
    pub fn split(&self, state: &[u64]) -> (Box<[u64]>, u32) {
        let mut words = Vec::new();
        let at = self.take_apart(state, &mut words);
        (words.into(), at)
    }

    /// An execution of the product as one of the space: where it idles, it ends by staying.
    pub fn subject_path(&self, path: &Path) -> Path {
        let idle = path.actions.iter().position(|action| *action == IDLE);
        let last = path.states.len().saturating_sub(1);
        let (end, back) = match (idle, path.back) {
            (Some(at), _) => (at, Some((at, None))),
            (None, Some((_, None))) => (last, Some((last, None))),
            (None, back) => (last, back),
        };
        Path {
            states: path.states.iter().take(end + 1).map(|state| self.split(state).0).collect(),
            actions: path.actions[..end].to_vec(),
            back,
            fault: path.fault,
        }
    }

    fn take_apart(&self, state: &[u64], words: &mut Vec<u64>) -> u32 {
        words.clear();
        words.extend_from_slice(&state[..self.inner]);
        match (self.shift, words.last_mut()) {
            (Some(shift), Some(last)) => {
                let at = *last >> shift;
                *last &= !(u64::MAX << shift);
                at as u32
            }
            _ => state[self.inner] as u32,
        }
    }

    fn put_together(&self, words: &[u64], at: u32, state: &mut Vec<u64>) {
        state.clear();
        state.extend_from_slice(words);
        match (self.shift, state.last_mut()) {
            (Some(shift), Some(last)) => *last |= u64::from(at) << shift,
            _ => state.push(u64::from(at)),
        }
    }

    /// The marks of a step: the sets of the space, those of the automaton, the pairs of the space.
    fn marks(&self, inner: u64, read: u64) -> u64 {
        let up = |marks: u64, by: u32| marks.checked_shl(by).unwrap_or(0);
        let sets = inner & !up(u64::MAX, self.sets);
        let pairs = inner.checked_shr(self.sets).unwrap_or(0);
        sets | up(read, self.sets) | up(pairs, self.sets + self.reading.sets())
    }

    /// Adds where the automaton gets from `at` on a step.
    fn read(
        &self,
        at: u32,
        step: Step<'_>,
        (taken, marks): (Taken, u64),
        edges: &mut Vec<(u32, u64)>,
        state: &mut Vec<u64>,
        out: &mut Successors,
    ) {
        edges.clear();
        if let Err(fault) = self.reading.edges(at, step, edges) {
            // The first is told.
            let _ = self.wrong.set(fault.to_string());
            self.put_together(step.target, 0, state);
            out.push(state, Taken { flags: taken.flags | FAULT, ..taken });
            out.marks.push(0);
            return;
        }
        for (target, read) in edges.iter() {
            self.put_together(step.target, *target, state);
            out.push(state, taken);
            out.marks.push(self.marks(marks, *read));
        }
    }
}

impl<S: Space, R: Reading> Space for Product<S, R> {
    fn width(&self) -> usize {
        self.inner + usize::from(self.shift.is_none())
    }

    fn initial(&self, out: &mut Successors) {
        let mut scratch = Scratch::take();
        let Scratch { inner, edges, state, .. } = &mut scratch;
        inner.clear();
        self.space.initial(inner);
        for (words, taken) in inner.words.chunks_exact(self.inner).zip(&inner.taken) {
            if taken.flags & FAULT != 0 {
                self.put_together(words, 0, state);
                out.push(state, *taken);
                out.marks.push(0);
                continue;
            }
            let first = out.len();
            self.read(self.reading.initial(), Step::at(words), (*taken, 0), edges, state, out);
            self.keep_each_once(first, out);
        }
        scratch.give_back();
    }

    fn successors(&self, of: &[u64], out: &mut Successors) {
        let mut scratch = Scratch::take();
        let Scratch { source, inner, edges, state } = &mut scratch;
        let at = self.take_apart(of, source);
        inner.clear();
        self.space.successors(source, inner);
        if inner.taken.iter().all(|taken| taken.flags & FAULT != 0) {
            let step = Step { source: Some(source), action: None, target: source };
            let idle = Taken { action: IDLE, flags: 0 };
            let all = !u64::MAX.checked_shl(self.sets).unwrap_or(0);
            self.read(at, step, (idle, all), edges, state, out);
        }
        for (number, (words, taken)) in inner.words.chunks_exact(self.inner).zip(&inner.taken).enumerate() {
            if taken.flags & FAULT != 0 {
                self.put_together(words, 0, state);
                out.push(state, *taken);
                out.marks.push(0);
                continue;
            }
            let marks = inner.marks.get(number).copied().unwrap_or(0);
            let step = Step { source: Some(source), action: Some(taken.action), target: words };
            self.read(at, step, (*taken, marks), edges, state, out);
        }
        scratch.give_back();
    }

    fn sets(&self) -> u32 {
        self.sets + self.reading.sets()
    }

    fn pairs(&self) -> u32 {
        self.space.pairs()
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}

impl<S: Space, R: Reading> Product<S, R> {
    /// Initial configurations come once each, though several edges may lead to the same.
    fn keep_each_once(&self, first: usize, out: &mut Successors) {
        let width = self.width();
        let mut at = first + 1;
        while at < out.len() {
            if (first..at).any(|other| out.state(other, width) == out.state(at, width)) {
                out.words.drain(at * width..(at + 1) * width);
                out.taken.remove(at);
                out.marks.remove(at);
            } else {
                at += 1;
            }
        }
    }
}
