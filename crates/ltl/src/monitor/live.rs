//! Live promises: the sets of promises that some infinite word keeps.

use super::partitioned_relation::{PartitionedRelation, renaming};
use super::tableau::{SHIFTED, Tableau};
use crate::TooLarge;
use crate::label::{Label, Substitution, Variable};

/// Computes the live combinations of promises and memories: those that hold at a position of some infinite word.
///
/// A word determines all promises and memories at its positions. Conversely, a consistent sequence of them in which no until
/// is postponed forever belongs to a word. So this is the greatest set from which each until is fulfilled infinitely often
/// (Emerson and Lei), computed symbolically.
pub(super) fn live(tableau: &mut Tableau) -> Result<Label, TooLarge> {
    let top = tableau.labels.top();
    if tableau.postponed.is_empty() {
        return Ok(top);
    }
    let preimage = Preimage::new(tableau)?;
    let mut live = top;
    loop {
        let mut next = live.clone();
        for postponed in &tableau.postponed {
            // Backward reachability of the positions at which this until is not postponed.
            let goal = tableau.labels.minus(&preimage.shifted(tableau, &next)?, postponed)?;
            let mut reach = tableau.labels.bottom();
            loop {
                let now = tableau.labels.or(&goal, &preimage.shifted(tableau, &reach)?)?;
                let more = preimage.apply(tableau, &now)?;
                if more == reach {
                    break;
                }
                reach = more;
            }
            next = tableau.labels.and(&next, &reach)?;
        }
        if next == live {
            return Ok(live);
        }
        live = next;
    }
}

/// Preimage computation: from conditions after a position to conditions before it.
pub(super) struct Preimage {
    relation: PartitionedRelation,
    back: Substitution,
    after: Substitution,
}

impl Preimage {
    pub(super) fn new(tableau: &mut Tableau) -> Result<Preimage, TooLarge> {
        let relations = tableau.relations()?;
        let quantified = position_variables(tableau);
        let relation = PartitionedRelation::new(&mut tableau.labels, relations, &quantified)?;
        let back = renaming(tableau, &[(SHIFTED, 0)])?;
        let after = memories_after(tableau)?;
        Ok(Preimage { relation, back, after })
    }

    /// Expresses a condition on promises and memories after a position in the variables of that position.
    pub(super) fn shifted(&self, tableau: &Tableau, after: &Label) -> Result<Label, TooLarge> {
        tableau.labels.substitute(after, &self.after)
    }

    /// Returns the promises for, and the memories before, the positions that satisfy a condition.
    pub(super) fn apply(&self, tableau: &Tableau, now: &Label) -> Result<Label, TooLarge> {
        tableau.labels.substitute(&self.relation.image(&tableau.labels, now)?, &self.back)
    }
}

/// Returns the variables of a position: atoms, promises made there, and memories of it.
pub(super) fn position_variables(tableau: &Tableau) -> Vec<Variable> {
    let atoms = tableau.atoms.iter().map(|atom| Variable::Atom(*atom));
    let promises = tableau.promises.iter().map(|promise| tableau.promise(promise, 0));
    let memories = tableau.memories.iter().map(|memory| tableau.memory(memory, SHIFTED));
    atoms.chain(promises).chain(memories).collect()
}

/// Creates the substitution that replaces the memories before a position by those after it.
fn memories_after(tableau: &mut Tableau) -> Result<Substitution, TooLarge> {
    let mut pairs = Vec::new();
    for memory in &tableau.memories {
        let after = tableau.memory(memory, SHIFTED);
        pairs.push((tableau.memory(memory, 0), after));
    }
    let mut substituted = Vec::new();
    for (before, after) in pairs {
        substituted.push((before, tableau.labels.variable(after)?));
    }
    tableau.labels.substitution(&substituted)
}
