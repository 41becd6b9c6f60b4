//! Automata that read steps, to which regular expressions and formulae are compiled.

use invigil_model::{Expression, OmegaAutomaton};

/// An automaton whose labels are expressions of a subject.
///
/// It reads the steps of an execution, including the virtual initial step if `reads_start`. As a finite automaton, it
/// accepts an execution as soon as a run is in an accepting state. With acceptance `sets`, it also accepts infinite
/// executions: those with a run that takes edges of each set infinitely often, where a finite execution stays in its
/// last configuration. The accepting states are then the universal ones, so an acceptance that is certain after
/// finitely many steps is found there.
///
/// ```
/// use invigil_explore::breakpoint_search::Automaton;
/// use invigil_model::{Expression, OmegaAutomaton, OmegaEdge};
/// let edge = |label, marks, target| OmegaEdge { label, marks, target };
/// // `F x`: once `x` has held, every continuation is accepted.
/// let eventually = OmegaAutomaton {
///     name: "F x".into(),
///     initial: 0,
///     edges: vec![
///         vec![edge(Expression::Constant(1), 0, 0), edge(Expression::read(0), 0, 1)],
///         vec![edge(Expression::Constant(1), 1, 1)],
///     ],
///     sets: 1,
///     is_stutter_invariant: true,
/// };
/// assert_eq!(Automaton::from(eventually).accepting, [false, true]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton<E> {
    /// The initial state.
    pub initial: u32,
    /// The edges of each state.
    pub edges: Vec<Vec<Edge<E>>>,
    /// The states that end a search.
    pub accepting: Vec<bool>,
    /// The number of acceptance sets, at most 64, if infinite executions are searched. With zero sets, every infinite
    /// run is accepted.
    pub sets: Option<u32>,
    /// Whether the virtual initial step, which shows the first configuration, is read.
    pub reads_start: bool,
}

/// An edge of an [`Automaton`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<E> {
    /// The condition on the step; none if it is always true.
    pub label: Option<E>,
    /// The acceptance sets that contain the edge, one bit each.
    pub marks: u64,
    /// The target state.
    pub target: u32,
}

impl<E> Automaton<E> {
    /// The bits of all acceptance sets.
    pub(crate) fn all_marks(&self) -> u64 {
        match self.sets {
            None | Some(0) => 0,
            Some(sets) => u64::MAX >> (64 - sets.min(64)),
        }
    }
}

/// Searches for the executions that the automaton accepts.
impl From<OmegaAutomaton> for Automaton<Expression> {
    fn from(omega: OmegaAutomaton) -> Automaton<Expression> {
        let label = |label| if matches!(label, Expression::Constant(1..)) { None } else { Some(label) };
        let edge = |edge: invigil_model::OmegaEdge| Edge {
            label: label(edge.label),
            marks: edge.marks,
            target: edge.target,
        };
        let edges = omega.edges.into_iter().map(|edges| edges.into_iter().map(edge).collect()).collect();
        let mut automaton = Automaton {
            initial: omega.initial,
            edges,
            accepting: Vec::new(),
            sets: Some(omega.sets),
            reads_start: true,
        };
        let all = automaton.all_marks();
        // A state with an unconditional self-loop in every set accepts everything.
        let stays = |(state, edges): (u32, &Vec<Edge<Expression>>)| {
            edges.iter().any(|edge| edge.label.is_none() && edge.target == state && edge.marks & all == all)
        };
        automaton.accepting = (0..).zip(&automaton.edges).map(stays).collect();
        automaton
    }
}
