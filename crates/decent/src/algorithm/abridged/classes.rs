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
pub(super) type Cofactors = Vec<Vec<Label>>;

impl ObservationClasses {
    /// Computes the classes that an automaton distinguishes: two letters are equivalent if they leave the same
    /// cofactors of all labels.
    ///
    /// # Errors
    /// Fails if there are too many classes and the component has more than [`MAX_LETTER_BITS`] propositions, or if the
    /// labels exceed the budget.
    pub(super) fn new(
        logic: &mut Logic,
        moore: &Moore<Truth>,
        own: &[(Variable, PropositionId)],
    ) -> Result<(ObservationClasses, Cofactors), SetupError> {
        let labels = moore.edges.iter().flatten().map(|(label, _)| label.clone()).collect();
        let mut nodes: Cofactors = vec![labels];
        let mut layers = Vec::with_capacity(own.len());
        for (variable, proposition) in own {
            let values = [false, true].map(|value| logic.labels.cube(&[(*variable, value)]));
            let [no, yes] = values;
            let values = [no?, yes?];
            let mut found: FxHashMap<Vec<Label>, u32> = FxHashMap::default();
            let mut next = Cofactors::new();
            let mut layer = Vec::with_capacity(nodes.len());
            for labels in &nodes {
                let mut to = [0; 2];
                for (to, value) in to.iter_mut().zip(&values) {
                    let cofactor = labels.iter().map(|label| logic.labels.restrict(label, value));
                    let cofactor: Vec<Label> = cofactor.collect::<Result<_, TooLarge>>()?;
                    *to = *found.entry(cofactor).or_insert_with_key(|cofactor| {
                        next.push(cofactor.clone());
                        next.len() as u32 - 1
                    });
                }
                layer.push(to);
            }
            if next.len() > MAX_CLASSES {
                return ObservationClasses::per_letter(own);
            }
            layers.push((*proposition, layer));
            nodes = next;
        }
        Ok((ObservationClasses::Diagram(layers), nodes))
    }

    /// Makes every letter a class.
    fn per_letter(own: &[(Variable, PropositionId)]) -> Result<(ObservationClasses, Cofactors), SetupError> {
        if own.len() > MAX_LETTER_BITS {
            return Err(TooLarge {
                resource: "propositions of one component whose combinations must be told apart",
                limit: MAX_LETTER_BITS,
            }
            .into());
        }
        Ok((
            ObservationClasses::PerLetter(own.iter().map(|(_, proposition)| *proposition).collect()),
            Cofactors::new(),
        ))
    }

    /// Returns the number of classes, at least one.
    pub(super) fn count(&self) -> u32 {
        match self {
            ObservationClasses::Diagram(layers) => {
                let classes = layers.last().map_or(&[][..], |(_, last)| last).iter().flatten();
                classes.max().map_or(1, |last| last + 1)
            }
            ObservationClasses::PerLetter(own) => 1 << own.len(),
        }
    }

    /// Returns the class of a letter, or `None` if a deciding value is missing.
    pub(super) fn class(&self, seen: &[(PropositionId, bool)]) -> Option<u32> {
        let value = |proposition: PropositionId| {
            seen.iter().find(|(id, _)| *id == proposition).map(|(_, value)| *value)
        };
        match self {
            ObservationClasses::Diagram(layers) => layers.iter().try_fold(0, |node, (proposition, layer)| {
                let [no, yes] = *layer.get(node as usize)?;
                if no == yes {
                    Some(no)
                } else {
                    value(*proposition).map(|value| if value { yes } else { no })
                }
            }),
            ObservationClasses::PerLetter(own) => {
                let bits = own
                    .iter()
                    .enumerate()
                    .map(|(bit, proposition)| u32::from(value(*proposition)?).checked_shl(bit as u32));
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
        let mut nodes = Vec::new();
        let mut unused = labels.top();
        for class in 0..self.count() {
            let number: Vec<(Variable, bool)> =
                bits.iter().enumerate().map(|(bit, variable)| (*variable, class >> bit & 1 == 1)).collect();
            let number = labels.cube(&number)?;
            unused = labels.minus(&unused, &number)?;
            nodes.push(number);
        }
        nodes[0] = labels.or(&nodes[0], &unused)?;
        for (variable, (_, layer)) in own.iter().zip(layers).rev() {
            let variable = labels.variable(*variable)?;
            let chosen = layer
                .iter()
                .map(|[no, yes]| labels.ite(&variable, &nodes[*yes as usize], &nodes[*no as usize]));
            nodes = chosen.collect::<Result<_, _>>()?;
        }
        Ok(nodes[0].clone())
    }
}
