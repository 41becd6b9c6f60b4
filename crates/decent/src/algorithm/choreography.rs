//! Choreography [EH18 §8.1]: the formula is split at its binary operators, and each part is monitored where most of it
//! is observed.
//!
//! At least one operand of an operator stays where the operator is. The other one moves to the component that has most
//! of its propositions (ties: the first by name) and is replaced by a reference. Equal parts are monitored once. The
//! monitors then run as a [`hierarchy`].
//!
//! A part that can stay undecided for long (`F a` below another operator) delays all monitors that refer to it;
//! [`abridged`](super::abridged) avoids this.

use super::hierarchy::{self, HierarchyMonitor};
use super::{Placed, SetupError, setup};
use crate::automaton::{Automaton, AutomatonError};
use crate::encoding::Encoding;
use crate::memory::Atom;
use crate::network::{Network, PlacedAutomaton};
use crate::system::{ComponentId, MonitorId, System};
use invigil_ltl::formula::{Formula, Node, Proposition};
use invigil_ltl::{Logic, TooLarge};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Maximum nesting depth of operators in a formula that is split.
const MAX_DEPTH: usize = 1000;

/// Part of a formula and its component. The first part is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaPart {
    /// The formula; other parts occur in it as propositions.
    pub formula: Formula,
    /// Component that monitors it.
    pub at: ComponentId,
}

/// Formula split into parts.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// The parts; their index is the id of their monitor.
    pub parts: Vec<FormulaPart>,
    /// Propositions that stand for parts.
    pub references: FxHashMap<Proposition, MonitorId>,
}

/// Creates monitors for the parts of a formula.
///
/// # Errors
/// Fails if the formula contains a proposition that no component observes, or is too large.
pub fn setup<E: Encoding>(
    logic: &mut Logic,
    formula: Formula,
    system: &System,
) -> Result<Vec<Placed<HierarchyMonitor<E>>>, SetupError> {
    hierarchy::setup(&network(logic, formula, system)?)
}

/// Splits a formula into a network of monitors.
///
/// # Errors
/// Fails if the formula contains a proposition that no component observes, or is too large.
pub fn network(logic: &mut Logic, formula: Formula, system: &System) -> Result<Network, SetupError> {
    let decomposition = split(logic, formula, system)?;
    let atom = |name: &Proposition| match decomposition.references.get(name) {
        Some(part) => Some(Atom::Verdict(*part)),
        None => setup::observed_atom(system, name),
    };
    let mut monitors = Vec::with_capacity(decomposition.parts.len());
    for (number, part) in decomposition.parts.iter().enumerate() {
        let machine = logic.monitor(part.formula)?;
        let automaton = Automaton::of(logic, &machine, atom)?;
        monitors.push(PlacedAutomaton { name: format!("m{number}"), at: part.at, automaton });
    }
    Ok(Network { monitors, root: MonitorId(0) })
}

/// Splits a formula into parts.
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
/// let decomposition = split(&mut logic, formula, &system)?;
/// let components: Vec<_> = decomposition.parts.iter().map(|part| system.component_name(part.at)).collect();
/// assert_eq!(components, ["b", "a"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the formula contains a proposition that no component observes, or is too large.
pub fn split(logic: &mut Logic, formula: Formula, system: &System) -> Result<Decomposition, SetupError> {
    let mut order: Vec<ComponentId> = system.components().collect();
    order.sort_by_key(|component| system.component_name(*component));
    let mut splitter = Splitter {
        logic,
        system,
        order,
        weights: FxHashMap::default(),
        part_ids: FxHashMap::default(),
        parts: Vec::new(),
        references: FxHashMap::default(),
    };
    let host = splitter.choice(formula)?.map_or_else(|| setup::first_component(system), Ok)?;
    splitter.part(formula, host, 0)?;
    Ok(Decomposition { parts: splitter.parts, references: splitter.references })
}

/// State of a split.
struct Splitter<'a> {
    logic: &'a mut Logic,
    system: &'a System,
    /// The components, sorted by name.
    order: Vec<ComponentId>,
    weights: FxHashMap<Formula, Weight>,
    /// Parts that exist already.
    part_ids: FxHashMap<Formula, MonitorId>,
    parts: Vec<FormulaPart>,
    references: FxHashMap<Proposition, MonitorId>,
}

/// Number of occurrences of each component's propositions (`scor` of [EH18 §8.1]), and whether a past operator occurs.
#[derive(Clone)]
struct Weight {
    scores: Rc<[u64]>,
    has_past_operator: bool,
}

impl Splitter<'_> {
    /// Returns the part for a formula; creates it if needed.
    fn part(&mut self, formula: Formula, at: ComponentId, depth: usize) -> Result<MonitorId, SetupError> {
        if let Some(part) = self.part_ids.get(&formula) {
            return Ok(*part);
        }
        let part = MonitorId(u32::try_from(self.parts.len()).map_err(|_| SetupError::TooManyMonitors)?);
        self.part_ids.insert(formula, part);
        self.parts.push(FormulaPart { formula, at });
        self.parts[part.index()].formula = self.keep(formula, at, depth)?;
        Ok(part)
    }

    /// Returns a reference to a part on another component.
    fn refer(&mut self, formula: Formula, at: ComponentId, depth: usize) -> Result<Formula, SetupError> {
        let part = self.part(formula, at, depth)?;
        let proposition = self.references.iter().find(|(_, id)| **id == part).map(|(name, _)| name.clone());
        let atom = match proposition {
            Some(name) => self.logic.formulae.atom_for(name),
            None => self.logic.formulae.fresh(),
        };
        self.references.insert(self.logic.formulae.proposition(atom).clone(), part);
        Ok(self.logic.formulae.atom(atom)?)
    }

    /// Replaces the subformulae that move to other components by references.
    fn keep(&mut self, formula: Formula, host: ComponentId, depth: usize) -> Result<Formula, SetupError> {
        if depth > MAX_DEPTH {
            return Err(TooLarge { resource: "nested operators", limit: MAX_DEPTH }.into());
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

    /// Keeps or replaces both operands of an operator.
    fn sides(
        &mut self,
        sides: [Formula; 2],
        host: ComponentId,
        depth: usize,
    ) -> Result<[Formula; 2], SetupError> {
        let components = self.operand_components(sides, host)?;
        let mut kept = sides;
        for ((side, component), kept) in sides.into_iter().zip(components).zip(&mut kept) {
            *kept = match component == host {
                true => self.keep(side, host, depth)?,
                false => self.refer(side, component, depth)?,
            };
        }
        Ok(kept)
    }

    /// Chooses the components of both operands: at least one stays (`split` of [EH18 §8.1]).
    fn operand_components(
        &mut self,
        [left, right]: [Formula; 2],
        host: ComponentId,
    ) -> Result<[ComponentId; 2], SetupError> {
        let first = self.choice(left)?.unwrap_or(host);
        let second = self.choice(right)?.unwrap_or(host);
        let (left, right) = (self.weight(left)?, self.weight(right)?);
        let stays = second == host || right.scores[host.index()] > left.scores[host.index()];
        let components = if first != host && stays { [first, host] } else { [host, second] };
        // Formulae with past operators stay: a part restarts at every instant and would lose its past.
        Ok([(components[0], left), (components[1], right)]
            .map(|(component, weight)| if weight.has_past_operator { host } else { component }))
    }

    /// Returns the component whose propositions occur most often, the first by name (`chc` of [EH18 §8.1]), or `None`
    /// if none occurs.
    fn choice(&mut self, formula: Formula) -> Result<Option<ComponentId>, SetupError> {
        let scores = self.weight(formula)?.scores;
        let max = scores.iter().copied().max().filter(|max| *max > 0);
        Ok(self.order.iter().copied().find(|component| Some(scores[component.index()]) == max))
    }

    /// Splits a conjunction or disjunction into all operands but the last, and the last.
    fn halves(&mut self, formula: Formula) -> Result<(Formula, Formula), SetupError> {
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

    fn weight(&mut self, formula: Formula) -> Result<Weight, SetupError> {
        if let Some(weight) = self.weights.get(&formula) {
            return Ok(weight.clone());
        }
        let mut last = Weight { scores: Rc::new([]), has_past_operator: false };
        // `subformulae` lists operands before operators.
        for inner in self.logic.formulae.subformulae(formula) {
            let node = self.logic.formulae.node(inner);
            let mut scores = vec![0u64; self.order.len()];
            let mut has_past_operator = node.is_past();
            if let Node::Atom(atom) = node {
                let name = self.logic.formulae.proposition(*atom);
                let Some(Atom::Observed(proposition)) = setup::observed_atom(self.system, name) else {
                    return Err(AutomatonError::Unknown(name.clone()).into());
                };
                scores[self.system.owner(proposition).index()] = 1;
            }
            for weight in node.parts().iter().filter_map(|part| self.weights.get(part)) {
                has_past_operator |= weight.has_past_operator;
                for (sum, score) in scores.iter_mut().zip(weight.scores.iter()) {
                    *sum = sum.saturating_add(*score);
                }
            }
            last = Weight { scores: scores.into(), has_past_operator };
            self.weights.insert(inner, last.clone());
        }
        Ok(last)
    }
}
