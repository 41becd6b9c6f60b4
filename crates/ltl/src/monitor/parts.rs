//! A formula as a Boolean combination of formulae that have no atoms in common.

use super::composite::Gate;
use crate::TooLarge;
use crate::formula::{Atom, Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// How deep connectives are looked into. Each level may cost a look at all that is below it.
const MAX_DEPTH: u32 = 24;

/// How many parts there may be. Beyond, what is left stays together.
const MAX_PARTS: usize = 1 << 10;

/// The formulae, and the gates that combine them, the last of which is the whole.
pub(crate) fn independent(
    formulae: &mut Formulae,
    formula: Formula,
) -> Result<(Vec<Formula>, Vec<Gate>), TooLarge> {
    let mut parts = Vec::new();
    let mut gates = Vec::new();
    let whole = take_apart(formulae, formula, 0, &mut parts, &mut gates)?;
    gates.push(whole);
    Ok((parts, gates))
}

fn take_apart(
    formulae: &mut Formulae,
    formula: Formula,
    depth: u32,
    parts: &mut Vec<Formula>,
    gates: &mut Vec<Gate>,
) -> Result<Gate, TooLarge> {
    let mut gate = |formulae: &mut Formulae, formula: Formula, parts: &mut Vec<Formula>| {
        let gate = take_apart(formulae, formula, depth + 1, parts, gates)?;
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

/// The operands of a conjunction (true) or disjunction. `G` of a conjunction is one, too, and so on.
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

/// Formulae with common atoms together, in the order of the first of each group. Groups that only speak of now
/// are one: they are known after one letter, and a machine for each would be a waste.
fn groups(formulae: &Formulae, all: &[Formula]) -> Vec<Vec<Formula>> {
    // Each formula points to one of its group; the first of a group to itself.
    let mut leader: Vec<usize> = (0..all.len()).collect();
    let mut users: FxHashMap<Atom, usize> = FxHashMap::default();
    fn lead(leader: &[usize], mut at: usize) -> usize {
        while leader[at] != at {
            at = leader[at];
        }
        at
    }
    let mut only_now = vec![true; all.len()];
    for (at, formula) in all.iter().enumerate() {
        for part in formulae.within(*formula) {
            match formulae.node(part) {
                Node::Atom(atom) => {
                    let one = lead(&leader, *users.entry(*atom).or_insert(at));
                    let other = lead(&leader, at);
                    leader[one.max(other)] = one.min(other);
                }
                Node::False | Node::True | Node::Not(_) | Node::And(_) | Node::Or(_) => {}
                _ => only_now[at] = false,
            }
        }
    }
    let mut groups: Vec<(Vec<Formula>, bool)> = vec![(Vec::new(), true); all.len()];
    for (at, formula) in all.iter().enumerate() {
        let (group, now) = &mut groups[lead(&leader, at)];
        group.push(*formula);
        *now &= only_now[at];
    }
    let (now, later): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, now)| *now);
    let now = now.into_iter().flat_map(|(group, _)| group).collect();
    let later = later.into_iter().map(|(group, _)| group);
    [now].into_iter().chain(later).filter(|group: &Vec<Formula>| !group.is_empty()).collect()
}
