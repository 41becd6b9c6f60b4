//! Weak simulation (definition 3.1.2.3), checked step by step.

use invigil_semantics::Semantics;
use std::collections::{HashSet, VecDeque};

/// Two semantics, a relation between their configurations, and the observable part of their actions.
pub(crate) struct Simulation<'a, A: Semantics, B: Semantics, L> {
    /// The semantics whose steps have to be matched.
    pub(crate) by: &'a A,
    /// The semantics that has to match them.
    pub(crate) of: &'a B,
    pub(crate) related: &'a dyn Fn(&A::Config, &B::Config) -> bool,
    pub(crate) seen_by: &'a dyn Fn(&A::Action) -> Option<L>,
    pub(crate) seen_of: &'a dyn Fn(&B::Action) -> Option<L>,
}

/// A pair of configurations.
pub(crate) type Pair<A, B> =
    (<A as invigil_semantics::Language>::Config, <B as invigil_semantics::Language>::Config);

/// Maximum length of a weak step.
const PATIENCE: usize = 2000;

impl<A: Semantics, B: Semantics, L: Eq> Simulation<'_, A, B, L> {
    /// The pairs that the steps from `pair` lead to. Fails if one step has no match.
    pub(crate) fn match_all(&self, (a, b): &Pair<A, B>) -> Result<Vec<Pair<A, B>>, String>
    where
        A::Action: std::fmt::Debug,
    {
        if !(self.related)(a, b) {
            return Err("the configurations are not related".into());
        }
        let mut pairs = vec![];
        for (action, to) in self.by.steps(a) {
            let matched = self.weak_step(b, (self.seen_by)(&action).as_ref(), &to);
            pairs.push((to, matched.ok_or_else(|| format!("no match for {action:?}"))?));
        }
        Ok(pairs)
    }

    /// A configuration related to `wanted` that `from` can reach: by unobservable steps alone, or with just
    /// this observable one among them, by a shortest path.
    fn weak_step(&self, from: &B::Config, label: Option<&L>, wanted: &A::Config) -> Option<B::Config> {
        let mut queue = VecDeque::from([(from.clone(), label.is_none())]);
        let mut known: HashSet<_> = queue.iter().cloned().collect();
        while let Some((at, done)) = queue.pop_front() {
            if done && (self.related)(wanted, &at) {
                return Some(at);
            }
            if known.len() > PATIENCE {
                return None;
            }
            for (action, to) in self.of.steps(&at) {
                let next = match (self.seen_of)(&action) {
                    None => (to, done),
                    Some(seen) if !done && Some(&seen) == label => (to, true),
                    Some(_) => continue,
                };
                if known.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Checks at most `limit` pairs that are reachable from `start`, and returns them.
    pub(crate) fn explore(&self, start: Pair<A, B>, limit: usize) -> Result<Vec<Pair<A, B>>, String>
    where
        A::Action: std::fmt::Debug,
    {
        let mut known: HashSet<Pair<A, B>> = HashSet::from([start.clone()]);
        let mut checked = vec![];
        let mut queue = VecDeque::from([start]);
        while let Some(pair) = queue.pop_front() {
            for next in self.match_all(&pair)? {
                if known.len() < limit && known.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
            checked.push(pair);
        }
        Ok(checked)
    }
}
