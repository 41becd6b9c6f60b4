//! The debugger's own semantics.

use crate::Limits;
use crate::debugger::{Act, Debugging, History};
use crate::finder::{Execution, Finder, Found, Reduction, Stop};
use invigil_semantics::{Language, Semantics};
use std::marker::PhantomData;

/// A subject under a debugger with a history of kind `H`.
///
/// | action | is offered | leads to |
/// | --- | --- | --- |
/// | [`Act::Step`] | for each action enabled in the current configuration | nothing current, its outcomes as options |
/// | [`Act::Select`] | for each option | that option current and remembered, no options |
/// | [`Act::Jump`] | for each place of the history | what is there current, no options |
/// | [`Act::Run`] | always | the end of the shortest way to a breakpoint current, the way remembered, no options |
///
/// Every action leads to at most one configuration. A step without outcomes blocks, and so does a run that finds
/// nothing; no configuration is without both options and a current one, unless the subject cannot start.
pub struct Debugger<'a, S: Semantics, H> {
    /// What is debugged.
    pub subject: &'a S,
    /// What a run looks for.
    pub stops: Vec<Stop<'a, S>>,
    /// What is alike for a run.
    pub reduction: Option<Box<Reduction<'a, S::Config>>>,
    /// How much a run may take. A limit of time makes what the debugger does depend on more than its configuration.
    pub limits: Limits,
    history: PhantomData<fn() -> H>,
}

/// A configuration of a debugger of `S`.
type At<S, H> = Debugging<<S as Language>::Config, <S as Language>::Action, H>;

impl<'a, S: Semantics, H: History<S::Config, S::Action>> Debugger<'a, S, H> {
    /// Debugs a subject, without breakpoints as yet.
    pub fn new(subject: &'a S) -> Debugger<'a, S, H> {
        let limits = Limits::default();
        Debugger { subject, stops: Vec::new(), reduction: None, limits, history: PhantomData }
    }

    /// The one configuration in which it starts: nothing is selected of what the subject may start in.
    pub fn begin(&self) -> At<S, H> {
        let options = self.subject.initial().into_iter().collect();
        Debugging { current: None, history: H::default(), options, from: None }
    }

    /// What an action leads to; none if it blocks.
    pub fn act(&self, at: &At<S, H>, act: &Act<S::Config, S::Action>) -> Option<At<S, H>> {
        match act {
            Act::Step(action) => {
                let current = at.current.as_ref()?;
                let options: Vec<_> = self.subject.execute(current, action).into_iter().collect();
                let from = Some((current.clone(), action.clone()));
                let history = at.history.clone();
                (!options.is_empty()).then_some(Debugging { current: None, history, options, from })
            }
            Act::Select(config) => {
                let chosen = Execution::at(at.options.iter().find(|option| *option == config)?.clone());
                Some(self.follow(at, &chosen))
            }
            Act::Jump(place) => {
                let config = at.history.config(*place)?.clone();
                let mut history = at.history.clone();
                history.jump(*place);
                Some(standing(config, history))
            }
            Act::Run => {
                let found = self.find(at, &self.finder());
                found.witnesses.first().map(|witness| self.follow(at, &witness.execution))
            }
        }
    }

    /// The search that a run makes.
    pub fn finder(&self) -> Finder<'_, S> {
        Finder { reduction: self.reduction.as_deref(), limits: self.limits, ..Finder::new(self.subject) }
    }

    /// What a search finds from where one is.
    pub fn find(&self, at: &At<S, H>, finder: &Finder<'_, S>) -> Found<S::Config, S::Action> {
        match &at.current {
            Some(current) => finder.run(std::slice::from_ref(current), &self.stops),
            None => finder.run(&at.options, &self.stops),
        }
    }

    /// Goes where an execution leads that was found from here: all of it is remembered.
    pub fn follow(&self, at: &At<S, H>, execution: &Execution<S::Config, S::Action>) -> At<S, H> {
        let mut history = at.history.clone();
        if at.current.is_none() {
            history.enter(at.from.as_ref().map(|(_, action)| action.clone()), execution.start.clone());
        }
        for (action, config) in &execution.steps {
            history.enter(Some(action.clone()), config.clone());
        }
        standing(execution.last().clone(), history)
    }
}

fn standing<C, A, H>(config: C, history: H) -> Debugging<C, A, H> {
    Debugging { current: Some(config), history, options: Vec::new(), from: None }
}

impl<S: Semantics, H: History<S::Config, S::Action>> Language for Debugger<'_, S, H> {
    type Config = At<S, H>;
    type Action = Act<S::Config, S::Action>;
}

impl<S: Semantics, H: History<S::Config, S::Action>> Semantics for Debugger<'_, S, H> {
    fn initial(&self) -> impl IntoIterator<Item = Self::Config> {
        [self.begin()]
    }

    fn actions(&self, at: &Self::Config) -> impl IntoIterator<Item = Self::Action> {
        let mut acts = Vec::new();
        if let Some(current) = &at.current {
            acts.extend(self.subject.actions(current).into_iter().map(Act::Step));
        }
        acts.extend(at.options.iter().cloned().map(Act::Select));
        acts.extend(at.history.places().map(Act::Jump));
        acts.push(Act::Run);
        acts
    }

    fn execute(&self, at: &Self::Config, act: &Self::Action) -> impl IntoIterator<Item = Self::Config> {
        self.act(at, act)
    }
}
