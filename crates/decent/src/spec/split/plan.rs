//! Where to have each subformula: what it costs, for each component, from the inside out.

use super::Goal;
use crate::system::{ComponentId, System};
use invigil_ltl::formula::{Node, Proposition};
use invigil_ltl::monitor::monitorability;
use invigil_ltl::{Formula, Logic, TooLarge};
use rustc_hash::FxHashMap;

/// A subformula on a component; whether there are only Boolean operators around it.
pub(super) type Key = (Formula, ComponentId, bool);

/// Operands that are together a monitor of their own, for each component that has such a one.
pub(super) type Groups = Vec<(ComponentId, Vec<Formula>)>;

/// What all of it costs.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    messages: u32,
    delay: u32,
    /// An estimate of the states of the automaton that it is part of.
    own: u64,
    /// The same for all monitors that it refers to.
    others: u64,
}

/// The largest automaton that a monitor may have, by the estimate.
const LARGEST: u64 = 1 << 10;

/// The most pairs of subformulae and components that are looked at.
const LOOKED_AT: usize = 1 << 20;

impl Weight {
    const NOTHING: Weight = Weight { messages: 0, delay: 0, own: 1, others: 0 };

    fn with(self, other: Weight) -> Weight {
        Weight {
            messages: self.messages.saturating_add(other.messages),
            delay: self.delay.max(other.delay),
            own: self.own.saturating_mul(other.own),
            others: self.others.saturating_add(other.others),
        }
    }

    /// The same as a monitor of its own, which is referred to from so far away and looks ahead so far.
    fn moved(self, hops: u32, ahead: u32) -> Weight {
        Weight {
            messages: self.messages.saturating_add(u32::from(hops > 0)),
            delay: self.delay.saturating_add(ahead).saturating_add(hops),
            own: 1,
            others: self.others.saturating_add(self.own),
        }
    }

    fn key(self, goal: Goal) -> (u64, u64, u64) {
        let (messages, delay) = (u64::from(self.messages), u64::from(self.delay));
        let states = self.own.saturating_add(self.others);
        match goal {
            Goal::Messages => (messages, states, delay),
            Goal::Delay => (delay, messages, states),
        }
    }
}

/// The plans for all subformulae on all components.
pub(super) struct Plans<'a> {
    goal: Goal,
    system: &'a System,
    /// From each component to each other.
    hops: Vec<Vec<Option<u32>>>,
    whole: Formula,
    /// What it costs to have a subformula as part of a formula on a component, and which of its operands are elsewhere.
    staying: FxHashMap<Key, (Weight, Groups)>,
    /// Where it is a monitor of its own, if that is better, and what it costs then.
    moving: FxHashMap<Key, (Weight, ComponentId)>,
    /// What was found out.
    monitorable: FxHashMap<Formula, bool>,
    /// How many instants each subformula looks ahead, if that is bounded.
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
        let parts = logic.formulae.within(whole);
        if parts.len().saturating_mul(system.components().len()) > LOOKED_AT {
            return Err(TooLarge { what: "subformulae on components", limit: LOOKED_AT });
        }
        for part in parts {
            let ahead = plans.look_ahead(logic, part);
            plans.ahead.insert(part, ahead);
            for boolean in [false, true] {
                if !levels[&part][usize::from(boolean)] {
                    continue;
                }
                // What stays must be known for all components before it can be moved to one of them.
                for at in system.components() {
                    if let Some(plan) = plans.stay(logic, (part, at, boolean)) {
                        plans.staying.insert((part, at, boolean), plan);
                    }
                }
                if part != whole && plans.may_move(logic, part, boolean) {
                    plans.consider_moving(part, boolean);
                }
            }
        }
        Ok(plans)
    }

    /// The component on which the whole is best.
    pub(super) fn host(&self) -> Option<ComponentId> {
        let hosts = self
            .system
            .components()
            .filter_map(|at| Some((at, self.staying.get(&(self.whole, at, true))?.0)));
        hosts.min_by_key(|(_, weight)| weight.key(self.goal)).map(|(at, _)| at)
    }

    /// How long what the whole needs takes to be known there.
    pub(super) fn delay(&self, host: ComponentId) -> u32 {
        self.staying.get(&(self.whole, host, true)).map_or(0, |(weight, _)| weight.delay)
    }

    /// Where a subformula is a monitor of its own that is needed on a component, if it is.
    pub(super) fn moved(&self, key: Key) -> Option<ComponentId> {
        self.moving.get(&key).map(|(_, there)| *there)
    }

    /// Which operands of a subformula on a component are elsewhere.
    pub(super) fn groups(&self, key: Key) -> &[(ComponentId, Vec<Formula>)] {
        self.staying.get(&key).map_or(&[], |(_, groups)| groups)
    }

    pub(super) fn whole(&self) -> Formula {
        self.whole
    }

    /// What the better way costs.
    fn weight(&self, key: Key) -> Option<Weight> {
        let moving = self.moving.get(&key).map(|(weight, _)| *weight);
        moving.or_else(|| self.staying.get(&key).map(|(weight, _)| *weight))
    }

    /// How many instants a subformula looks ahead.
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

    /// Whether a subformula may be a monitor of its own.
    fn may_move(&mut self, logic: &mut Logic, part: Formula, boolean: bool) -> bool {
        match logic.formulae.node(part) {
            Node::False | Node::True => false,
            _ if self.ahead[&part].is_some() => true,
            _ => boolean && self.is_monitorable(logic, part),
        }
    }

    /// The subformula as part of a formula on that component.
    fn stay(&mut self, logic: &mut Logic, (part, at, boolean): Key) -> Option<(Weight, Groups)> {
        let node = logic.formulae.node(part).clone();
        let (weight, groups) = match &node {
            Node::False | Node::True => (Weight::NOTHING, Vec::new()),
            Node::Atom(atom) => {
                let Proposition::Name(name) = logic.formulae.proposition(*atom) else { return None };
                let owner = self.system.owner(self.system.find(name)?);
                ((owner == at).then_some(Weight::NOTHING)?, Vec::new())
            }
            Node::Not(inner) => (self.weight((*inner, at, boolean))?, Vec::new()),
            Node::And(parts) | Node::Or(parts) => {
                self.operands(logic, parts, at, boolean, matches!(node, Node::And(_)))?
            }
            Node::Next(inner) => {
                let weight = self.weight((*inner, at, false))?;
                (Weight { own: weight.own.saturating_add(1), ..weight }, Vec::new())
            }
            _ => {
                let mut inner = node.parts().iter().map(|inner| self.weight((*inner, at, false)));
                let weight = inner.try_fold(Weight::NOTHING, |sum, inner| Some(sum.with(inner?)))?;
                (Weight { own: weight.own.saturating_mul(2), ..weight }, Vec::new())
            }
        };
        (weight.own <= LARGEST).then_some((weight, groups))
    }

    /// Operands of a conjunction or disjunction: those that are better off elsewhere go there together.
    fn operands(
        &mut self,
        logic: &mut Logic,
        parts: &[Formula],
        at: ComponentId,
        boolean: bool,
        all: bool,
    ) -> Option<(Weight, Groups)> {
        // Where each operand is: here, or in the group of a component.
        let mut places = vec![at; parts.len()];
        let mut best = self.together(logic, parts, &places, at, boolean, all);
        loop {
            let mut better = None;
            for there in self.system.components().filter(|there| *there != at) {
                let weight = |part, place| self.weight((part, place, boolean));
                let prefers = |part: Formula| match (weight(part, there), weight(part, at)) {
                    (Some(elsewhere), Some(here)) => elsewhere.key(self.goal) < here.key(self.goal),
                    (elsewhere, _) => elsewhere.is_some(),
                };
                let mut changed = places.clone();
                for (place, part) in changed.iter_mut().zip(parts) {
                    if *place == at && prefers(*part) {
                        *place = there;
                    }
                }
                if changed == places {
                    continue;
                }
                let weight = self.together(logic, parts, &changed, at, boolean, all);
                let key = |weight: &Option<Weight>| weight.map(|weight| weight.key(self.goal));
                let known = better.as_ref().map_or(key(&best), |(weight, _)| key(weight));
                if weight.is_some() && (known.is_none() || key(&weight) < known) {
                    better = Some((weight, changed));
                }
            }
            match better {
                Some((weight, changed)) => (best, places) = (weight, changed),
                None => break,
            }
        }
        Some((best?, groups(parts, &places, at)))
    }

    /// What operands cost in these places.
    fn together(
        &mut self,
        logic: &mut Logic,
        parts: &[Formula],
        places: &[ComponentId],
        at: ComponentId,
        boolean: bool,
        all: bool,
    ) -> Option<Weight> {
        let mut sum = Weight::NOTHING;
        for (part, _) in parts.iter().zip(places).filter(|(_, place)| **place == at) {
            sum = sum.with(self.weight((*part, at, boolean))?);
        }
        for (there, group) in groups(parts, places, at) {
            // One alone can be moved without a group.
            if group.len() == 1 {
                return None;
            }
            let mut inside = Weight::NOTHING;
            for part in &group {
                inside = inside.with(self.weight((*part, there, boolean))?);
            }
            let ahead =
                group.iter().try_fold(0, |most, part| Some(self.ahead.get(part).copied()??.max(most)));
            if inside.own > LARGEST {
                return None;
            }
            if ahead.is_none() {
                let joined = if all { logic.formulae.and(group) } else { logic.formulae.or(group) };
                if !(boolean && self.is_monitorable(logic, joined.ok()?)) {
                    return None;
                }
            }
            let hops = self.hops[there.index()][at.index()]?;
            let ahead = if boolean { 0 } else { ahead.unwrap_or_default() };
            sum = sum.with(inside.moved(hops, ahead));
        }
        (sum.own <= LARGEST).then_some(sum)
    }

    /// Whether it is better to have a subformula as a monitor of its own, for each component that needs it.
    fn consider_moving(&mut self, part: Formula, boolean: bool) {
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

/// The operands that are elsewhere, by component.
fn groups(parts: &[Formula], places: &[ComponentId], at: ComponentId) -> Groups {
    let mut groups: Groups = Vec::new();
    for (part, place) in parts.iter().zip(places).filter(|(_, place)| **place != at) {
        match groups.iter_mut().find(|(component, _)| component == place) {
            Some((_, group)) => group.push(*part),
            None => groups.push((*place, vec![*part])),
        }
    }
    groups
}

/// For each subformula whether it stands below a temporal operator, and whether it stands below Boolean ones alone.
fn levels(logic: &Logic, whole: Formula) -> FxHashMap<Formula, [bool; 2]> {
    let mut levels: FxHashMap<Formula, [bool; 2]> = FxHashMap::default();
    levels.insert(whole, [false, true]);
    for part in logic.formulae.within(whole).into_iter().rev() {
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
