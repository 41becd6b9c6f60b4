//! Black boxes: properties, formulae and scripts that say true or false for every round of a component.
//!
//! A box is told what its component observes, round by round. What it says after a round, whether what it is about holds of the
//! run so far, is an observation of the same round: that of the proposition that stands for the box. It may say nothing, too.

mod property;
mod script;

pub use property::Property;
pub use script::Script;

use crate::periphery::{Observation, Run, Trouble};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Span, nearest};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;

/// Something that says true or false of every round.
pub trait BlackBox: Send {
    /// Forgets all rounds.
    fn restart(&mut self);

    /// What was observed in the next round; the first is 1. Gives what it says then.
    ///
    /// # Errors
    /// If it cannot go on: where in it, and why.
    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, Trouble>;
}

/// The black boxes of a specification.
#[derive(Default)]
pub struct Boxes {
    all: Vec<Placed>,
}

struct Placed {
    component: ComponentId,
    /// What it says is observed as this.
    says: PropositionId,
    /// What the proposition is called.
    name: String,
    at: u32,
    engine: Box<dyn BlackBox>,
}

impl Boxes {
    /// Adds a box, which says a proposition of its component.
    pub fn add(&mut self, system: &System, says: PropositionId, engine: impl BlackBox + 'static) {
        self.all.push(Placed {
            component: system.owner(says),
            says,
            name: system.name(says).to_owned(),
            at: 0,
            engine: Box::new(engine),
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A round of a component: what its boxes say is added to what it observed.
    ///
    /// # Errors
    /// If a box cannot go on, or if what it says was observed already.
    pub fn observe(&mut self, component: ComponentId, seen: &mut Vec<Observation>) -> Result<(), Trouble> {
        let observed = seen.len();
        for placed in self.all.iter_mut().filter(|placed| placed.component == component) {
            placed.at += 1;
            if seen[..observed].iter().any(|(known, _)| *known == placed.says) {
                let words = format!("what the black box says is observed, too: leave `{}` out", placed.name);
                return Err(Trouble::new(format_args!("round {}", placed.at), words));
            }
            match placed.engine.round(placed.at, &seen[..observed])? {
                Truth::True => seen.push((placed.says, true)),
                Truth::False => seen.push((placed.says, false)),
                Truth::Unknown => {}
            }
        }
        Ok(())
    }

    /// All rounds of a run, from the first.
    ///
    /// # Errors
    /// As for [`Boxes::observe`].
    pub fn run(&mut self, run: &mut Run) -> Result<(), Trouble> {
        for placed in &mut self.all {
            placed.at = 0;
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

/// The value of a proposition in a round, as monitors have it.
fn value(seen: &[Observation], proposition: PropositionId) -> Value {
    let known = seen.iter().rev().find(|(known, _)| *known == proposition);
    known.map_or(Value::UNSET, |(_, value)| if *value { Value::TRUE } else { Value::FALSE })
}

/// What a component observes, for messages: boxes are not told what other boxes say.
struct Observed<'a> {
    system: &'a System,
    component: ComponentId,
    /// What the box is told besides propositions.
    also: &'static str,
}

impl Observed<'_> {
    fn own(&self) -> impl Iterator<Item = &str> {
        let own = self.system.propositions().filter(|id| self.system.owner(*id) == self.component);
        own.map(|id| self.system.name(id)).filter(|name| !name.starts_with('@'))
    }

    fn find(&self, name: &str) -> Option<PropositionId> {
        let own = |id: &PropositionId| self.system.owner(*id) == self.component && !name.starts_with('@');
        self.system.find(name).filter(own)
    }

    /// That something is not observed.
    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let component = self.system.component_name(self.component);
        let problem =
            Diagnostic::error(span, format!("{component} observes nothing that is called `{name}`"));
        if let Some(near) = nearest(name, self.own()) {
            return problem.help(format!("did you mean `{near}`?"));
        }
        let own: Vec<String> = self.own().map(|name| format!("`{name}`")).collect();
        let own = if own.is_empty() { "nothing".to_owned() } else { own.join(", ") };
        problem.help(format!("a black box is told what its component observes: {own}{}", self.also))
    }
}
