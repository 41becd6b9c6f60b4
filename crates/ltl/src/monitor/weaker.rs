//! Which promises are weaker than others, if fairness is forgotten.
//!
//! A bad prefix does not show that an until waits for ever. So `G(a -> F b)` with a `b` pending allows the same
//! prefixes as without, and monitors of many responses must not remember what is pending. Where weaker promises
//! allow all that others do, sets of promises are the same with and without the others.

use super::live::{Before, instant};
use super::relation::{Relation, renaming};
use super::tableau::{OTHER, Tableau};
use crate::TooLarge;
use crate::label::{Label, Substitution, Variable};

/// The greatest simulation between live promises in which only untils are added.
pub(super) struct Weaker {
    /// Promises, and copies that are weaker.
    relation: Label,
    /// The copies.
    copies: Label,
    to_copies: Substitution,
}

/// The copies of promises used here: the promises before and after an instant, and weaker ones.
const AFTER: u32 = 0;
const BEFORE: u32 = OTHER;
const WEAKER_AFTER: u32 = 2;
const WEAKER_BEFORE: u32 = 3;

impl Weaker {
    /// None if no promise is weaker than another.
    pub(super) fn new(tableau: &mut Tableau, live: &Label) -> Result<Option<Weaker>, TooLarge> {
        if tableau.waiting.is_empty() {
            return Ok(None);
        }
        let before = Before::new(tableau)?;
        let to_copies = renaming(tableau, &[(AFTER, WEAKER_AFTER)])?;
        let back = renaming(tableau, &[(BEFORE, AFTER), (WEAKER_BEFORE, WEAKER_AFTER)])?;
        let start = renaming(tableau, &[(AFTER, BEFORE), (WEAKER_AFTER, WEAKER_BEFORE)])?;
        // At an instant before which both stand the letter and the memories are the same, and so must be the
        // memories after it.
        let live_now = before.then(tableau, live)?;
        let weaker_now = tableau.labels.substitute(&live_now, &to_copies)?;
        let lower = tableau.relations()?;
        let upper = renaming(tableau, &[(AFTER, WEAKER_AFTER), (BEFORE, WEAKER_BEFORE)])?;
        let upper: Vec<Label> =
            lower.iter().map(|part| tableau.labels.substitute(part, &upper)).collect::<Result<_, _>>()?;
        let weaker_after = promises(tableau, WEAKER_AFTER);
        let follow = Relation::new(&mut tableau.labels, upper, &weaker_after)?;
        let away = instant(tableau);
        let fail = Relation::new(&mut tableau.labels, lower, &away)?;

        let (identity, mut relation) = ordered(tableau)?;
        relation = tableau.labels.and(&relation, live)?;
        relation = tableau.labels.and(&relation, &tableau.labels.substitute(live, &to_copies)?)?;
        loop {
            // Instants that the weaker promises can have, too, with promises that are weaker after it.
            let pairs = tableau.labels.and(&before.then(tableau, &relation)?, &weaker_now)?;
            let possible = follow.apply(&tableau.labels, &pairs)?;
            let impossible = tableau.labels.minus(&live_now, &possible)?;
            let failing = fail.apply(&tableau.labels, &impossible)?;
            let here = tableau.labels.substitute(&relation, &start)?;
            let next = tableau.labels.substitute(&tableau.labels.minus(&here, &failing)?, &back)?;
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
        Ok(Some(Weaker { relation, copies, to_copies }))
    }

    /// A set of promises (and memories) and all that are stronger than one of them.
    pub(super) fn close(&self, tableau: &Tableau, set: &Label) -> Result<Label, TooLarge> {
        let copy = tableau.labels.substitute(set, &self.to_copies)?;
        tableau.labels.exists_both(&copy, &self.relation, &self.copies)
    }
}

fn promises(tableau: &Tableau, copy: u32) -> Vec<Variable> {
    tableau.promises.iter().map(|promise| tableau.promise(promise, copy)).collect()
}

/// Promises that are the same, and promises that are the same but for untils that were added.
fn ordered(tableau: &mut Tableau) -> Result<(Label, Label), TooLarge> {
    let (mut same, mut less) = (tableau.labels.top(), tableau.labels.top());
    for at in (0..tableau.promises.len()).rev() {
        let (is_until, here, there) = {
            let promise = &tableau.promises[at];
            (promise.is_until, tableau.promise(promise, AFTER), tableau.promise(promise, WEAKER_AFTER))
        };
        let (here, there) = (tableau.labels.variable(here)?, tableau.labels.variable(there)?);
        let equal = tableau.labels.same(&here, &there)?;
        let added = tableau.labels.or(&tableau.labels.not(&here)?, &there)?;
        same = tableau.labels.and(&same, &equal)?;
        less = tableau.labels.and(&less, if is_until { &added } else { &equal })?;
    }
    Ok((same, less))
}
