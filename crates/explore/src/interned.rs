//! Adapter that makes any subject a state space by numbering its configurations on demand.

use crate::state_space::{StateSpace, Successors, TransitionInfo};
use indexmap::IndexSet;
use invigil_semantics::Semantics;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A subject with numbered configurations and actions. A configuration is represented by its number, one word.
///
/// ```
/// use invigil_explore::interned::Interned;
/// use invigil_explore::{StateSpace, Successors};
/// # use invigil_semantics::{Language, Semantics};
/// # struct Coin;
/// # impl Language for Coin { type Config = char; type Action = &'static str; }
/// # impl Semantics for Coin {
/// #     fn initial(&self) -> impl IntoIterator<Item = char> { ['?'] }
/// #     fn actions(&self, at: &char) -> impl IntoIterator<Item = &'static str> { (*at == '?').then_some("toss") }
/// #     fn execute(&self, _: &char, _: &&'static str) -> impl IntoIterator<Item = char> { ['H', 'T'] }
/// # }
/// let coin = Interned::new(Coin, |_| false);
/// let mut out = Successors::default();
/// coin.successors(&[0], &mut out);
/// // The initial configuration was not requested yet, so it has no number.
/// assert!(out.is_empty());
/// coin.initial(&mut out);
/// coin.successors(&[0], &mut out);
/// assert_eq!(coin.config(out.state(2, 1)[0]), Some('T'));
/// ```
pub struct Interned<S: Semantics, B> {
    subject: S,
    is_bad: B,
    numbering: Mutex<Numbering<S::Config, S::Action>>,
}

struct Numbering<C, A> {
    configs: IndexSet<C>,
    /// Actions need not be hashable, so they are searched linearly. There are few different ones.
    actions: Vec<A>,
}

impl<S: Semantics, B: Fn(&S::Config) -> bool> Interned<S, B> {
    /// Wraps `subject`; `is_bad` selects the configurations that must not be reached.
    pub fn new(subject: S, is_bad: B) -> Interned<S, B> {
        let numbering = Mutex::new(Numbering { configs: IndexSet::new(), actions: Vec::new() });
        Interned { subject, is_bad, numbering }
    }

    fn numbering(&self) -> MutexGuard<'_, Numbering<S::Config, S::Action>> {
        self.numbering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The configuration with a number.
    pub fn config(&self, number: u64) -> Option<S::Config> {
        usize::try_from(number).ok().and_then(|at| self.numbering().configs.get_index(at).cloned())
    }

    /// The action with a number.
    pub fn action(&self, number: u32) -> Option<S::Action> {
        self.numbering().actions.get(number as usize).cloned()
    }

    /// The wrapped subject.
    pub fn subject(&self) -> &S {
        &self.subject
    }

    fn add(&self, config: S::Config, action: u32, out: &mut Successors) {
        let flags = if (self.is_bad)(&config) { crate::state_space::BAD } else { 0 };
        let number = self.numbering().configs.insert_full(config).0 as u64;
        out.push(&[number], TransitionInfo { action, flags });
    }

    fn action_number(&self, action: S::Action) -> u32 {
        let mut numbering = self.numbering();
        let at = numbering.actions.iter().position(|interned| *interned == action).unwrap_or_else(|| {
            numbering.actions.push(action);
            numbering.actions.len() - 1
        });
        at as u32
    }
}

impl<S: Semantics + Sync, B: Fn(&S::Config) -> bool + Sync> StateSpace for Interned<S, B>
where
    S::Config: Send,
    S::Action: Send,
{
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        for config in self.subject.initial() {
            self.add(config, 0, out);
        }
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let Some(config) = self.config(state[0]) else { return };
        for (action, target) in self.subject.steps(&config) {
            let action = self.action_number(action);
            self.add(target, action, out);
        }
    }
}
