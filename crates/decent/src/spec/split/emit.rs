//! Conversion of plans to monitors, and back to the formula.

use super::SplitError;
use super::plan::{Key, Plans};
use crate::spec::{MonitorBody, Specification};
use crate::system::{ComponentId, MonitorId, System};
use invigil_ltl::formula::{Formulae, Node, Proposition};
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Formula, Logic, TooLarge};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Creates the monitors of the plans for a host of the whole formula.
pub(super) fn emit(
    logic: &mut Logic,
    system: &System,
    plans: &Plans<'_>,
    host: ComponentId,
) -> Result<Specification, SplitError> {
    let mut emitter = Emitter {
        formulae: &mut logic.formulae,
        plans,
        specification: Specification::new(system.clone()),
        made: FxHashMap::default(),
        emitted: FxHashMap::default(),
    };
    let whole = (plans.whole(), host, true);
    // Needed subformulae are collected top-down and built bottom-up. Operands have smaller indices.
    let mut needed: BTreeSet<Key> = BTreeSet::from([whole]);
    let mut order = Vec::new();
    while let Some(key) = needed.pop_last() {
        needed.extend(emitter.inner(key).into_iter().map(|(inner, _)| inner));
        order.push(key);
    }
    for key in order.into_iter().rev() {
        let formula = emitter.stay(key)?;
        emitter.made.insert(key, formula);
    }
    let root = emitter.made[&whole];
    emitter.specification.root = Some(emitter.monitor(root, host)?);
    Ok(emitter.specification)
}

struct Emitter<'a> {
    formulae: &'a mut Formulae,
    plans: &'a Plans<'a>,
    specification: Specification,
    /// Subformulae with references, as they stay on a component.
    made: FxHashMap<Key, Formula>,
    /// Existing monitors; equal ones are shared.
    emitted: FxHashMap<(Formula, ComponentId), MonitorId>,
}

impl Emitter<'_> {
    /// Returns the operands of a subformula, each with its component and whether it is a monitor of its own there.
    fn inner(&self, (formula, at, boolean): Key) -> Vec<(Key, bool)> {
        let node = self.formulae.node(formula);
        let boolean = boolean && matches!(node, Node::Not(_) | Node::And(_) | Node::Or(_));
        let groups = self.plans.groups((formula, at, boolean));
        let place = |part: Formula| {
            let group = groups.iter().find(|(_, group)| group.contains(&part));
            let at = group.map_or(at, |(there, _)| *there);
            match self.plans.moved((part, at, boolean)) {
                Some(there) => ((part, there, boolean), true),
                None => ((part, at, boolean), false),
            }
        };
        node.parts().iter().map(|part| place(*part)).collect()
    }

    /// Builds a subformula on a component, with references to the parts that moved.
    fn stay(&mut self, key: Key) -> Result<Formula, SplitError> {
        let (formula, at, boolean) = key;
        let node = self.formulae.node(formula).clone();
        let groups = match node {
            Node::And(_) | Node::Or(_) => self.plans.groups((formula, at, boolean)).to_vec(),
            _ => Vec::new(),
        };
        let mut parts = FxHashMap::default();
        for ((part, there, boolean), moved) in self.inner(key) {
            let made = self.made[&(part, there, boolean)];
            let made = if moved { self.refer(made, there)? } else { made };
            parts.insert(part, made);
        }
        // A group of operands becomes one reference, in place of its first operand.
        for (there, group) in groups {
            let inside: Vec<Formula> = group.iter().map(|part| parts[part]).collect();
            let joined = if matches!(node, Node::And(_)) {
                self.formulae.and(inside)?
            } else {
                self.formulae.or(inside)?
            };
            let reference = self.refer(joined, there)?;
            parts.extend(group.iter().map(|part| (*part, reference)));
        }
        Ok(self.formulae.rebuild(&node, |part| parts[part])?)
    }

    /// Returns a reference to the monitor of a formula on a component.
    fn refer(&mut self, formula: Formula, at: ComponentId) -> Result<Formula, SplitError> {
        let id = self.monitor(formula, at)?;
        let name = self.specification.name(id).to_owned();
        let atom = self.formulae.atom_for(Proposition::Monitor(name));
        Ok(self.formulae.atom(atom)?)
    }

    fn monitor(&mut self, formula: Formula, at: ComponentId) -> Result<MonitorId, SplitError> {
        if let Some(id) = self.emitted.get(&(formula, at)) {
            return Ok(*id);
        }
        let text = self.formulae.show(formula).to_string();
        let limit = text.len();
        let tree =
            SyntaxTree::parse(&text).map_err(|_| TooLarge { resource: "bytes of a formula", limit })?;
        let name = match self.formulae.node(formula) {
            Node::Atom(atom) => format!("m_{}", self.formulae.proposition(*atom)),
            _ => format!("m{}", self.specification.monitors().len() + 1),
        };
        let mut free = name.clone();
        while self.specification.find(&free).is_some() {
            free.push('_');
        }
        let added = self.specification.add(&free, MonitorBody::Formula(tree), Some(at));
        let id = added.map_err(|diagnostic| SplitError::Internal(vec![diagnostic]))?;
        self.emitted.insert((formula, at), id);
        Ok(id)
    }
}

/// Replaces references in the root by the formulae of their monitors. Returns `None` if a monitor is not a formula.
pub(super) fn unfold(
    logic: &mut Logic,
    specification: &Specification,
    too_many: TooLarge,
) -> Result<Option<Formula>, TooLarge> {
    let mut unfolded: FxHashMap<String, Formula> = FxHashMap::default();
    // Monitors come after those that they refer to.
    for id in specification.monitors() {
        let MonitorBody::Formula(tree) = &specification.monitor(id).body else { return Ok(None) };
        let formulae = &mut logic.formulae;
        let whole = formulae.lower(tree).map_err(|_| too_many)?;
        let mut made: FxHashMap<Formula, Formula> = FxHashMap::default();
        for part in formulae.subformulae(whole) {
            let monitor = match formulae.node(part) {
                Node::Atom(atom) => match formulae.proposition(*atom) {
                    Proposition::Monitor(name) => unfolded.get(name).copied(),
                    _ => None,
                },
                _ => None,
            };
            let now = match monitor {
                Some(formula) => formula,
                None => formulae.rebuild(&formulae.node(part).clone(), |inner| made[inner])?,
            };
            made.insert(part, now);
        }
        unfolded.insert(specification.name(id).to_owned(), made[&whole]);
    }
    Ok(specification.root.and_then(|root| unfolded.get(specification.name(root)).copied()))
}
