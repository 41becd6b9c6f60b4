//! The semantics of the debugger.

use crate::Limits;
use crate::breakpoint_search::{
    Breakpoint, BreakpointFinder, BreakpointSearchResult, Execution, ReductionKey,
};
use crate::debugger::{DebugAction, DebugConfig, History};
use invigil_semantics::{Language, Semantics};
use std::marker::PhantomData;

/// A subject under a debugger with a history of type `H`.
///
/// | action | offered | effect |
/// | --- | --- | --- |
/// | [`DebugAction::Step`] | for each enabled action of the current configuration | no current configuration; the outcomes are the options |
/// | [`DebugAction::Select`] | for each option | this option is current and recorded; no options |
/// | [`DebugAction::Jump`] | for each entry of the history | its configuration is current; no options |
/// | [`DebugAction::Run`] | always | the end of a shortest execution to a breakpoint is current, the execution is recorded; no options |
///
/// Every action leads to at most one configuration. A step without outcomes blocks, and so does a run that reaches no
/// breakpoint. Every configuration has options or a current configuration, unless the subject has no initial
/// configuration.
pub struct Debugger<'a, S: Semantics, H> {
    /// The debugged subject.
    pub subject: &'a S,
    /// The breakpoints of a run.
    pub breakpoints: Vec<Breakpoint<'a, S>>,
    /// Identifies configurations that a run explores only once.
    pub reduction: Option<Box<ReductionKey<'a, S::Config>>>,
    /// Limits of a run. With a time limit, the debugger's behaviour depends on more than its configuration.
    pub limits: Limits,
    history: PhantomData<fn() -> H>,
}

/// A configuration of the debugger of `S`.
type At<S, H> = DebugConfig<<S as Language>::Config, <S as Language>::Action, H>;

impl<'a, S: Semantics, H: History<S::Config, S::Action>> Debugger<'a, S, H> {
    /// A debugger without breakpoints.
    pub fn new(subject: &'a S) -> Debugger<'a, S, H> {
        let limits = Limits::default();
        Debugger { subject, breakpoints: Vec::new(), reduction: None, limits, history: PhantomData }
    }

    /// The initial configuration: the options are the subject's initial configurations.
    pub fn initial_config(&self) -> At<S, H> {
        let options = self.subject.initial().into_iter().collect();
        DebugConfig { current: None, history: H::default(), options, from: None }
    }

    /// The effect of an action; none if it blocks.
    pub fn act(&self, at: &At<S, H>, act: &DebugAction<S::Config, S::Action>) -> Option<At<S, H>> {
        match act {
            DebugAction::Step(action) => {
                let current = at.current.as_ref()?;
                let options: Vec<_> = self.subject.execute(current, action).into_iter().collect();
                let from = Some((current.clone(), action.clone()));
                let history = at.history.clone();
                (!options.is_empty()).then_some(DebugConfig { current: None, history, options, from })
            }
            DebugAction::Select(config) => {
                let chosen = Execution::at(at.options.iter().find(|option| *option == config)?.clone());
                Some(self.follow(at, &chosen))
            }
            DebugAction::Jump(entry) => {
                let config = at.history.config(*entry)?.clone();
                let mut history = at.history.clone();
                history.jump(*entry);
                Some(at_config(config, history))
            }
            DebugAction::Run => {
                let found = self.find(at, &self.finder());
                found.witnesses.first().map(|witness| self.follow(at, &witness.execution))
            }
        }
    }

    /// The breakpoint search of a run.
    pub fn finder(&self) -> BreakpointFinder<'_, S> {
        BreakpointFinder {
            reduction: self.reduction.as_deref(),
            limits: self.limits,
            ..BreakpointFinder::new(self.subject)
        }
    }

    /// Searches from the current configuration or, without one, from the options.
    pub fn find(
        &self,
        at: &At<S, H>,
        finder: &BreakpointFinder<'_, S>,
    ) -> BreakpointSearchResult<S::Config, S::Action> {
        match &at.current {
            Some(current) => finder.run(std::slice::from_ref(current), &self.breakpoints),
            None => finder.run(&at.options, &self.breakpoints),
        }
    }

    /// Moves to the end of an execution found from here, and records all of it.
    pub fn follow(&self, at: &At<S, H>, execution: &Execution<S::Config, S::Action>) -> At<S, H> {
        let mut history = at.history.clone();
        if at.current.is_none() {
            history.enter(at.from.as_ref().map(|(_, action)| action.clone()), execution.start.clone());
        }
        for (action, config) in &execution.steps {
            history.enter(Some(action.clone()), config.clone());
        }
        at_config(execution.last().clone(), history)
    }
}

fn at_config<C, A, H>(config: C, history: H) -> DebugConfig<C, A, H> {
    DebugConfig { current: Some(config), history, options: Vec::new(), from: None }
}

impl<S: Semantics, H: History<S::Config, S::Action>> Language for Debugger<'_, S, H> {
    type Config = At<S, H>;
    type Action = DebugAction<S::Config, S::Action>;
}

impl<S: Semantics, H: History<S::Config, S::Action>> Semantics for Debugger<'_, S, H> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        [self.initial_config()]
    }

    fn actions(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let mut acts = Vec::new();
        if let Some(current) = &at.current {
            acts.extend(self.subject.actions(current).into_iter().map(DebugAction::Step));
        }
        acts.extend(at.options.iter().cloned().map(DebugAction::Select));
        acts.extend(at.history.entries().map(DebugAction::Jump));
        acts.push(DebugAction::Run);
        acts
    }

    fn execute(&self, at: &Self::Config, act: &Self::Action) -> impl IntoIterator<Item = Self::Config> {
        self.act(at, act)
    }
}
