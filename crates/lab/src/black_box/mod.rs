//! Black boxes: properties, formulae and scripts that decide every round of a component.
//!
//! A black box receives the observations of its component round by round. Its verdict on the run so far is an
//! observation of the same round: the value of the proposition that stands for the box. It may also be undecided.

mod property;
mod script;

pub use property::PropertyBox;
pub use script::ScriptBox;

use crate::inputs::{Observation, ObservationError, RecordedRun};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;

/// Opaque monitor that decides every round.
pub trait BlackBox: Send {
    /// Resets the box to its state before the first round.
    fn restart(&mut self);

    /// Processes the observations of the next round, from 1, and returns the verdict.
    ///
    /// # Errors
    /// Fails if the box cannot continue, with the location in its source.
    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, ObservationError>;
}

/// The black boxes of a specification.
#[derive(Default)]
pub struct BlackBoxes {
    all: Vec<PlacedBox>,
}

struct PlacedBox {
    component: ComponentId,
    /// Proposition for its verdict.
    proposition: PropositionId,
    /// Name of the proposition.
    name: String,
    /// The last round that it has processed.
    round: u32,
    engine: Box<dyn BlackBox>,
}

impl BlackBoxes {
    /// Adds a box whose verdict is observed as a proposition.
    pub fn add(&mut self, system: &System, proposition: PropositionId, engine: impl BlackBox + 'static) {
        self.all.push(PlacedBox {
            component: system.owner(proposition),
            proposition,
            name: system.proposition_name(proposition).to_owned(),
            round: 0,
            engine: Box::new(engine),
        });
    }

    /// Returns whether there are no boxes.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Runs a round of a component: adds the verdicts of its boxes to its observations.
    ///
    /// # Errors
    /// Fails if a box cannot continue, or if its proposition was observed by other means.
    pub fn observe(
        &mut self,
        component: ComponentId,
        seen: &mut Vec<Observation>,
    ) -> Result<(), ObservationError> {
        let observed = seen.len();
        for placed in self.all.iter_mut().filter(|placed| placed.component == component) {
            placed.round += 1;
            if seen[..observed].iter().any(|(known, _)| *known == placed.proposition) {
                let message = format!(
                    "`{}` is the verdict of a black box and cannot be observed: remove it",
                    placed.name
                );
                return Err(ObservationError::new(format_args!("round {}", placed.round), message));
            }
            match placed.engine.round(placed.round, &seen[..observed])? {
                Truth::True => seen.push((placed.proposition, true)),
                Truth::False => seen.push((placed.proposition, false)),
                Truth::Unknown => {}
            }
        }
        Ok(())
    }

    /// Runs all rounds of a recorded run.
    ///
    /// # Errors
    /// Fails like [`BlackBoxes::observe`].
    pub fn run(&mut self, run: &mut RecordedRun) -> Result<(), ObservationError> {
        for placed in &mut self.all {
            placed.round = 0;
            placed.engine.restart();
        }
        for (component, rounds) in (0..).map(ComponentId).zip(run) {
            for seen in rounds {
                self.observe(component, seen)?;
            }
        }
        Ok(())
    }
}

/// Returns the value of a proposition in a round, as monitors represent it.
fn value(seen: &[Observation], proposition: PropositionId) -> Value {
    let known = seen.iter().rev().find(|(known, _)| *known == proposition);
    known.map_or(Value::UNSET, |(_, value)| if *value { Value::TRUE } else { Value::FALSE })
}

/// Names that a component observes, for messages. Boxes do not receive the verdicts of other boxes.
struct ComponentNames<'a> {
    system: &'a System,
    component: ComponentId,
    /// What the box receives besides propositions.
    other_inputs: &'static str,
}

impl ComponentNames<'_> {
    fn observed_names(&self) -> impl Iterator<Item = &str> {
        let propositions = self.system.propositions().filter(|id| self.system.owner(*id) == self.component);
        propositions.map(|id| self.system.proposition_name(id)).filter(|name| !name.starts_with('@'))
    }

    fn find(&self, name: &str) -> Option<PropositionId> {
        let is_observed =
            |id: &PropositionId| self.system.owner(*id) == self.component && !name.starts_with('@');
        self.system.find_proposition(name).filter(is_observed)
    }

    /// Creates the diagnostic for an unknown name.
    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let component = self.system.component_name(self.component);
        let diagnostic = Diagnostic::error(span, format!("{component} does not observe `{name}`"));
        if let Some(near) = nearest(name, self.observed_names()) {
            return diagnostic.help(format!("did you mean `{near}`?"));
        }
        let names: Vec<String> = self.observed_names().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        diagnostic
            .help(format!("a black box receives what its component observes: {names}{}", self.other_inputs))
    }
}
