//! Subsumption between sets of promises, regardless of fairness.
//!
//! No bad prefix shows that an until is postponed forever. So `G(a -> F b)` permits the same prefixes whether or not a `b` is
//! pending, and monitors of many responses need not track which are pending. If weaker promises permit all prefixes of
//! stronger ones, a set of promises is equivalent with and without the stronger ones.

use super::live::{Preimage, position_variables};
use super::partitioned_relation::{PartitionedRelation, renaming};
use super::tableau::{SHIFTED, Tableau};
use crate::TooLarge;
use crate::label::{Label, Substitution, Variable};

/// Greatest simulation between live promises in which the stronger side only has additional untils.
pub(super) struct Subsumption {
    /// Promises, and copies of weaker promises.
    relation: Label,
    /// Cube of the copies.
    copies: Label,
    to_copies: Substitution,
}

/// Copies of promises: those after and before a position, and weaker ones.
const AFTER: u32 = 0;
const BEFORE: u32 = SHIFTED;
const WEAKER_AFTER: u32 = 2;
const WEAKER_BEFORE: u32 = 3;

impl Subsumption {
    /// Computes the subsumption. `None` if no promise subsumes another.
    pub(super) fn new(tableau: &mut Tableau, live: &Label) -> Result<Option<Subsumption>, TooLarge> {
        if tableau.postponed.is_empty() {
            return Ok(None);
        }
        let preimage = Preimage::new(tableau)?;
        let to_copies = renaming(tableau, &[(AFTER, WEAKER_AFTER)])?;
        let back = renaming(tableau, &[(BEFORE, AFTER), (WEAKER_BEFORE, WEAKER_AFTER)])?;
        let start = renaming(tableau, &[(AFTER, BEFORE), (WEAKER_AFTER, WEAKER_BEFORE)])?;
        // Related promises are kept by the same letters from the same memories, which determines the memories after them.
        let live_now = preimage.shifted(tableau, live)?;
        let weaker_now = tableau.labels.substitute(&live_now, &to_copies)?;
        let lower = tableau.relations()?;
        let upper = renaming(tableau, &[(AFTER, WEAKER_AFTER), (BEFORE, WEAKER_BEFORE)])?;
        let upper: Vec<Label> =
            lower.iter().map(|part| tableau.labels.substitute(part, &upper)).collect::<Result<_, _>>()?;
        let weaker_after = promises(tableau, WEAKER_AFTER);
        let follow = PartitionedRelation::new(&mut tableau.labels, upper, &weaker_after)?;
        let quantified = position_variables(tableau);
        let fail = PartitionedRelation::new(&mut tableau.labels, lower, &quantified)?;

        let (identity, mut relation) = initial_relations(tableau)?;
        relation = tableau.labels.and(&relation, live)?;
        relation = tableau.labels.and(&relation, &tableau.labels.substitute(live, &to_copies)?)?;
        loop {
            // Positions that the weaker promises permit as well, followed by weaker promises.
            let pairs = tableau.labels.and(&preimage.shifted(tableau, &relation)?, &weaker_now)?;
            let possible = follow.image(&tableau.labels, &pairs)?;
            let impossible = tableau.labels.minus(&live_now, &possible)?;
            let failing = fail.image(&tableau.labels, &impossible)?;
            let before = tableau.labels.substitute(&relation, &start)?;
            let next = tableau.labels.substitute(&tableau.labels.minus(&before, &failing)?, &back)?;
            if next == relation {
                break;
            }
            relation = next;
        }
        if tableau.labels.implies(&relation, &identity)? {
            return Ok(None);
        }
        let copies: Vec<_> = weaker_after.into_iter().map(|variable| (variable, true)).collect();
        let copies = tableau.labels.cube(&copies)?;
        Ok(Some(Subsumption { relation, copies, to_copies }))
    }

    /// Closes a set of promises and memories under stronger promises.
    pub(super) fn close(&self, tableau: &Tableau, set: &Label) -> Result<Label, TooLarge> {
        let copy = tableau.labels.substitute(set, &self.to_copies)?;
        tableau.labels.and_exists(&copy, &self.relation, &self.copies)
    }
}

fn promises(tableau: &Tableau, copy: u32) -> Vec<Variable> {
    tableau.promises.iter().map(|promise| tableau.promise(promise, copy)).collect()
}

/// Returns the identity on promises, and the relation that permits additional untils.
fn initial_relations(tableau: &mut Tableau) -> Result<(Label, Label), TooLarge> {
    let (mut same, mut less) = (tableau.labels.top(), tableau.labels.top());
    for at in (0..tableau.promises.len()).rev() {
        let (is_until, stronger, weaker) = {
            let promise = &tableau.promises[at];
            (promise.is_until, tableau.promise(promise, AFTER), tableau.promise(promise, WEAKER_AFTER))
        };
        let (stronger, weaker) = (tableau.labels.variable(stronger)?, tableau.labels.variable(weaker)?);
        let equal = tableau.labels.iff(&stronger, &weaker)?;
        let added = tableau.labels.or(&tableau.labels.not(&stronger)?, &weaker)?;
        same = tableau.labels.and(&same, &equal)?;
        less = tableau.labels.and(&less, if is_until { &added } else { &equal })?;
    }
    Ok((same, less))
}
