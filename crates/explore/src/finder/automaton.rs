//! Automata that read steps: what regular expressions and formulae become.

use invigil_model::{Expression, Omega};

/// An automaton whose labels are expressions of a subject.
///
/// It reads the steps of an execution, the virtual initial step included if it `reads_start`. As a finite automaton
/// it finds an execution as soon as a run is in an accepting state. With acceptance `sets` it finds infinite
/// executions, too: those on which some run takes edges of each set for ever, where executions that end stay in
/// their last configuration. States from which everything is accepted are then the accepting ones, so that what
/// is certain after finitely many steps is found there.
///
/// ```
/// use invigil_explore::finder::Automaton;
/// use invigil_model::{Expression, Omega, OmegaEdge};
/// let edge = |label, marks, target| OmegaEdge { label, marks, target };
/// // `F x`: once x was seen, all is well.
/// let eventually = Omega {
///     name: "F x".into(),
///     initial: 0,
///     edges: vec![
///         vec![edge(Expression::Constant(1), 0, 0), edge(Expression::read(0), 0, 1)],
///         vec![edge(Expression::Constant(1), 1, 1)],
///     ],
///     sets: 1,
///     stutters: true,
/// };
/// assert_eq!(Automaton::from(eventually).accepting, [false, true]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton<E> {
    /// Where runs begin.
    pub initial: u32,
    /// The edges of each state.
    pub edges: Vec<Vec<Edge<E>>>,
    /// Which states end a search.
    pub accepting: Vec<bool>,
    /// The number of acceptance sets, at most 64, if infinite executions are looked for; with none of them every
    /// infinite run will do.
    pub sets: Option<u32>,
    /// Whether the virtual initial step, which shows the first configuration, is read.
    pub reads_start: bool,
}

/// An edge of an [`Automaton`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<E> {
    /// The steps on which it may be taken; none for all of them.
    pub label: Option<E>,
    /// The acceptance sets that it is in, one bit for each.
    pub marks: u64,
    /// Where it leads.
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

/// Looks for the executions that the automaton accepts.
impl From<Omega> for Automaton<Expression> {
    fn from(omega: Omega) -> Automaton<Expression> {
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
        // A state that can stay for ever on anything, in every set, accepts anything.
        let stays = |(state, edges): (u32, &Vec<Edge<Expression>>)| {
            edges.iter().any(|edge| edge.label.is_none() && edge.target == state && edge.marks & all == all)
        };
        automaton.accepting = (0..).zip(&automaton.edges).map(stays).collect();
        automaton
    }
}
