//! Relations between variables as lists of conjuncts: a variable is put away as soon as no conjunct speaks of it.

use super::tableau::Tableau;
use crate::TooLarge;
use crate::label::{Label, Labels, Substitution, Variable};

/// A conjunction in which some variables are put away.
pub(super) struct Relation {
    /// Variables of which no conjunct speaks.
    first: Label,
    /// The conjuncts, with the variables of which no later one speaks.
    parts: Vec<(Label, Label)>,
}

impl Relation {
    pub(super) fn new(
        labels: &mut Labels,
        parts: Vec<Label>,
        away: &[Variable],
    ) -> Result<Relation, TooLarge> {
        let mut last: Vec<Vec<(Variable, bool)>> = vec![Vec::new(); parts.len() + 1];
        let supports: Vec<Vec<Variable>> = parts.iter().map(|part| labels.support(part)).collect();
        for variable in away {
            let at = supports.iter().rposition(|support| support.binary_search(variable).is_ok());
            last[at.map_or(0, |at| at + 1)].push((*variable, true));
        }
        let first = labels.cube(&last[0])?;
        let mut all = Vec::with_capacity(parts.len());
        for (part, last) in parts.into_iter().zip(&last[1..]) {
            all.push((part, labels.cube(last)?));
        }
        Ok(Relation { first, parts: all })
    }

    /// What of a function and the conjuncts is left.
    pub(super) fn apply(&self, labels: &Labels, function: &Label) -> Result<Label, TooLarge> {
        let mut all = labels.exists(function, &self.first)?;
        for (part, last) in &self.parts {
            all = labels.exists_both(&all, part, last)?;
        }
        Ok(all)
    }
}

/// Copies of the promises in the place of others.
pub(super) fn renaming(tableau: &mut Tableau, copies: &[(u32, u32)]) -> Result<Substitution, TooLarge> {
    let mut pairs = Vec::new();
    for (from, to) in copies {
        for at in 0..tableau.promises.len() {
            let promise = &tableau.promises[at];
            let (from, to) = (tableau.promise(promise, *from), tableau.promise(promise, *to));
            pairs.push((from, tableau.labels.variable(to)?));
        }
    }
    tableau.labels.substitution(&pairs)
}
