//! Breakpoints of all kinds.

use crate::finder::Automaton;
use crate::finder::reading::{OfAutomaton, OfCondition, OfProperty, Reads};
use invigil_semantics::{Accepting, Dependent, Evaluate, Language, Semantics, StepRef};
use std::sync::Arc;

/// Something to look for in the executions of subjects of type `S`.
///
/// ```
/// use invigil_explore::finder::{Finder, Stop};
/// use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
/// use invigil_semantics::Semantics;
///
/// let n = Variable::scalar("n", Kind::Integer { low: 0, high: 9 }, 0);
/// let sum = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
/// let up = Action { effect: vec![Statement::assign(0, sum)], ..Action::named("up") };
/// let model = Model::new(Parts { variables: vec![n], actions: vec![up], ..Parts::default() }).unwrap();
///
/// let five = Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(5));
/// let starts: Vec<_> = model.initial().into_iter().collect();
/// let found = Finder::new(&model).run(&starts, &[Stop::when(five)]);
/// assert_eq!(found.witnesses[0].execution.len(), 5);
/// ```
pub struct Stop<'a, S: Language> {
    reads: Box<dyn Reads<S> + 'a>,
    infinite: Option<Box<dyn Edges<S> + 'a>>,
}

/// The edges of an automaton on infinite executions.
pub(crate) trait Edges<S: Language>: Send + Sync {
    /// Where runs begin.
    fn initial(&self) -> u32;

    /// The bits of all acceptance sets.
    fn all_marks(&self) -> u64;

    /// Adds the edges of `at` that may be taken on a step: where each leads, and its marks.
    fn edges(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: u32,
        out: &mut Vec<(u32, u64)>,
    ) -> Result<(), String>;
}

struct Labelled<E>(Arc<Automaton<E>>);

impl<S: Evaluate> Edges<S> for Labelled<S::Expr>
where
    S::Expr: Send + Sync,
{
    fn initial(&self) -> u32 {
        self.0.initial
    }

    fn all_marks(&self) -> u64 {
        self.0.all_marks()
    }

    fn edges(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: u32,
        out: &mut Vec<(u32, u64)>,
    ) -> Result<(), String> {
        let mut failed = Ok(());
        for edge in self.0.edges.get(at as usize).into_iter().flatten() {
            match edge.label.as_ref().map(|label| subject.evaluate(label, step)) {
                None | Some(Ok(true)) => out.push((edge.target, edge.marks)),
                Some(Ok(false)) => {}
                Some(Err(error)) => failed = Err(error.to_string()),
            }
        }
        failed
    }
}

impl<'a, S: Language> Stop<'a, S> {
    /// The first step on which a condition is true, the virtual initial step included: the property
    /// [`Breakpoint`](invigil_semantics::Breakpoint). A step on which it cannot be evaluated is one, too.
    pub fn when(condition: S::Expr) -> Stop<'a, S>
    where
        S: Evaluate,
        S::Expr: Send + Sync + 'a,
    {
        Stop::finite(OfCondition(condition))
    }

    /// What an automaton accepts; see [`Automaton`] and [`pattern`](crate::finder::pattern).
    pub fn accepted(automaton: Automaton<S::Expr>) -> Stop<'a, S>
    where
        S: Evaluate,
        S::Expr: Send + Sync + 'a,
    {
        let automaton = Arc::new(automaton);
        let infinite = automaton.sets.is_some().then(|| {
            let edges: Box<dyn Edges<S> + 'a> = Box::new(Labelled(Arc::clone(&automaton)));
            edges
        });
        Stop { reads: Box::new(OfAutomaton::new(automaton)), infinite }
    }

    /// The first step after which any property accepts: for a property automaton, a violation.
    pub fn property<P>(property: P) -> Stop<'a, S>
    where
        P: Dependent<S> + Accepting + Send + Sync + 'a,
        P::Config: Send,
    {
        Stop::finite(OfProperty::new(property))
    }

    /// A configuration in which nothing can happen.
    pub fn stuck() -> Stop<'a, S>
    where
        S: Semantics,
    {
        Stop::finite(Stuck)
    }

    pub(crate) fn finite(reads: impl Reads<S> + 'a) -> Stop<'a, S> {
        Stop { reads: Box::new(reads), infinite: None }
    }

    /// Whether infinite executions are looked for, too.
    pub fn is_infinite(&self) -> bool {
        self.infinite.is_some()
    }

    /// Why it stopped, if that is because some condition cannot be evaluated on the step.
    pub fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String> {
        self.reads.fault(subject, step)
    }

    pub(crate) fn infinite(&self) -> Option<&dyn Edges<S>> {
        self.infinite.as_deref().map(|edges| edges as &dyn Edges<S>)
    }
}

struct Stuck;

impl<S: Semantics> Reads<S> for Stuck {
    fn start(&self, _: &S) -> u32 {
        0
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, _: u32) -> u32 {
        u32::from(subject.is_deadlocked(step.target))
    }

    fn is_hit(&self, at: u32) -> bool {
        at == 1
    }

    fn is_hopeless(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, _: &S, _: StepRef<'_, S>) -> Option<String> {
        None
    }
}

/// Several breakpoints as one property: it accepts as soon as one is hit, and blocks from then on, or when none can
/// be hit any more.
pub(crate) struct Stops<'s, 'a, S: Language> {
    pub(crate) stops: &'s [Stop<'a, S>],
    /// Whether a breakpoint that is hit by the start itself waits for the next time.
    pub(crate) passes_starts: bool,
}

impl<S: Language> Stops<'_, '_, S> {
    /// Which are hit.
    pub(crate) fn hits(&self, at: &[u32]) -> Vec<usize> {
        let each = self.stops.iter().zip(at).enumerate();
        each.filter(|(_, (stop, at))| stop.reads.is_hit(**at)).map(|(index, _)| index).collect()
    }
}

impl<S: Language> Language for Stops<'_, '_, S> {
    type Config = Box<[u32]>;
    type Action = ();
}

impl<S: Language> Dependent<S> for Stops<'_, '_, S> {
    fn initial(&self, subject: &S) -> impl IntoIterator<Item = Box<[u32]>> {
        [self.stops.iter().map(|stop| stop.reads.start(subject)).collect()]
    }

    fn actions(&self, _: &S, _: StepRef<'_, S>, at: &Box<[u32]>) -> impl IntoIterator<Item = ()> {
        let is_hopeless = self.stops.iter().zip(at.iter()).all(|(stop, at)| stop.reads.is_hopeless(*at));
        (!is_hopeless && !self.is_accepting(at)).then_some(())
    }

    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Box<[u32]>,
        (): &(),
    ) -> impl IntoIterator<Item = Box<[u32]>> {
        let read = |(stop, at): (&Stop<'_, S>, &u32)| {
            let next = stop.reads.read(subject, step, *at);
            let waits = self.passes_starts && step.source.is_none() && stop.reads.is_hit(next);
            if waits { stop.reads.start(subject) } else { next }
        };
        [self.stops.iter().zip(at.iter()).map(read).collect::<Box<[u32]>>()]
    }
}

impl<S: Language> Accepting for Stops<'_, '_, S> {
    fn is_accepting(&self, at: &Box<[u32]>) -> bool {
        self.stops.iter().zip(at.iter()).any(|(stop, at)| stop.reads.is_hit(*at))
    }
}
