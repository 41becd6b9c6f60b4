//! Plans: costs of each subformula on each component, bottom-up.

use super::Goal;
use crate::system::{ComponentId, System};
use invigil_ltl::formula::{Node, Proposition};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::{Formula, Logic, TooLarge};
use rustc_hash::FxHashMap;

/// Subformula, component, and whether only Boolean operators surround it.
pub(super) type Key = (Formula, ComponentId, bool);

/// Groups of operands that form a monitor of their own, with its component.
pub(super) type Groups = Vec<(ComponentId, Vec<Formula>)>;

/// Estimated cost of a plan.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    messages: u32,
    delay: u32,
    /// Estimated number of states of the automaton that the subformula is part of.
    own: u64,
    /// The same for all monitors that it refers to.
    others: u64,
    /// Whether one of those exceeds `MAX_STATES`.
    large: bool,
}

/// Maximum estimated number of states of an automaton.
const MAX_STATES: u64 = 1 << 10;

/// Maximum number of pairs of subformulae and components.
const MAX_PLANS: usize = 1 << 20;

impl Weight {
    const ZERO: Weight = Weight { messages: 0, delay: 0, own: 1, others: 0, large: false };

    fn with(self, other: Weight) -> Weight {
        Weight {
            messages: self.messages.saturating_add(other.messages),
            delay: self.delay.max(other.delay),
            own: self.own.saturating_mul(other.own),
            others: self.others.saturating_add(other.others),
            large: self.large || other.large,
        }
    }

    /// Returns whether an automaton exceeds `MAX_STATES`.
    fn is_large(self) -> bool {
        self.large || self.own > MAX_STATES
    }

    /// Returns the cost as a monitor of its own, at a distance of `hops` and with a lookahead of `ahead`.
    fn moved(self, hops: u32, ahead: u32) -> Weight {
        Weight {
            messages: self.messages.saturating_add(u32::from(hops > 0)),
            delay: self.delay.saturating_add(ahead).saturating_add(hops),
            own: 1,
            others: self.others.saturating_add(self.own),
            large: self.is_large(),
        }
    }

    fn key(self, goal: Goal) -> (bool, u64, u64, u64) {
        let (messages, delay) = (u64::from(self.messages), u64::from(self.delay));
        let states = self.own.saturating_add(self.others);
        match goal {
            Goal::Messages => (self.is_large(), messages, states, delay),
            Goal::Delay => (self.is_large(), delay, messages, states),
        }
    }
}

/// Plans for all subformulae on all components.
pub(super) struct Plans<'a> {
    goal: Goal,
    system: &'a System,
    /// Distance of each component to each other.
    hops: Vec<Vec<Option<u32>>>,
    whole: Formula,
    /// Cost of a subformula as part of a formula on a component, and its operands that move.
    staying: FxHashMap<Key, (Weight, Groups)>,
    /// Component and cost as a monitor of its own, where that is better.
    moving: FxHashMap<Key, (Weight, ComponentId)>,
    /// Cache of monitorability.
    monitorable: FxHashMap<Formula, bool>,
    /// Lookahead of each subformula in instants, if bounded.
    ahead: FxHashMap<Formula, Option<u32>>,
}

impl<'a> Plans<'a> {
    pub(super) fn new(
        logic: &mut Logic,
        system: &'a System,
        goal: Goal,
        whole: Formula,
    ) -> Result<Plans<'a>, TooLarge> {
        let hops = system.components().map(|from| system.hops(from)).collect();
        let mut plans = Plans {
            goal,
            system,
            hops,
            whole,
            staying: FxHashMap::default(),
            moving: FxHashMap::default(),
            monitorable: FxHashMap::default(),
            ahead: FxHashMap::default(),
        };
        let levels = levels(logic, whole);
        let parts = logic.formulae.subformulae(whole);
        if parts.len().saturating_mul(system.components().len()) > MAX_PLANS {
            return Err(TooLarge { resource: "subformulae on components", limit: MAX_PLANS });
        }
        for part in parts {
            let ahead = plans.look_ahead(logic, part);
            plans.ahead.insert(part, ahead);
            for boolean in [false, true] {
                if !levels[&part][usize::from(boolean)] {
                    continue;
                }
                // Staying plans for all components are needed before moves between them.
                for at in system.components() {
                    if let Some(plan) = plans.plan_stay(logic, (part, at, boolean)) {
                        plans.staying.insert((part, at, boolean), plan);
                    }
                }
                if part != whole && plans.can_move(logic, part, boolean) {
                    plans.plan_move(part, boolean);
                }
            }
        }
        Ok(plans)
    }

    /// Returns the best component for the whole formula.
    pub(super) fn host(&self) -> Option<ComponentId> {
        let hosts = self
            .system
            .components()
            .filter_map(|at| Some((at, self.staying.get(&(self.whole, at, true))?.0)));
        hosts.min_by_key(|(_, weight)| weight.key(self.goal)).map(|(at, _)| at)
    }

    /// Returns the delay of the whole formula on a component.
    pub(super) fn delay(&self, host: ComponentId) -> u32 {
        self.staying.get(&(self.whole, host, true)).map_or(0, |(weight, _)| weight.delay)
    }

    /// Returns the component of a subformula's own monitor, if it moves.
    pub(super) fn moved(&self, key: Key) -> Option<ComponentId> {
        self.moving.get(&key).map(|(_, there)| *there)
    }

    /// Returns the operands of a subformula that move as groups.
    pub(super) fn groups(&self, key: Key) -> &[(ComponentId, Vec<Formula>)] {
        self.staying.get(&key).map_or(&[], |(_, groups)| groups)
    }

    pub(super) fn whole(&self) -> Formula {
        self.whole
    }

    /// Returns the cost of the better plan.
    fn weight(&self, key: Key) -> Option<Weight> {
        let moving = self.moving.get(&key).map(|(weight, _)| *weight);
        moving.or_else(|| self.staying.get(&key).map(|(weight, _)| *weight))
    }

    /// Computes the lookahead of a subformula.
    fn look_ahead(&self, logic: &Logic, part: Formula) -> Option<u32> {
        let node = logic.formulae.node(part);
        let inner = node.parts().iter().map(|inner| self.ahead.get(inner).copied().flatten());
        let deepest = inner.into_iter().try_fold(0, |deepest, ahead| Some(deepest.max(ahead?)))?;
        match node {
            Node::False | Node::True | Node::Atom(_) | Node::Not(_) | Node::And(_) | Node::Or(_) => {
                Some(deepest)
            }
            Node::Next(_) => Some(deepest + 1),
            _ => None,
        }
    }

    /// Returns whether a subformula may become a monitor of its own.
    fn can_move(&mut self, logic: &mut Logic, part: Formula, boolean: bool) -> bool {
        match logic.formulae.node(part) {
            Node::False | Node::True => false,
            _ if self.ahead[&part].is_some() => true,
            _ => boolean && self.is_monitorable(logic, part),
        }
    }

    /// Plans a subformula as part of a formula on a component.
    fn plan_stay(&mut self, logic: &mut Logic, (part, at, boolean): Key) -> Option<(Weight, Groups)> {
        let node = logic.formulae.node(part).clone();
        let (weight, groups) = match &node {
            Node::False | Node::True => (Weight::ZERO, Vec::new()),
            Node::Atom(atom) => {
                let Proposition::Name(name) = logic.formulae.proposition(*atom) else { return None };
                let owner = self.system.owner(self.system.find_proposition(name)?);
                ((owner == at).then_some(Weight::ZERO)?, Vec::new())
            }
            Node::Not(inner) => (self.weight((*inner, at, boolean))?, Vec::new()),
            Node::And(parts) | Node::Or(parts) => {
                let is_conjunction = matches!(node, Node::And(_));
                self.operands(logic, &Operands { parts, at, boolean, is_conjunction })?
            }
            Node::Next(inner) => {
                let weight = self.weight((*inner, at, false))?;
                (Weight { own: weight.own.saturating_add(1), ..weight }, Vec::new())
            }
            _ => {
                let mut inner = node.parts().iter().map(|inner| self.weight((*inner, at, false)));
                let weight = inner.try_fold(Weight::ZERO, |sum, inner| Some(sum.with(inner?)))?;
                (Weight { own: weight.own.saturating_mul(2), ..weight }, Vec::new())
            }
        };
        Some((weight, groups))
    }

    /// Plans the operands of a conjunction or disjunction: those that are better elsewhere move there as groups. If the
    /// remaining automaton is too large, further operands move, the largest first.
    fn operands(&mut self, logic: &mut Logic, operands: &Operands<'_>) -> Option<(Weight, Groups)> {
        let mut best = (self.combined_weight(logic, operands, &[]), Groups::new());
        while let Some(better) = self.better(logic, operands, &best) {
            best = better;
        }
        if best.0.is_none_or(Weight::is_large) {
            let own = |part: &Formula| {
                self.weight((*part, operands.at, operands.boolean)).map_or(u64::MAX, |weight| weight.own)
            };
            let mut rest: Vec<Formula> =
                operands.parts.iter().copied().filter(|part| !has(&best.1, *part)).collect();
            rest.sort_by_key(|part| std::cmp::Reverse(own(part)));
            let mut groups = best.1.clone();
            for part in rest {
                let Some(there) = self.best_component(part, operands) else { continue };
                groups.push((there, vec![part]));
                let weight = self.combined_weight(logic, operands, &groups);
                if weight.is_some_and(|weight| !weight.is_large()) {
                    best = (weight, groups);
                    break;
                }
            }
        }
        Some((best.0?, best.1))
    }

    /// Returns the best additional group that lowers the cost.
    fn better(
        &mut self,
        logic: &mut Logic,
        operands: &Operands<'_>,
        (known, groups): &(Option<Weight>, Groups),
    ) -> Option<(Option<Weight>, Groups)> {
        let mut best: Option<(Weight, Groups)> = None;
        for there in self.system.components().filter(|there| *there != operands.at) {
            let weight = |part, component| self.weight((part, component, operands.boolean));
            let prefers = |part: &Formula| match (weight(*part, there), weight(*part, operands.at)) {
                (Some(elsewhere), Some(here)) => elsewhere.key(self.goal) < here.key(self.goal),
                (elsewhere, _) => elsewhere.is_some(),
            };
            let free = operands.parts.iter().filter(|part| !has(groups, **part));
            let group: Vec<Formula> = free.filter(|part| prefers(part)).copied().collect();
            // A single operand moves without a group.
            if group.len() < 2 {
                continue;
            }
            let mut more = groups.clone();
            more.push((there, group));
            let Some(weight) = self.combined_weight(logic, operands, &more) else { continue };
            let limit = best.as_ref().map(|(weight, _)| *weight).or(*known);
            if limit.is_none_or(|limit| weight.key(self.goal) < limit.key(self.goal)) {
                best = Some((weight, more));
            }
        }
        best.map(|(weight, groups)| (Some(weight), groups))
    }

    /// Returns the best component for an operand as a monitor of its own.
    fn best_component(&self, part: Formula, operands: &Operands<'_>) -> Option<ComponentId> {
        let moved = self.system.components().filter_map(|there| {
            let (weight, _) = self.staying.get(&(part, there, operands.boolean))?;
            let hops = self.hops[there.index()][operands.at.index()]?;
            Some((weight.moved(hops, 0).key(self.goal), there))
        });
        moved.min().map(|(_, there)| there)
    }

    /// Returns the cost of operands if the given groups move.
    fn combined_weight(
        &mut self,
        logic: &mut Logic,
        operands: &Operands<'_>,
        groups: &[(ComponentId, Vec<Formula>)],
    ) -> Option<Weight> {
        let Operands { at, boolean, .. } = *operands;
        let mut sum = Weight::ZERO;
        for part in operands.parts.iter().filter(|part| !has(groups, **part)) {
            sum = sum.with(self.weight((*part, at, boolean))?);
        }
        for (there, group) in groups {
            let mut inside = Weight::ZERO;
            for part in group {
                inside = inside.with(self.weight((*part, *there, boolean))?);
            }
            let ahead =
                group.iter().try_fold(0, |most, part| Some(self.ahead.get(part).copied()??.max(most)));
            if ahead.is_none() {
                let group = group.iter().copied();
                let joined = if operands.is_conjunction {
                    logic.formulae.and(group)
                } else {
                    logic.formulae.or(group)
                };
                if !(boolean && self.is_monitorable(logic, joined.ok()?)) {
                    return None;
                }
            }
            let hops = self.hops[there.index()][at.index()]?;
            let ahead = if boolean { 0 } else { ahead.unwrap_or_default() };
            sum = sum.with(inside.moved(hops, ahead));
        }
        Some(sum)
    }

    /// Decides for each component whether a subformula is better as a monitor of its own.
    fn plan_move(&mut self, part: Formula, boolean: bool) {
        let of = |there| self.staying.get(&(part, there, boolean)).map(|(weight, _)| (there, *weight));
        let staying: Vec<(ComponentId, Weight)> = self.system.components().filter_map(of).collect();
        let ahead = if boolean { 0 } else { self.ahead[&part].unwrap_or_default() };
        for at in self.system.components() {
            let moved = staying.iter().filter_map(|(there, weight)| {
                let hops = self.hops[there.index()][at.index()]?;
                Some((weight.moved(hops, ahead), *there))
            });
            let Some(best) = moved.min_by_key(|(weight, _)| weight.key(self.goal)) else { continue };
            let known = self.weight((part, at, boolean));
            if known.is_none_or(|known| best.0.key(self.goal) < known.key(self.goal)) {
                self.moving.insert((part, at, boolean), best);
            }
        }
    }

    fn is_monitorable(&mut self, logic: &mut Logic, formula: Formula) -> bool {
        *self.monitorable.entry(formula).or_insert_with(|| {
            logic
                .monitor(formula)
                .is_ok_and(|machine| monitorability(&machine, &logic.labels).is_monitorable())
        })
    }
}

/// Operands of a conjunction or disjunction on a component.
struct Operands<'a> {
    parts: &'a [Formula],
    at: ComponentId,
    boolean: bool,
    is_conjunction: bool,
}

/// Returns whether a group contains an operand.
fn has(groups: &[(ComponentId, Vec<Formula>)], part: Formula) -> bool {
    groups.iter().any(|(_, group)| group.contains(&part))
}

/// Returns for each subformula whether it occurs below a temporal operator, and whether it occurs below Boolean
/// operators only.
fn levels(logic: &Logic, whole: Formula) -> FxHashMap<Formula, [bool; 2]> {
    let mut levels: FxHashMap<Formula, [bool; 2]> = FxHashMap::default();
    levels.insert(whole, [false, true]);
    for part in logic.formulae.subformulae(whole).into_iter().rev() {
        let [below, boolean] = levels.get(&part).copied().unwrap_or_default();
        let node = logic.formulae.node(part);
        let is_boolean = matches!(node, Node::Not(_) | Node::And(_) | Node::Or(_));
        for inner in node.parts() {
            let level = levels.entry(*inner).or_default();
            level[0] |= below || !is_boolean;
            level[1] |= boolean && is_boolean;
        }
    }
    levels
}
