//! Numbered configurations and sets of them.

use super::observation::Observation;
use indexmap::IndexSet;
use invigil_model::{ActionId, Model, State};
use std::rc::Rc;

/// A set of configurations: their numbers in ascending order.
pub(crate) type ConfigSet = Rc<[u32]>;

/// The actions of a configuration and their targets.
pub(crate) type Steps = Rc<[(ActionId, u32)]>;

/// More configurations than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyConfigurations;

/// The known configurations and the steps from each, computed on demand.
#[derive(Debug)]
pub(crate) struct Tracker<'m> {
    pub(crate) model: &'m Model,
    is_hidden: Vec<bool>,
    configs: IndexSet<Box<[u64]>>,
    steps: Vec<Option<Steps>>,
}

impl<'m> Tracker<'m> {
    pub(crate) fn new(model: &'m Model, is_hidden: Vec<bool>) -> Tracker<'m> {
        Tracker { model, is_hidden, configs: IndexSet::new(), steps: Vec::new() }
    }

    /// The number of known configurations.
    pub(crate) fn len(&self) -> usize {
        self.configs.len()
    }

    /// The initial configurations. One whose initialization raises a fault is left out.
    pub(crate) fn initial_configs(&mut self) -> ConfigSet {
        let states = self.model.initial_states();
        let mut set: Vec<u32> = states.iter().filter_map(|state| self.add(state)).collect();
        set.sort_unstable();
        set.into()
    }

    fn add(&mut self, state: &State) -> Option<u32> {
        if state.fault.is_some() {
            return None;
        }
        let existing = self.configs.get_index_of(&*state.words);
        let at = existing.unwrap_or_else(|| self.configs.insert_full(state.words.clone()).0);
        u32::try_from(at).ok()
    }

    /// The words of a configuration.
    pub(crate) fn words(&self, config: u32) -> &[u64] {
        self.configs.get_index(config as usize).map_or(&[], |words| words)
    }

    /// The steps of a configuration. A step that raises a fault is omitted.
    pub(crate) fn steps(&mut self, config: u32) -> Steps {
        let at = config as usize;
        if let Some(Some(steps)) = self.steps.get(at) {
            return Rc::clone(steps);
        }
        let words: Box<[u64]> = self.words(config).into();
        let mut found = Vec::new();
        for action in self.model.enabled(&words) {
            for target in self.model.outcomes(&words, action) {
                found.extend(self.add(&target).map(|target| (action, target)));
            }
        }
        let steps: Steps = found.into();
        self.steps.resize(self.steps.len().max(at + 1), None);
        self.steps[at] = Some(Rc::clone(&steps));
        steps
    }

    /// Whether an action may happen without a record.
    pub(crate) fn is_hidden(&self, action: ActionId) -> bool {
        self.is_hidden[action as usize]
    }

    /// The configurations reachable from a set by at most `max_hidden_steps` hidden steps in a row. Fails if there are
    /// more than `max_configurations`.
    pub(crate) fn closure(
        &mut self,
        set: &ConfigSet,
        max_hidden_steps: Option<u32>,
        max_configurations: usize,
    ) -> Result<ConfigSet, TooManyConfigurations> {
        if !self.is_hidden.contains(&true) {
            return if set.len() > max_configurations {
                Err(TooManyConfigurations)
            } else {
                Ok(Rc::clone(set))
            };
        }
        let mut reachable: IndexSet<u32> = set.iter().copied().collect();
        let (mut from, mut depth) = (0, 0);
        while from < reachable.len()
            && max_hidden_steps.is_none_or(|max_hidden_steps| depth < max_hidden_steps)
        {
            let level = reachable.len();
            for at in from..level {
                for (action, target) in &*self.steps(reachable[at]) {
                    if self.is_hidden(*action) {
                        reachable.insert(*target);
                    }
                }
                if reachable.len() > max_configurations {
                    return Err(TooManyConfigurations);
                }
            }
            (from, depth) = (level, depth + 1);
        }
        reachable.sort_unstable();
        Ok(reachable.into_iter().collect())
    }

    /// The possible configurations after a record, if `closed` are those before it.
    pub(crate) fn after(&mut self, closed: &[u32], observation: &Observation) -> ConfigSet {
        let mut set = Vec::new();
        for config in closed {
            if let Some(constraints) = &observation.stay {
                let words = self.words(*config);
                if constraints.iter().all(|constraint| constraint.holds(self.model, words, words)) {
                    set.push(*config);
                }
            }
            if observation.candidates.is_empty() {
                continue;
            }
            for (action, target) in &*self.steps(*config) {
                let candidate =
                    observation.candidates.binary_search_by_key(action, |candidate| candidate.action);
                let Ok(at) = candidate else { continue };
                if observation.candidates[at].holds(self.model, self.words(*config), self.words(*target)) {
                    set.push(*target);
                }
            }
        }
        set.sort_unstable();
        set.dedup();
        set.into()
    }

    /// Removes all configurations that are not in `sets`, and renumbers the sets.
    pub(crate) fn keep_only<'s>(&mut self, sets: impl Iterator<Item = &'s mut ConfigSet>) {
        let mut sets: Vec<&mut ConfigSet> = sets.collect();
        let mut used: Vec<u32> = sets.iter().flat_map(|set| set.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        // The order is kept, so that sets stay ascending.
        self.configs = used.iter().map(|config| self.words(*config).into()).collect();
        self.steps.clear();
        for set in &mut sets {
            let renumbered = set.iter().map(|old| used.partition_point(|config| config < old) as u32);
            **set = renumbered.collect();
        }
    }
}
