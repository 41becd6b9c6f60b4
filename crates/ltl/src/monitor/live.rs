//! Which promises can be kept: all at once, for ever, and fairly.

use super::relation::{Relation, renaming};
use super::tableau::{OTHER, Tableau};
use crate::TooLarge;
use crate::label::{Label, Substitution, Variable};

/// The promises and memories with which some infinite word is as promised.
///
/// A word decides all promises and memories along it, and a sequence of those that fit together, in which no
/// until waits for ever, comes from a word. So this is the greatest set from which each until comes to an end
/// again and again (Emerson and Lei), computed with diagrams.
pub(super) fn live(tableau: &mut Tableau) -> Result<Label, TooLarge> {
    let top = tableau.labels.top();
    if tableau.waiting.is_empty() {
        return Ok(top);
    }
    let before = Before::new(tableau)?;
    let mut live = top;
    loop {
        let mut next = live.clone();
        for waiting in &tableau.waiting {
            // From where an instant is reached at which this until does not wait.
            let goal = tableau.labels.minus(&before.then(tableau, &next)?, waiting)?;
            let mut reach = tableau.labels.bottom();
            loop {
                let now = tableau.labels.or(&goal, &before.then(tableau, &reach)?)?;
                let more = before.image(tableau, &now)?;
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

/// From what is so after an instant to what was so before it.
pub(super) struct Before {
    relation: Relation,
    back: Substitution,
    after: Substitution,
}

impl Before {
    pub(super) fn new(tableau: &mut Tableau) -> Result<Before, TooLarge> {
        let relations = tableau.relations()?;
        let away = instant(tableau);
        let relation = Relation::new(&mut tableau.labels, relations, &away)?;
        let back = renaming(tableau, &[(OTHER, 0)])?;
        let after = remembered(tableau)?;
        Ok(Before { relation, back, after })
    }

    /// What is true of promises and memories, as seen from the instant after which it is.
    pub(super) fn then(&self, tableau: &Tableau, after: &Label) -> Result<Label, TooLarge> {
        tableau.labels.substitute(after, &self.after)
    }

    /// The promises for, and memories before, the instants at which something is true.
    pub(super) fn image(&self, tableau: &Tableau, now: &Label) -> Result<Label, TooLarge> {
        tableau.labels.substitute(&self.relation.apply(&tableau.labels, now)?, &self.back)
    }
}

/// What belongs to an instant: atoms, the promises that are made, and what is remembered of it.
pub(super) fn instant(tableau: &Tableau) -> Vec<Variable> {
    let atoms = tableau.atoms.iter().map(|atom| Variable::Atom(*atom));
    let promises = tableau.promises.iter().map(|promise| tableau.promise(promise, 0));
    let memories = tableau.memories.iter().map(|memory| tableau.memory(memory, OTHER));
    atoms.chain(promises).chain(memories).collect()
}

/// The memories after an instant in the place of those before it.
fn remembered(tableau: &mut Tableau) -> Result<Substitution, TooLarge> {
    let mut pairs = Vec::new();
    for memory in &tableau.memories {
        let after = tableau.memory(memory, OTHER);
        pairs.push((tableau.memory(memory, 0), after));
    }
    let mut places = Vec::new();
    for (before, after) in pairs {
        places.push((before, tableau.labels.variable(after)?));
    }
    tableau.labels.substitution(&places)
}
