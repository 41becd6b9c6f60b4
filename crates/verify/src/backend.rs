//! The state space that a search runs on: the model, compiled if possible, under its scheduler and filters.

use crate::task::{SearchStrategy, VerifyTask};
use invigil_compile::CompiledModel;
use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::label_evaluator::{InterpretedLabels, LabelEvaluator};
use invigil_explore::partial_order::{NotReducible, PartialOrderReduction, Reduced};
use invigil_explore::scheduled::{Actor, Scheduled, SchedulerConfig};
use invigil_explore::{
    ProgressListener, SearchOptions, SearchResult, StateSpace, bfs, bitstate, dfs, hash_compaction,
    random_walk, swarm,
};
use invigil_model::{Expression, Model, OmegaAutomaton};

/// The expressions that a search evaluates, and those that a reduction must preserve for it.
#[derive(Default)]
pub(crate) struct SearchTarget<'a> {
    /// Predicates on configurations or steps that must not be reached.
    pub(crate) bad: Vec<Expression>,
    /// The expressions that the claims read, which a reduction must preserve.
    pub(crate) read_by_claims: Vec<&'a Expression>,
    /// Why partial-order reduction is not possible for this search, if so.
    pub(crate) reduction_obstacle: Option<&'static str>,
}

/// A model prepared for a search.
pub(crate) struct Backend<'a> {
    model: &'a Model,
    engine: Engine<'a>,
    /// Why the model is interpreted and not compiled.
    pub(crate) interpretation_reason: Option<String>,
    actors: Vec<Actor>,
    /// None if not requested; else the reduction or why it is not possible.
    reduction: Option<Result<PartialOrderReduction, &'static str>>,
}

enum Engine<'a> {
    Compiled(Box<CompiledModel>),
    /// Fallback if there is no code generator for this machine, or if the model is too large for it.
    Interpreted(InterpretedModel<'a>),
}

impl<'a> Backend<'a> {
    pub(crate) fn new(task: &VerifyTask<'a>, target: &SearchTarget<'_>) -> Backend<'a> {
        let (engine, interpretation_reason) = match CompiledModel::new(task.model, &target.bad) {
            Ok(compiled) => (Engine::Compiled(Box::new(compiled)), None),
            Err(why) => {
                (Engine::Interpreted(InterpretedModel::new(task.model, target.bad.clone())), Some(why.0))
            }
        };
        let reduction = task.reduce.then(|| match target.reduction_obstacle {
            Some(why) => Err(why),
            None if task.scheduling != SchedulerConfig::default() => Err(NotReducible::Scheduled.reason()),
            None => PartialOrderReduction::of(task.model, &target.read_by_claims, &[])
                .map_err(NotReducible::reason),
        });
        Backend { model: task.model, engine, interpretation_reason, actors: task.actors(), reduction }
    }

    /// Calls `work` with the state space.
    pub(crate) fn with_space<T>(
        &self,
        task: &VerifyTask<'_>,
        work: impl FnOnce(&Self, &dyn StateSpace) -> T,
    ) -> T {
        let base: &dyn StateSpace = match &self.engine {
            Engine::Compiled(compiled) => &**compiled,
            Engine::Interpreted(interpreted) => interpreted,
        };
        match &self.reduction {
            Some(Ok(reduction)) => work(self, &Reduced::new(base, reduction)),
            _ if task.scheduling == SchedulerConfig::default() => work(self, base),
            _ => work(self, &Scheduled::new(base, &self.actors, &task.scheduling)),
        }
    }

    /// Whether the space is reduced or why not; none if not requested.
    pub(crate) fn reduction(&self) -> Option<Result<(), &'static str>> {
        self.reduction.as_ref().map(|reduction| reduction.as_ref().map(|_| ()).map_err(|why| *why))
    }

    /// The label evaluator of an automaton.
    pub(crate) fn labels<'b>(&'b self, omega: &'b OmegaAutomaton) -> Box<dyn LabelEvaluator + 'b> {
        match &self.engine {
            Engine::Compiled(compiled) => match compiled.labels(omega) {
                Ok(compiled) => Box::new(compiled),
                Err(_) => Box::new(InterpretedLabels { model: self.model, omega }),
            },
            Engine::Interpreted(_) => Box::new(InterpretedLabels { model: self.model, omega }),
        }
    }
}

impl SearchStrategy {
    /// Searches any state space with this strategy.
    pub fn search(
        self,
        space: &impl StateSpace,
        search: &SearchOptions,
        listener: &impl ProgressListener,
    ) -> SearchResult {
        match self {
            SearchStrategy::BreadthFirst => bfs(space, search, listener),
            SearchStrategy::DepthFirst => dfs(space, search, listener),
            SearchStrategy::RandomWalk(walks) => random_walk(space, &walks, search, listener),
            SearchStrategy::HashCompaction { fingerprint, bytes } => {
                hash_compaction(space, fingerprint, bytes, search, listener)
            }
            SearchStrategy::Bitstate(bits) => bitstate(space, &bits, search, listener),
            SearchStrategy::Swarm(searches) => swarm(space, &searches, search, listener),
        }
    }
}
