//! Classes of the letters that a component can observe.

// Labels are compared and hashed by identity; only their reference counts are mutable.
#![allow(clippy::mutable_key_type)]

use crate::algorithm::SetupError;
use crate::system::PropositionId;
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Logic, TooLarge};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum number of classes; beyond it every letter is its own class.
const MAX_CLASSES: usize = 1 << 10;

/// Maximum number of propositions of a component if every letter is its own class.
const MAX_LETTER_BITS: usize = 31;

/// Classification of letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ObservationClasses {
    /// Layered decision diagram: for each proposition and node, the nodes of the next layer for false and true. The
    /// nodes of the last layer are the classes.
    Diagram(Vec<(PropositionId, Vec<[u32; 2]>)>),
    /// Every letter is a class; its number has one bit per proposition.
    PerLetter(Vec<PropositionId>),
}

/// Cofactors of the labels of all edges, state by state, for each class. Empty if every letter is a class.
pub(super) type ResidualLabels = Vec<Vec<Label>>;

impl ObservationClasses {
    /// Computes the classes that an automaton distinguishes: two letters are equivalent if they leave the same
    /// cofactors of all labels.
    ///
    /// # Errors
    /// Fails if there are too many classes.
    pub(super) fn new(
        logic: &mut Logic,
        moore: &Moore<Truth>,
        own: &[(Variable, PropositionId)],
    ) -> Result<(ObservationClasses, ResidualLabels), SetupError> {
        let labels = moore.edges.iter().flatten().map(|(label, _)| label.clone()).collect();
        let mut places: ResidualLabels = vec![labels];
        let mut layers = Vec::with_capacity(own.len());
        for (variable, known) in own {
            let values = [false, true].map(|value| logic.labels.cube(&[(*variable, value)]));
            let [no, yes] = values;
            let values = [no?, yes?];
            let mut found: FxHashMap<Vec<Label>, u32> = FxHashMap::default();
            let mut next = ResidualLabels::new();
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
            if next.len() > MAX_CLASSES {
                return ObservationClasses::letters(own);
            }
            layers.push((*known, layer));
            places = next;
        }
        Ok((ObservationClasses::Diagram(layers), places))
    }

    fn letters(
        own: &[(Variable, PropositionId)],
    ) -> Result<(ObservationClasses, ResidualLabels), SetupError> {
        if own.len() > MAX_LETTER_BITS {
            return Err(TooLarge {
                what: "propositions of a component that matter one by one",
                limit: MAX_LETTER_BITS,
            }
            .into());
        }
        Ok((
            ObservationClasses::PerLetter(own.iter().map(|(_, known)| *known).collect()),
            ResidualLabels::new(),
        ))
    }

    /// Returns the number of classes, at least one.
    pub(super) fn count(&self) -> u32 {
        match self {
            ObservationClasses::Diagram(layers) => {
                let places = layers.last().map_or(&[][..], |(_, last)| last).iter().flatten();
                places.max().map_or(1, |last| last + 1)
            }
            ObservationClasses::PerLetter(own) => 1 << own.len(),
        }
    }

    /// Returns the class of a letter, or `None` if a deciding value is missing.
    pub(super) fn class(&self, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let value =
            |wanted: PropositionId| seen.iter().find(|(known, _)| *known == wanted).map(|(_, value)| *value);
        match self {
            ObservationClasses::Diagram(layers) => layers.iter().try_fold(0, |place, (known, layer)| {
                let [no, yes] = *layer.get(place as usize)?;
                if no == yes { Some(no) } else { value(*known).map(|value| if value { yes } else { no }) }
            }),
            ObservationClasses::PerLetter(own) => {
                let bits = own
                    .iter()
                    .enumerate()
                    .map(|(bit, known)| u32::from(value(*known)?).checked_shl(bit as u32));
                bits.sum()
            }
        }
    }

    /// Returns the relation between letters over the `own` variables and the bits of their class. Unused numbers stand
    /// for the first class, so that the relation is total.
    ///
    /// # Errors
    /// Fails if the relation exceeds the budget.
    pub(super) fn relation(
        &self,
        logic: &mut Logic,
        own: &[Variable],
        bits: &[Variable],
    ) -> Result<Label, TooLarge> {
        let labels = &mut logic.labels;
        let ObservationClasses::Diagram(layers) = self else {
            let mut all = labels.top();
            for (own, bit) in own.iter().zip(bits) {
                let (own, bit) = (labels.variable(*own)?, labels.variable(*bit)?);
                all = labels.and(&all, &labels.iff(&own, &bit)?)?;
            }
            return Ok(all);
        };
        let mut places = Vec::new();
        let mut other = labels.top();
        for class in 0..self.count() {
            let number: Vec<(Variable, bool)> =
                bits.iter().enumerate().map(|(bit, variable)| (*variable, class >> bit & 1 == 1)).collect();
            let number = labels.cube(&number)?;
            other = labels.minus(&other, &number)?;
            places.push(number);
        }
        places[0] = labels.or(&places[0], &other)?;
        for (variable, (_, layer)) in own.iter().zip(layers).rev() {
            let variable = labels.variable(*variable)?;
            let chosen = layer
                .iter()
                .map(|[no, yes]| labels.ite(&variable, &places[*yes as usize], &places[*no as usize]));
            places = chosen.collect::<Result<_, _>>()?;
        }
        Ok(places[0].clone())
    }
}
