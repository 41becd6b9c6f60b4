//! Choreography: the formula is cut at its binary operators, and each part is monitored where most of it is observed.
//!
//! Of the two sides of an operator at least one stays where the operator is; the other goes to the component that has most of
//! its propositions (the first by name, if several have), and leaves a reference behind. Parts that occur twice are monitored
//! once. What then happens is that of every [`hierarchy`].
//!
//! A part that can stay undecided for long (`F a` below another operator) makes all wait that refer to it:
//! see [`abridged`](super::abridged) for a way without that.

use super::hierarchy::{self, Member};
use super::{NoSetup, Placed, setup};
use crate::automaton::{Automaton, Refused};
use crate::encoding::Encoding;
use crate::memory::Atom;
use crate::network::{Network, Part};
use crate::system::{ComponentId, MonitorId, System};
use invigil_ltl::formula::{Formula, Node, Proposition};
use invigil_ltl::{Logic, TooLarge};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How deep operators may be nested in a formula that is cut.
const DEEP: usize = 1000;

/// A part of a formula: what is monitored, where. The first is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// What it says; other parts are propositions of it.
    pub formula: Formula,
    /// Where it is monitored.
    pub at: ComponentId,
}

/// A formula that is cut into parts.
#[derive(Clone, Debug)]
pub struct Shares {
    /// The parts, by their numbers.
    pub parts: Vec<Share>,
    /// Which propositions stand for which parts.
    pub references: FxHashMap<Proposition, MonitorId>,
}

/// Monitors for the parts of a formula.
///
/// # Errors
/// If it names what nobody observes, or if it is too large.
pub fn setup<E: Encoding>(
    logic: &mut Logic,
    formula: Formula,
    system: &System,
) -> Result<Vec<Placed<Member<E>>>, NoSetup> {
    hierarchy::setup(&network(logic, formula, system)?)
}

/// The parts of a formula as monitors that refer to each other.
///
/// # Errors
/// If it names what nobody observes, or if it is too large.
pub fn network(logic: &mut Logic, formula: Formula, system: &System) -> Result<Network, NoSetup> {
    let shares = split(logic, formula, system)?;
    let atom = |name: &Proposition| match shares.references.get(name) {
        Some(part) => Some(Atom::Verdict(*part)),
        None => setup::observed(system, name),
    };
    let mut parts = Vec::with_capacity(shares.parts.len());
    for (number, share) in shares.parts.iter().enumerate() {
        let machine = logic.monitor(share.formula)?;
        let automaton = Automaton::of(logic, &machine, atom)?;
        parts.push(Part { name: format!("m{number}"), at: share.at, automaton });
    }
    Ok(Network { parts, root: MonitorId(0) })
}

/// Cuts a formula.
///
/// ```
/// use invigil_decent::algorithm::choreography::split;
/// use invigil_decent::system::System;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut system = System::default();
/// for name in ["a", "b"] {
///     let component = system.component(name)?;
///     system.proposition(component, &format!("{name}0"))?;
/// }
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G (a0 & X (b0 | X b0))").unwrap();
/// let shares = split(&mut logic, formula, &system)?;
/// let places: Vec<_> = shares.parts.iter().map(|share| system.component_name(share.at)).collect();
/// assert_eq!(places, ["b", "a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If it names what nobody observes, or if it is too large.
pub fn split(logic: &mut Logic, formula: Formula, system: &System) -> Result<Shares, NoSetup> {
    let mut order: Vec<ComponentId> = system.components().collect();
    order.sort_by_key(|component| system.component_name(*component));
    let mut cut = Cut {
        logic,
        system,
        order,
        weights: FxHashMap::default(),
        known: FxHashMap::default(),
        parts: Vec::new(),
        references: FxHashMap::default(),
    };
    let host = cut.choice(formula)?.map_or_else(|| setup::first(system), Ok)?;
    cut.part(formula, host, 0)?;
    Ok(Shares { parts: cut.parts, references: cut.references })
}

/// A formula while it is being cut.
struct Cut<'a> {
    logic: &'a mut Logic,
    system: &'a System,
    /// The components, by name.
    order: Vec<ComponentId>,
    weights: FxHashMap<Formula, Weight>,
    /// Which parts there are already.
    known: FxHashMap<Formula, MonitorId>,
    parts: Vec<Share>,
    references: FxHashMap<Proposition, MonitorId>,
}

/// How often a formula mentions each component, and whether it looks back.
#[derive(Clone)]
struct Weight {
    scores: Rc<[u64]>,
    looks_back: bool,
}

impl Cut<'_> {
    /// Makes a part of a formula, unless there is one. Gives its number.
    fn part(&mut self, formula: Formula, at: ComponentId, depth: usize) -> Result<MonitorId, NoSetup> {
        if let Some(part) = self.known.get(&formula) {
            return Ok(*part);
        }
        let part = MonitorId(u32::try_from(self.parts.len()).map_err(|_| NoSetup::TooMany)?);
        self.known.insert(formula, part);
        self.parts.push(Share { formula, at });
        self.parts[part.index()].formula = self.keep(formula, at, depth)?;
        Ok(part)
    }

    /// A reference to a part that is elsewhere.
    fn refer(&mut self, formula: Formula, at: ComponentId, depth: usize) -> Result<Formula, NoSetup> {
        let part = self.part(formula, at, depth)?;
        let known = self.references.iter().find(|(_, known)| **known == part).map(|(name, _)| name.clone());
        let atom = match known {
            Some(name) => self.logic.formulae.atom_for(name),
            None => self.logic.formulae.fresh(),
        };
        self.references.insert(self.logic.formulae.proposition(atom).clone(), part);
        Ok(self.logic.formulae.atom(atom)?)
    }

    /// A formula as it is monitored on a component: what goes elsewhere is replaced by references.
    fn keep(&mut self, formula: Formula, host: ComponentId, depth: usize) -> Result<Formula, NoSetup> {
        if depth > DEEP {
            return Err(TooLarge { what: "operators in each other", limit: DEEP }.into());
        }
        let depth = depth + 1;
        let node = self.logic.formulae.node(formula).clone();
        match node {
            Node::False | Node::True => Ok(formula),
            Node::Atom(_) => match self.choice(formula)? {
                Some(owner) if owner != host => self.refer(formula, owner, depth),
                _ => Ok(formula),
            },
            Node::And(_) | Node::Or(_) => {
                let (left, right) = self.halves(formula)?;
                let both = self.sides([left, right], host, depth)?;
                let made = match node {
                    Node::And(_) => self.logic.formulae.and(both),
                    _ => self.logic.formulae.or(both),
                };
                Ok(made?)
            }
            Node::Until(both)
            | Node::Release(both)
            | Node::WeakUntil(both)
            | Node::StrongRelease(both)
            | Node::Since(both)
            | Node::Triggered(both) => {
                let mut both = self.sides(both, host, depth)?.into_iter();
                Ok(self.logic.formulae.rebuild(&node, |part| both.next().unwrap_or(*part))?)
            }
            Node::Not(inner)
            | Node::Next(inner)
            | Node::Finally(inner)
            | Node::Globally(inner)
            | Node::Yesterday(inner)
            | Node::WeakYesterday(inner)
            | Node::Once(inner)
            | Node::Historically(inner) => {
                let kept = self.keep(inner, host, depth)?;
                Ok(self.logic.formulae.rebuild(&node, |_| kept)?)
            }
        }
    }

    /// Both sides of an operator, each kept or replaced.
    fn sides(
        &mut self,
        sides: [Formula; 2],
        host: ComponentId,
        depth: usize,
    ) -> Result<[Formula; 2], NoSetup> {
        let places = self.places(sides, host)?;
        let mut kept = sides;
        for ((side, place), kept) in sides.into_iter().zip(places).zip(&mut kept) {
            *kept = match place == host {
                true => self.keep(side, host, depth)?,
                false => self.refer(side, place, depth)?,
            };
        }
        Ok(kept)
    }

    /// Where the sides of an operator go: at least one stays.
    fn places(
        &mut self,
        [left, right]: [Formula; 2],
        host: ComponentId,
    ) -> Result<[ComponentId; 2], NoSetup> {
        let first = self.choice(left)?.unwrap_or(host);
        let second = self.choice(right)?.unwrap_or(host);
        let (left, right) = (self.weight(left)?, self.weight(right)?);
        let stays = second == host || right.scores[host.index()] > left.scores[host.index()];
        let places = if first != host && stays { [first, host] } else { [host, second] };
        // What looks back must have been there from the beginning; a part begins anew at every instant.
        Ok([(places[0], left), (places[1], right)]
            .map(|(place, weight)| if weight.looks_back { host } else { place }))
    }

    /// The component that a formula mentions most, the first by name. None if it mentions none.
    fn choice(&mut self, formula: Formula) -> Result<Option<ComponentId>, NoSetup> {
        let scores = self.weight(formula)?.scores;
        let most = scores.iter().copied().max().filter(|most| *most > 0);
        Ok(self.order.iter().copied().find(|component| Some(scores[component.index()]) == most))
    }

    /// Both halves of a conjunction or disjunction: all but the last, and the last.
    fn halves(&mut self, formula: Formula) -> Result<(Formula, Formula), NoSetup> {
        let formulae = &mut self.logic.formulae;
        let node = formulae.node(formula).clone();
        let Some((last, others)) = node.parts().split_last() else { return Ok((formula, formula)) };
        let others = others.iter().copied();
        let others = match node {
            Node::And(_) => formulae.and(others),
            _ => formulae.or(others),
        };
        Ok((others?, *last))
    }

    fn weight(&mut self, formula: Formula) -> Result<Weight, NoSetup> {
        if let Some(known) = self.weights.get(&formula) {
            return Ok(known.clone());
        }
        let mut last = Weight { scores: Rc::new([]), looks_back: false };
        // The parts come first.
        for inner in self.logic.formulae.within(formula) {
            let node = self.logic.formulae.node(inner);
            let mut scores = vec![0u64; self.order.len()];
            let mut looks_back = node.is_past();
            if let Node::Atom(atom) = node {
                let name = self.logic.formulae.proposition(*atom);
                let Some(Atom::Observed(known)) = setup::observed(self.system, name) else {
                    return Err(Refused::Unknown(name.clone()).into());
                };
                scores[self.system.owner(known).index()] = 1;
            }
            for weight in node.parts().iter().filter_map(|part| self.weights.get(part)) {
                looks_back |= weight.looks_back;
                for (sum, score) in scores.iter_mut().zip(weight.scores.iter()) {
                    *sum = sum.saturating_add(*score);
                }
            }
            last = Weight { scores: scores.into(), looks_back };
            self.weights.insert(inner, last.clone());
        }
        Ok(last)
    }
}
