//! Decomposition of a formula into a Boolean combination of formulae without common atoms.

use super::composite::Gate;
use crate::TooLarge;
use crate::formula::{Atom, Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// Maximum depth of connectives that are split. Each level may cost a traversal of everything below it.
const MAX_DEPTH: u32 = 24;

/// Maximum number of parts; the rest stays together.
const MAX_PARTS: usize = 1 << 10;

/// Decomposes a formula into parts and the gates that combine them. The last gate is the output.
pub(crate) fn decompose(
    formulae: &mut Formulae,
    formula: Formula,
) -> Result<(Vec<Formula>, Vec<Gate>), TooLarge> {
    let mut parts = Vec::new();
    let mut gates = Vec::new();
    let whole = decompose_at(formulae, formula, 0, &mut parts, &mut gates)?;
    gates.push(whole);
    Ok((parts, gates))
}

fn decompose_at(
    formulae: &mut Formulae,
    formula: Formula,
    depth: u32,
    parts: &mut Vec<Formula>,
    gates: &mut Vec<Gate>,
) -> Result<Gate, TooLarge> {
    let mut gate = |formulae: &mut Formulae, formula: Formula, parts: &mut Vec<Formula>| {
        let gate = decompose_at(formulae, formula, depth + 1, parts, gates)?;
        gates.push(gate);
        Ok(gates.len() - 1)
    };
    if depth < MAX_DEPTH {
        if let Node::Not(a) = *formulae.node(formula) {
            return Ok(Gate::Not(gate(formulae, a, parts)?));
        }
        if let Some((all, and)) = operands(formulae, formula)? {
            let groups = groups(formulae, &all);
            if groups.len() > 1 && parts.len() + groups.len() <= MAX_PARTS {
                let mut of = Vec::new();
                for group in groups {
                    let group = if and { formulae.and(group)? } else { formulae.or(group)? };
                    of.push(gate(formulae, group, parts)?);
                }
                return Ok(if and { Gate::All(of) } else { Gate::Any(of) });
            }
        }
    }
    parts.push(formula);
    Ok(Gate::Part(parts.len() - 1))
}

/// Returns the operands of a conjunction (`true`) or disjunction (`false`). Distributes `X` and `G` over conjunctions, `X`
/// and `F` over disjunctions.
fn operands(formulae: &mut Formulae, formula: Formula) -> Result<Option<(Vec<Formula>, bool)>, TooLarge> {
    type Make = fn(&mut Formulae, Formula) -> Result<Formula, TooLarge>;
    let (inner, make): (Formula, Option<Make>) = match *formulae.node(formula) {
        Node::And(_) | Node::Or(_) => (formula, None),
        Node::Next(a) => (a, Some(Formulae::next)),
        Node::Globally(a) => (a, Some(Formulae::globally)),
        Node::Finally(a) => (a, Some(Formulae::finally)),
        _ => return Ok(None),
    };
    let (all, and) = match formulae.node(inner) {
        Node::And(all) => (all.to_vec(), true),
        Node::Or(all) => (all.to_vec(), false),
        _ => return Ok(None),
    };
    let Some(make) = make else { return Ok(Some((all, and))) };
    match formulae.node(formula) {
        Node::Globally(_) if !and => return Ok(None),
        Node::Finally(_) if and => return Ok(None),
        _ => {}
    }
    let all = all.into_iter().map(|part| make(formulae, part)).collect::<Result<_, _>>()?;
    Ok(Some((all, and)))
}

/// Groups formulae with common atoms, in the order of the first member. All groups without temporal operators form one
/// group: they are decided by the first letter and need only one machine.
fn groups(formulae: &Formulae, all: &[Formula]) -> Vec<Vec<Formula>> {
    // Union-find forest: each formula points to an earlier one of its group, the first to itself.
    let mut leader: Vec<usize> = (0..all.len()).collect();
    let mut first_with: FxHashMap<Atom, usize> = FxHashMap::default();
    fn find(leader: &[usize], mut at: usize) -> usize {
        while leader[at] != at {
            at = leader[at];
        }
        at
    }
    let mut is_boolean = vec![true; all.len()];
    for (at, formula) in all.iter().enumerate() {
        for part in formulae.subformulae(*formula) {
            match formulae.node(part) {
                Node::Atom(atom) => {
                    let one = find(&leader, *first_with.entry(*atom).or_insert(at));
                    let other = find(&leader, at);
                    leader[one.max(other)] = one.min(other);
                }
                Node::False | Node::True | Node::Not(_) | Node::And(_) | Node::Or(_) => {}
                _ => is_boolean[at] = false,
            }
        }
    }
    let mut groups: Vec<(Vec<Formula>, bool)> = vec![(Vec::new(), true); all.len()];
    for (at, formula) in all.iter().enumerate() {
        let (group, boolean) = &mut groups[find(&leader, at)];
        group.push(*formula);
        *boolean &= is_boolean[at];
    }
    let (boolean, temporal): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, boolean)| *boolean);
    let boolean = boolean.into_iter().flat_map(|(group, _)| group).collect();
    let temporal = temporal.into_iter().map(|(group, _)| group);
    [boolean].into_iter().chain(temporal).filter(|group: &Vec<Formula>| !group.is_empty()).collect()
}
