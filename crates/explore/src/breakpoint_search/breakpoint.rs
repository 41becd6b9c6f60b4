//! Breakpoints of all kinds.

use crate::breakpoint_search::Automaton;
use crate::breakpoint_search::readers::{AutomatonReader, ConditionReader, PropertyReader, StepReader};
use invigil_semantics::{Accepting, Dependent, Evaluate, Language, Semantics, StepRef};
use std::sync::Arc;

/// A property to search for in the executions of subjects of type `S`.
///
/// ```
/// use invigil_explore::breakpoint_search::{BreakpointFinder, Breakpoint};
/// use invigil_model::{Action, Binary, Expression, Domain, Model, ModelParts, Statement, Variable};
/// use invigil_semantics::Semantics;
///
/// let n = Variable::scalar("n", Domain::Integer { low: 0, high: 9 }, 0);
/// let sum = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
/// let up = Action { effect: vec![Statement::assign(0, sum)], ..Action::named("up") };
/// let model = Model::new(ModelParts { variables: vec![n], actions: vec![up], ..ModelParts::default() }).unwrap();
///
/// let five = Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(5));
/// let starts: Vec<_> = model.initial().into_iter().collect();
/// let found = BreakpointFinder::new(&model).run(&starts, &[Breakpoint::condition(five)]);
/// assert_eq!(found.witnesses[0].execution.len(), 5);
/// ```
pub struct Breakpoint<'a, S: Language> {
    reader: Box<dyn StepReader<S> + 'a>,
    omega_reader: Option<Box<dyn OmegaReader<S> + 'a>>,
}

/// An automaton on infinite executions.
pub(crate) trait OmegaReader<S: Language>: Send + Sync {
    /// The initial state.
    fn initial(&self) -> u32;

    /// The bits of all acceptance sets.
    fn all_marks(&self) -> u64;

    /// Appends the edges of `at` that are enabled on a step, as pairs of target and marks.
    fn edges(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: u32,
        out: &mut Vec<(u32, u64)>,
    ) -> Result<(), String>;
}

struct LabelledAutomaton<E>(Arc<Automaton<E>>);

impl<S: Evaluate> OmegaReader<S> for LabelledAutomaton<S::Expr>
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
        let mut result = Ok(());
        for edge in self.0.edges.get(at as usize).into_iter().flatten() {
            match edge.label.as_ref().map(|label| subject.evaluate(label, step)) {
                None | Some(Ok(true)) => out.push((edge.target, edge.marks)),
                Some(Ok(false)) => {}
                Some(Err(error)) => result = Err(error.to_string()),
            }
        }
        result
    }
}

impl<'a, S: Language> Breakpoint<'a, S> {
    /// Stops at the first step that satisfies a condition, including the virtual initial step: the property
    /// [`Breakpoint`](invigil_semantics::Breakpoint). A step on which the condition cannot be evaluated is a hit, too.
    pub fn condition(condition: S::Expr) -> Breakpoint<'a, S>
    where
        S: Evaluate,
        S::Expr: Send + Sync + 'a,
    {
        Breakpoint::finite(ConditionReader(condition))
    }

    /// Stops where an automaton accepts; see [`Automaton`] and [`pattern`](crate::breakpoint_search::pattern).
    pub fn automaton(automaton: Automaton<S::Expr>) -> Breakpoint<'a, S>
    where
        S: Evaluate,
        S::Expr: Send + Sync + 'a,
    {
        let automaton = Arc::new(automaton);
        let omega_reader = automaton.sets.is_some().then(|| {
            let reader: Box<dyn OmegaReader<S> + 'a> = Box::new(LabelledAutomaton(Arc::clone(&automaton)));
            reader
        });
        Breakpoint { reader: Box::new(AutomatonReader::new(automaton)), omega_reader }
    }

    /// Stops after the first step on which a property accepts; for a property automaton, on a violation.
    pub fn property<P>(property: P) -> Breakpoint<'a, S>
    where
        P: Dependent<S> + Accepting + Send + Sync + 'a,
        P::Config: Send,
    {
        Breakpoint::finite(PropertyReader::new(property))
    }

    /// Stops at a configuration without enabled actions.
    pub fn deadlock() -> Breakpoint<'a, S>
    where
        S: Semantics,
    {
        Breakpoint::finite(DeadlockReader)
    }

    pub(crate) fn finite(reader: impl StepReader<S> + 'a) -> Breakpoint<'a, S> {
        Breakpoint { reader: Box::new(reader), omega_reader: None }
    }

    /// Whether infinite executions are searched as well.
    pub fn is_infinite(&self) -> bool {
        self.omega_reader.is_some()
    }

    /// The evaluation error that caused the hit, if a condition could not be evaluated on the step.
    pub fn fault(&self, subject: &S, step: StepRef<'_, S>) -> Option<String> {
        self.reader.fault(subject, step)
    }

    pub(crate) fn omega_reader(&self) -> Option<&dyn OmegaReader<S>> {
        self.omega_reader.as_deref().map(|reader| reader as &dyn OmegaReader<S>)
    }
}

struct DeadlockReader;

impl<S: Semantics> StepReader<S> for DeadlockReader {
    fn start(&self, _: &S) -> u32 {
        0
    }

    fn read(&self, subject: &S, step: StepRef<'_, S>, _: u32) -> u32 {
        u32::from(subject.is_deadlocked(step.target))
    }

    fn is_hit(&self, at: u32) -> bool {
        at == 1
    }

    fn cannot_hit(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, _: &S, _: StepRef<'_, S>) -> Option<String> {
        None
    }
}

/// Several breakpoints as one property. It accepts as soon as one is hit; it blocks from then on, or when none can be
/// hit any more.
pub(crate) struct BreakpointSet<'s, 'a, S: Language> {
    pub(crate) breakpoints: &'s [Breakpoint<'a, S>],
    /// Whether hits of the initial configuration are ignored.
    pub(crate) skips_initial_hits: bool,
}

impl<S: Language> BreakpointSet<'_, '_, S> {
    /// The indices of the breakpoints that are hit.
    pub(crate) fn hits(&self, at: &[u32]) -> Vec<usize> {
        let each = self.breakpoints.iter().zip(at).enumerate();
        each.filter(|(_, (breakpoint, at))| breakpoint.reader.is_hit(**at)).map(|(index, _)| index).collect()
    }
}

impl<S: Language> Language for BreakpointSet<'_, '_, S> {
    type Config = Box<[u32]>;
    type Action = ();
}

impl<S: Language> Dependent<S> for BreakpointSet<'_, '_, S> {
    fn initial(&self, subject: &S) -> impl IntoIterator<Item = Box<[u32]>> {
        [self.breakpoints.iter().map(|breakpoint| breakpoint.reader.start(subject)).collect()]
    }

    fn actions(&self, _: &S, _: StepRef<'_, S>, at: &Box<[u32]>) -> impl IntoIterator<Item = ()> {
        let cannot_hit =
            self.breakpoints.iter().zip(at.iter()).all(|(breakpoint, at)| breakpoint.reader.cannot_hit(*at));
        (!cannot_hit && !self.is_accepting(at)).then_some(())
    }

    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Box<[u32]>,
        (): &(),
    ) -> impl IntoIterator<Item = Box<[u32]>> {
        let read = |(breakpoint, at): (&Breakpoint<'_, S>, &u32)| {
            let next = breakpoint.reader.read(subject, step, *at);
            let is_ignored =
                self.skips_initial_hits && step.source.is_none() && breakpoint.reader.is_hit(next);
            if is_ignored { breakpoint.reader.start(subject) } else { next }
        };
        [self.breakpoints.iter().zip(at.iter()).map(read).collect::<Box<[u32]>>()]
    }
}

impl<S: Language> Accepting for BreakpointSet<'_, '_, S> {
    fn is_accepting(&self, at: &Box<[u32]>) -> bool {
        self.breakpoints.iter().zip(at.iter()).any(|(breakpoint, at)| breakpoint.reader.is_hit(*at))
    }
}
