//! What a property says, as plain data for a report or a picture.
//!
//! ```
//! use invigil_expr::diag::Sources;
//! use invigil_lang::prop;
//! use invigil_monitor::event::Catalog;
//!
//! let text = "state init accepting {
//!     transition { event close(file) success closed }
//! }
//! state closed accepting {
//!     transition { event write(file, size) { return size == 0 } failure bad }
//! }
//! state bad non-accepting
//! ";
//! let (mut sources, mut catalog) = (Sources::default(), Catalog::default());
//! let file = sources.add("file.prop", text);
//! let (property, _) = prop::parse(file, text);
//! let (automaton, _) = prop::lower::lower("file", &property, &[], &mut catalog);
//! let said = prop::explain::explain(&property, &automaton.unwrap(), &catalog, &sources);
//!
//! let closed = said.state("closed").unwrap();
//! assert_eq!(closed.needs[0].to_string(), "write(size)");
//! assert_eq!(closed.transitions[0].place, "file.prop:5");
//! assert!(said.state("bad").unwrap().is_settled);
//! assert!(said.graph().to_dot().contains("\"closed\" -> \"bad\""));
//! ```

mod drawing;
mod reach;
mod reading;
mod remark;

use super::ast::Property;
use invigil_expr::diag::Sources;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_monitor::verdict::Verdict;
use std::fmt;

/// What a property says.
///
/// Whether a guard can be true is not looked into: "reachable" and the like take every guard for one that
/// can go either way.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The property's name.
    pub name: String,
    /// The parameters that it slices on.
    pub slice_on: Vec<String>,
    /// The events that it knows.
    pub events: Vec<EventUse>,
    /// What it remembers, one set for each slice.
    pub variables: Vec<Variable>,
    /// Its states, in the order written.
    pub states: Vec<StateUse>,
    /// The transitions that are never taken because of others before them.
    pub shadowed: Vec<Shadowed>,
    /// Whether a non-accepting state is reachable.
    pub can_be_violated: bool,
    /// Whether, whatever has happened, some further events settle the verdict for good.
    pub is_monitorable: bool,
    /// What its author may want to know.
    pub remarks: Vec<Remark>,
}

/// An event that a property knows, with what it asks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventUse {
    /// The event, such as `queue_push` or `write s`.
    pub event: String,
    /// The parameters that a subject must give with it.
    pub parameters: Vec<ParameterUse>,
}

/// A parameter of an event that a property makes use of.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterUse {
    /// What the property calls it.
    pub name: String,
    /// Where it comes from, as it is written in a property.
    pub source: String,
    /// The type that it must have.
    pub ty: Option<&'static str>,
    /// The slice parameter that it gives a value to.
    pub binds: Option<String>,
    /// Whether a block reads it.
    pub is_read: bool,
}

/// Something that a property remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value before any event; none if the initialization does not set it.
    pub value: Option<String>,
}

/// A state of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct StateUse {
    /// Its name.
    pub name: String,
    /// What being in it means.
    pub verdict: Verdict,
    /// Whether the property starts in it.
    pub is_initial: bool,
    /// Whether a slice that enters it is forgotten.
    pub is_final: bool,
    /// What it calls when it is entered.
    pub action: Option<String>,
    /// Whether some events lead to it.
    pub is_reachable: bool,
    /// Whether the verdict stays what it is once a slice got here: no state with another one can be reached.
    pub is_settled: bool,
    /// The events that are needed while a slice is in it.
    pub needs: Vec<Need>,
    /// Its transitions, in the order in which they are tried.
    pub transitions: Vec<TransitionUse>,
    /// Where it is written, as `file:line`.
    pub place: String,
}

/// An event that a state needs; displayed as `queue_push(queue)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The event.
    pub event: String,
    /// The parameters that the state's transitions read or that choose the slice.
    pub parameters: Vec<String>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event)?;
        match &self.parameters[..] {
            [] => Ok(()),
            parameters => write!(f, "({})", parameters.join(", ")),
        }
    }
}

/// A transition in the state that it leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionUse {
    /// The event that it is for, with the parameters that matter to it.
    pub event: Need,
    /// What decides on it.
    pub guard: Option<GuardUse>,
    /// What follows when the guard is true, or there is none; without it, the next transition is tried.
    pub success: Option<EndUse>,
    /// What follows when the guard is false; without it, the next transition is tried.
    pub failure: Option<EndUse>,
    /// The state that it was taken over from with `import`.
    pub taken_from: Option<String>,
    /// Whether it can be taken at all: neither shadowed, nor in a final state.
    pub is_live: bool,
    /// Where it is written, as `file:line`.
    pub place: String,
}

/// A block that decides on a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardUse {
    /// The block.
    pub text: String,
    /// Whether it has no `return`: then it changes what is remembered, and counts as true.
    pub is_update: bool,
}

/// An end of a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct EndUse {
    /// The block that it runs.
    pub block: Option<String>,
    /// What it calls.
    pub action: Option<String>,
    /// The state it goes to; without one it stays.
    pub target: Option<String>,
    /// The other states that its block may return.
    pub returns: Vec<String>,
}

/// A transition that is never taken because of another before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shadowed {
    /// The state that both leave.
    pub state: String,
    /// The event that both are for.
    pub event: String,
    /// Where it is written, as `file:line`.
    pub place: String,
    /// Where the one before it is written.
    pub by: String,
    /// Whether the one before it decides by the same condition, both ways; else it always is taken.
    pub same_condition: bool,
}

/// Something that the author of a property may want to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// How much it matters.
    pub weight: Weight,
    /// The words.
    pub text: String,
    /// Where, as `file:line`, if it is about one place.
    pub place: Option<String>,
}

/// How much a [`Remark`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Good to know.
    Note,
    /// Likely a mistake.
    Warning,
}

impl Weight {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Weight::Note => "note",
            Weight::Warning => "warning",
        }
    }
}

/// Explains `automaton`, which `property` was compiled to.
///
/// The texts of blocks are those of `property`; `sources` holds the file that it was read from. See the
/// module for an example.
pub fn explain(
    property: &Property,
    automaton: &Automaton,
    catalog: &Catalog,
    sources: &Sources,
) -> Explanation {
    reading::read(property, automaton, catalog, sources)
}

impl Explanation {
    /// The state of this name.
    pub fn state(&self, name: &str) -> Option<&StateUse> {
        self.states.iter().find(|state| state.name == name)
    }

    /// The states that no events lead to.
    pub fn unreachable(&self) -> impl Iterator<Item = &StateUse> {
        self.states.iter().filter(|state| !state.is_reachable)
    }
}
