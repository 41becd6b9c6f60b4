//! The kinds of letters that a component can observe.

// Labels are compared and hashed by identity; what changes inside them is the count of their users.
#![allow(clippy::mutable_key_type)]

use crate::algorithm::NoSetup;
use crate::system::PropositionId;
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Logic, TooLarge};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// More kinds than this are not looked for: then every letter is one.
const MANY: usize = 1 << 10;

/// How many propositions of a component may be told apart one by one.
const WIDE: usize = 31;

/// How the kind of a letter is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kinds {
    /// By deciding on one proposition after the other: for each, where it goes from each place if it is false, and if it is true.
    /// The last places are the kinds.
    Decided(Vec<(PropositionId, Vec<[u32; 2]>)>),
    /// Each letter is one; its number has one bit for each proposition.
    Letters(Vec<PropositionId>),
}

/// What is left of the labels of all edges, one state after the other, for each kind of letter. Nothing if each letter is one.
pub(super) type Left = Vec<Vec<Label>>;

impl Kinds {
    /// The kinds that an automaton tells apart. Two letters are of one kind if the same is left of all labels.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn new(
        logic: &mut Logic,
        moore: &Moore<Truth>,
        own: &[(Variable, PropositionId)],
    ) -> Result<(Kinds, Left), NoSetup> {
        let labels = moore.edges.iter().flatten().map(|(label, _)| label.clone()).collect();
        let mut places: Left = vec![labels];
        let mut layers = Vec::with_capacity(own.len());
        for (variable, known) in own {
            let values = [false, true].map(|value| logic.labels.cube(&[(*variable, value)]));
            let [no, yes] = values;
            let values = [no?, yes?];
            let mut found: FxHashMap<Vec<Label>, u32> = FxHashMap::default();
            let mut next = Left::new();
            let mut layer = Vec::with_capacity(places.len());
            for labels in &places {
                let mut to = [0; 2];
                for (to, value) in to.iter_mut().zip(&values) {
                    let left = labels.iter().map(|label| logic.labels.restrict(label, value));
                    let left: Vec<Label> = left.collect::<Result<_, TooLarge>>()?;
                    *to = *found.entry(left).or_insert_with_key(|left| {
                        next.push(left.clone());
                        next.len() as u32 - 1
                    });
                }
                layer.push(to);
            }
            if next.len() > MANY {
                return Kinds::letters(own);
            }
            layers.push((*known, layer));
            places = next;
        }
        Ok((Kinds::Decided(layers), places))
    }

    fn letters(own: &[(Variable, PropositionId)]) -> Result<(Kinds, Left), NoSetup> {
        if own.len() > WIDE {
            return Err(
                TooLarge { what: "propositions of a component that matter one by one", limit: WIDE }.into()
            );
        }
        Ok((Kinds::Letters(own.iter().map(|(_, known)| *known).collect()), Left::new()))
    }

    /// How many there are, at least one.
    pub(super) fn count(&self) -> u32 {
        match self {
            Kinds::Decided(layers) => {
                let places = layers.last().map_or(&[][..], |(_, last)| last).iter().flatten();
                places.max().map_or(1, |last| last + 1)
            }
            Kinds::Letters(own) => 1 << own.len(),
        }
    }

    /// The kind of a letter. None if something that decides is missing.
    pub(super) fn kind(&self, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let value =
            |wanted: PropositionId| seen.iter().find(|(known, _)| *known == wanted).map(|(_, value)| *value);
        match self {
            Kinds::Decided(layers) => layers.iter().try_fold(0, |place, (known, layer)| {
                let [no, yes] = *layer.get(place as usize)?;
                if no == yes { Some(no) } else { value(*known).map(|value| if value { yes } else { no }) }
            }),
            Kinds::Letters(own) => {
                let bits = own
                    .iter()
                    .enumerate()
                    .map(|(bit, known)| u32::from(value(*known)?).checked_shl(bit as u32));
                bits.sum()
            }
        }
    }

    /// What a letter over the `own` variables has to do with the bits of its kind. Numbers that are no kind mean the first one, so
    /// that something is true of every number.
    ///
    /// # Errors
    /// If there is no room.
    pub(super) fn relation(
        &self,
        logic: &mut Logic,
        own: &[Variable],
        bits: &[Variable],
    ) -> Result<Label, TooLarge> {
        let labels = &mut logic.labels;
        let Kinds::Decided(layers) = self else {
            let mut all = labels.top();
            for (own, bit) in own.iter().zip(bits) {
                let (own, bit) = (labels.variable(*own)?, labels.variable(*bit)?);
                all = labels.and(&all, &labels.same(&own, &bit)?)?;
            }
            return Ok(all);
        };
        let mut places = Vec::new();
        let mut other = labels.top();
        for kind in 0..self.count() {
            let number: Vec<(Variable, bool)> =
                bits.iter().enumerate().map(|(bit, variable)| (*variable, kind >> bit & 1 == 1)).collect();
            let number = labels.cube(&number)?;
            other = labels.minus(&other, &number)?;
            places.push(number);
        }
        places[0] = labels.or(&places[0], &other)?;
        for (variable, (_, layer)) in own.iter().zip(layers).rev() {
            let variable = labels.variable(*variable)?;
            let chosen = layer
                .iter()
                .map(|[no, yes]| labels.choose(&variable, &places[*yes as usize], &places[*no as usize]));
            places = chosen.collect::<Result<_, _>>()?;
        }
        Ok(places[0].clone())
    }
}
