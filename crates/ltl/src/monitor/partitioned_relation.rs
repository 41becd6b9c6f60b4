//! Partitioned relations with early quantification: a variable is quantified as soon as no further conjunct mentions it.

use super::tableau::Tableau;
use crate::TooLarge;
use crate::label::{Label, Labels, Substitution, Variable};

/// Relation as a list of conjuncts, with the variables that its image quantifies existentially.
pub(super) struct PartitionedRelation {
    /// Quantified variables without a conjunct, as a cube.
    unconstrained: Label,
    /// Conjuncts, each with a cube of the quantified variables that no later conjunct mentions.
    conjuncts: Vec<(Label, Label)>,
}

impl PartitionedRelation {
    /// Creates a relation. `quantified` are the variables that its image quantifies.
    pub(super) fn new(
        labels: &mut Labels,
        conjuncts: Vec<Label>,
        quantified: &[Variable],
    ) -> Result<PartitionedRelation, TooLarge> {
        let mut last: Vec<Vec<(Variable, bool)>> = vec![Vec::new(); conjuncts.len() + 1];
        let supports: Vec<Vec<Variable>> =
            conjuncts.iter().map(|conjunct| labels.support(conjunct)).collect();
        for variable in quantified {
            let at = supports.iter().rposition(|support| support.binary_search(variable).is_ok());
            last[at.map_or(0, |at| at + 1)].push((*variable, true));
        }
        let unconstrained = labels.cube(&last[0])?;
        let mut scheduled = Vec::with_capacity(conjuncts.len());
        for (conjunct, last) in conjuncts.into_iter().zip(&last[1..]) {
            scheduled.push((conjunct, labels.cube(last)?));
        }
        Ok(PartitionedRelation { unconstrained, conjuncts: scheduled })
    }

    /// Computes the image of a set: the conjunction with all conjuncts, quantified.
    pub(super) fn image(&self, labels: &Labels, set: &Label) -> Result<Label, TooLarge> {
        let mut image = labels.exists(set, &self.unconstrained)?;
        for (conjunct, last) in &self.conjuncts {
            image = labels.and_exists(&image, conjunct, last)?;
        }
        Ok(image)
    }
}

/// Creates the substitution that replaces copies of all promises by other copies.
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
