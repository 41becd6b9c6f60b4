//! Product of a state space and an ω-automaton, for the search for accepting cycles.

use crate::label_evaluator::LabelEvaluator;
use crate::path::Path;
use crate::state_space::{FAULT, IDLE, StateSpace, Successors, TransitionInfo};
use invigil_model::Step;
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;

/// Maximum number of marks of a step.
pub const MAX_MARKS: u32 = u64::BITS;

/// A step would need more marks than [`MAX_MARKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyMarks {
    /// The number of marks needed.
    pub needed: u32,
}

impl fmt::Display for TooManyMarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the property and the fairness constraints need {} acceptance marks, but at most {MAX_MARKS} are supported; \
             use fewer fairness constraints or a smaller property",
            self.needed
        )
    }
}

impl std::error::Error for TooManyMarks {}

/// Synchronous product of a state space and an automaton that reads its executions.
///
/// A configuration consists of one of the space and the state of the automaton after reading it. If no action without a
/// fault is enabled, the execution stays there forever ([`IDLE`]) and the automaton keeps reading; such a step is fair,
/// hence in all acceptance sets of the space. A label that raises a fault turns the step into a [`FAULT`].
///
/// The space must not be a product itself: if its automaton were stuck, this would look like a deadlock of the subject.
///
/// ```
/// use invigil_explore::cycles::find_accepting_cycle;
/// use invigil_explore::product::Product;
/// use invigil_explore::{Limits, interpreted_model, label_evaluator};
/// use invigil_model::{Action, Expression, Domain, Model, OmegaAutomaton, OmegaEdge, ModelParts, Statement, Unary, Variable};
///
/// // A lamp that is switched on and off. Is it dark infinitely often?
/// let dark = Expression::unary(Unary::Not, Expression::read(0));
/// let switch = Action { effect: vec![Statement::assign(0, dark.clone())], ..Action::named("switch") };
/// let lamp = Variable::scalar("lamp", Domain::Boolean, 0);
/// let model = Model::new(ModelParts { variables: vec![lamp], actions: vec![switch], ..ModelParts::default() }).unwrap();
/// let edge = |label, marks| OmegaEdge { label, marks, target: 0 };
/// let omega = OmegaAutomaton {
///     name: "dark".into(),
///     initial: 0,
///     edges: vec![vec![edge(dark, 1), edge(Expression::read(0), 0)]],
///     sets: 1,
///     is_stutter_invariant: true,
/// };
/// let labels = label_evaluator::InterpretedLabels { model: &model, omega: &omega };
/// let product = Product::new(interpreted_model::InterpretedModel::new(&model, vec![]), labels, model.layout().spare).unwrap();
/// let result = find_accepting_cycle(&product, &Limits::default(), &());
/// let path = product.subject_path(&result.path.unwrap());
/// assert_eq!((path.states.len(), path.loop_back), (2, Some((0, Some(0)))));
/// ```
pub struct Product<S, R> {
    space: S,
    labels: R,
    /// The number of words of a configuration of the space.
    inner_width: usize,
    /// The bit position of the automaton's state in the last of these words, unless that has a word of its own.
    shift: Option<u32>,
    /// The acceptance sets of the space, which come first.
    sets: u32,
    /// The first evaluation error of a label.
    evaluation_error: OnceLock<String>,
}

/// Buffers of one call, reused by later calls.
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

    fn release(self) {
        SCRATCH.with_borrow_mut(|all| all.push(self));
    }
}

impl<S: StateSpace, R: LabelEvaluator> Product<S, R> {
    /// Creates the product. The `spare` highest bits of the last word of every configuration of `space` must be 0
    /// ([`Layout::spare`](invigil_model::layout::Layout)); if the automaton's states fit into them, configurations need
    /// no extra word.
    ///
    /// # Errors
    /// If steps would need more than [`MAX_MARKS`] marks.
    pub fn new(space: S, labels: R, spare: u32) -> Result<Product<S, R>, TooManyMarks> {
        let (sets, pairs) = (space.acceptance_set_count(), space.fairness_pair_count());
        let needed =
            sets.saturating_add(labels.acceptance_set_count()).saturating_add(pairs.saturating_mul(2));
        if needed > MAX_MARKS {
            return Err(TooManyMarks { needed });
        }
        let bits = (u32::BITS - labels.states().saturating_sub(1).leading_zeros()).max(1);
        let shift = (bits <= spare).then(|| u64::BITS - bits);
        Ok(Product {
            inner_width: space.width(),
            space,
            labels,
            shift,
            sets,
            evaluation_error: OnceLock::new(),
        })
    }

    /// Why a label could not be evaluated, if this happened. The behaviour of the automaton is unknown there, so a
    /// search without a finding proves nothing.
    pub fn evaluation_error(&self) -> Option<&str> {
        self.evaluation_error.get().map(String::as_str)
    }

    /// The state space of the subject.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// Splits a configuration into that of the space and the automaton's state.
    pub fn split(&self, state: &[u64]) -> (Box<[u64]>, u32) {
        let mut words = Vec::new();
        let automaton_state = self.split_into(state, &mut words);
        (words.into(), automaton_state)
    }

    /// Projects an execution of the product to the space. Idling becomes a lasso that stays.
    pub fn subject_path(&self, path: &Path) -> Path {
        let idle = path.actions.iter().position(|action| *action == IDLE);
        let last = path.states.len().saturating_sub(1);
        let (end, loop_back) = match (idle, path.loop_back) {
            (Some(index), _) => (index, Some((index, None))),
            (None, Some((_, None))) => (last, Some((last, None))),
            (None, loop_back) => (last, loop_back),
        };
        Path {
            states: path.states.iter().take(end + 1).map(|state| self.split(state).0).collect(),
            actions: path.actions[..end].to_vec(),
            loop_back,
            fault: path.fault,
        }
    }

    fn split_into(&self, state: &[u64], words: &mut Vec<u64>) -> u32 {
        words.clear();
        words.extend_from_slice(&state[..self.inner_width]);
        match (self.shift, words.last_mut()) {
            (Some(shift), Some(last)) => {
                let automaton_state = *last >> shift;
                *last &= !(u64::MAX << shift);
                automaton_state as u32
            }
            _ => state[self.inner_width] as u32,
        }
    }

    fn join_into(&self, words: &[u64], automaton_state: u32, state: &mut Vec<u64>) {
        state.clear();
        state.extend_from_slice(words);
        match (self.shift, state.last_mut()) {
            (Some(shift), Some(last)) => *last |= u64::from(automaton_state) << shift,
            _ => state.push(u64::from(automaton_state)),
        }
    }

    /// The marks of a step: acceptance sets of the space, those of the automaton, fairness pairs of the space.
    fn marks(&self, space_marks: u64, automaton_marks: u64) -> u64 {
        let up = |marks: u64, distance: u32| marks.checked_shl(distance).unwrap_or(0);
        let sets = space_marks & !up(u64::MAX, self.sets);
        let pairs = space_marks.checked_shr(self.sets).unwrap_or(0);
        sets | up(automaton_marks, self.sets) | up(pairs, self.sets + self.labels.acceptance_set_count())
    }

    /// Pushes a successor for each edge of the automaton that is enabled in a state on this step.
    fn push_edges(
        &self,
        automaton_state: u32,
        step: Step<'_>,
        (transition, marks): (TransitionInfo, u64),
        edges: &mut Vec<(u32, u64)>,
        state: &mut Vec<u64>,
        out: &mut Successors,
    ) {
        edges.clear();
        if let Err(fault) = self.labels.edges(automaton_state, step, edges) {
            // Only the first error is kept.
            let _ = self.evaluation_error.set(fault.to_string());
            self.join_into(step.target, 0, state);
            out.push(state, TransitionInfo { flags: transition.flags | FAULT, ..transition });
            out.marks.push(0);
            return;
        }
        for (target, edge_marks) in edges.iter() {
            self.join_into(step.target, *target, state);
            out.push(state, transition);
            out.marks.push(self.marks(marks, *edge_marks));
        }
    }
}

impl<S: StateSpace, R: LabelEvaluator> StateSpace for Product<S, R> {
    fn width(&self) -> usize {
        self.inner_width + usize::from(self.shift.is_none())
    }

    fn initial(&self, out: &mut Successors) {
        let mut scratch = Scratch::take();
        let Scratch { inner, edges, state, .. } = &mut scratch;
        inner.clear();
        self.space.initial(inner);
        for (words, transition) in inner.words.chunks_exact(self.inner_width).zip(&inner.transitions) {
            if transition.flags & FAULT != 0 {
                self.join_into(words, 0, state);
                out.push(state, *transition);
                out.marks.push(0);
                continue;
            }
            let first = out.len();
            self.push_edges(self.labels.initial(), Step::at(words), (*transition, 0), edges, state, out);
            self.deduplicate(first, out);
        }
        scratch.release();
    }

    fn successors(&self, product_state: &[u64], out: &mut Successors) {
        let mut scratch = Scratch::take();
        let Scratch { source, inner, edges, state } = &mut scratch;
        let automaton_state = self.split_into(product_state, source);
        inner.clear();
        self.space.successors(source, inner);
        if inner.transitions.iter().all(|transition| transition.flags & FAULT != 0) {
            let step = Step { source: Some(source), action: None, target: source };
            let idle = TransitionInfo { action: IDLE, flags: 0 };
            let all = !u64::MAX.checked_shl(self.sets).unwrap_or(0);
            self.push_edges(automaton_state, step, (idle, all), edges, state, out);
        }
        for (index, (words, transition)) in
            inner.words.chunks_exact(self.inner_width).zip(&inner.transitions).enumerate()
        {
            if transition.flags & FAULT != 0 {
                self.join_into(words, 0, state);
                out.push(state, *transition);
                out.marks.push(0);
                continue;
            }
            let marks = inner.marks.get(index).copied().unwrap_or(0);
            let step = Step { source: Some(source), action: Some(transition.action), target: words };
            self.push_edges(automaton_state, step, (*transition, marks), edges, state, out);
        }
        scratch.release();
    }

    fn acceptance_set_count(&self) -> u32 {
        self.sets + self.labels.acceptance_set_count()
    }

    fn fairness_pair_count(&self) -> u32 {
        self.space.fairness_pair_count()
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}

impl<S: StateSpace, R: LabelEvaluator> Product<S, R> {
    /// Removes duplicate initial configurations, to which several edges may lead.
    fn deduplicate(&self, first: usize, out: &mut Successors) {
        let width = self.width();
        let mut index = first + 1;
        while index < out.len() {
            if (first..index).any(|other| out.state(other, width) == out.state(index, width)) {
                out.words.drain(index * width..(index + 1) * width);
                out.transitions.remove(index);
                out.marks.remove(index);
            } else {
                index += 1;
            }
        }
    }
}
