//! Summary of a property as plain data, for reports and graphs.
//!
//! ```
//! use invigil_expr::diag::Sources;
//! use invigil_lang::prop;
//! use invigil_monitor::event::EventCatalog;
//!
//! let text = "state init accepting {
//!     transition { event close(file) success closed }
//! }
//! state closed accepting {
//!     transition { event write(file, size) { return size == 0 } failure bad }
//! }
//! state bad non-accepting
//! ";
//! let (mut sources, mut catalog) = (Sources::default(), EventCatalog::default());
//! let file = sources.add("file.prop", text);
//! let (property, _) = prop::parse(file, text);
//! let (automaton, _) = prop::lower::lower("file", &property, &[], &mut catalog);
//! let summary = prop::explain::explain(&property, &automaton.unwrap(), &catalog, &sources);
//!
//! let closed = summary.state("closed").unwrap();
//! assert_eq!(closed.needs[0].to_string(), "write(size)");
//! assert_eq!(closed.transitions[0].place, "file.prop:5");
//! assert!(summary.state("bad").unwrap().is_settled);
//! assert!(summary.graph().to_dot().contains("\"closed\" -> \"bad\""));
//! ```

mod graph;
mod lint;
mod reachability;
mod summary;

use super::ast::Property;
use invigil_expr::diag::Sources;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::verdict::Verdict;
use std::fmt;

/// Summary of a property.
///
/// Guards are not analysed: reachability and the other analyses assume that each guard can be both true and
/// false.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The property's name.
    pub name: String,
    /// The slice parameters.
    pub slice_on: Vec<String>,
    /// The events that the property reacts to.
    pub events: Vec<EventInfo>,
    /// The variables of its environment.
    pub variables: Vec<Variable>,
    /// The states, in source order.
    pub states: Vec<StateInfo>,
    /// The transitions that are never taken because of earlier ones.
    pub shadowed: Vec<ShadowedTransition>,
    /// Whether a non-accepting state is reachable.
    pub can_be_violated: bool,
    /// Whether from every reachable state some continuation settles the verdict.
    pub is_monitorable: bool,
    /// Hints for the author of the property.
    pub lints: Vec<Lint>,
}

/// An event that a property reacts to, with the parameters that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct EventInfo {
    /// The event, such as `queue_push` or `write s`.
    pub event: String,
    /// The parameters that the target has to supply.
    pub parameters: Vec<ParameterInfo>,
}

/// A needed parameter of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterInfo {
    /// The name in the property.
    pub name: String,
    /// Its source, in the syntax of properties.
    pub source: String,
    /// The required type.
    pub ty: Option<&'static str>,
    /// The slice parameter that it binds.
    pub binds: Option<String>,
    /// Whether a block reads it.
    pub is_read: bool,
}

/// A variable of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The value before the first event; none if the initialization does not set it.
    pub value: Option<String>,
}

/// A state of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct StateInfo {
    /// Its name.
    pub name: String,
    /// The verdict in this state.
    pub verdict: Verdict,
    /// Whether it is the initial state.
    pub is_initial: bool,
    /// Whether slices that enter it are dropped.
    pub is_final: bool,
    /// The call made on entry.
    pub action: Option<String>,
    /// Whether some sequence of events leads to it.
    pub is_reachable: bool,
    /// Whether the verdict is final here: no reachable state has another one.
    pub is_settled: bool,
    /// The events needed while a slice is in this state.
    pub needs: Vec<NeededEvent>,
    /// The transitions, in the order in which they are tried.
    pub transitions: Vec<TransitionInfo>,
    /// Its position, as `file:line`.
    pub place: String,
}

/// An event that a state needs. Displayed as `queue_push(queue)`.
#[derive(Clone, Debug, PartialEq)]
pub struct NeededEvent {
    /// The event.
    pub event: String,
    /// The parameters that the state's transitions read, and those that select the slice.
    pub parameters: Vec<String>,
}

impl fmt::Display for NeededEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event)?;
        match &self.parameters[..] {
            [] => Ok(()),
            parameters => write!(f, "({})", parameters.join(", ")),
        }
    }
}

/// A transition, seen from the state that it leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionInfo {
    /// The event, with the parameters that the transition reads.
    pub event: NeededEvent,
    /// The guard.
    pub guard: Option<GuardInfo>,
    /// The branch taken if the guard is true or absent; without it, the next transition is tried.
    pub success: Option<BranchInfo>,
    /// The branch for a false guard; without it, the next transition is tried.
    pub failure: Option<BranchInfo>,
    /// The state from which the transition was imported.
    pub imported_from: Option<String>,
    /// Whether it can be taken: it is not shadowed and does not leave a final state.
    pub is_live: bool,
    /// Its position, as `file:line`.
    pub place: String,
}

/// The guard of a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardInfo {
    /// The block.
    pub text: String,
    /// Whether the block has no `return`: it then only updates variables and counts as true.
    pub is_update: bool,
}

/// A branch of a transition.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchInfo {
    /// The block that it runs.
    pub block: Option<String>,
    /// Its call.
    pub action: Option<String>,
    /// The next state; without one, the state does not change.
    pub target: Option<String>,
    /// Further states that its block may return.
    pub returns: Vec<String>,
}

/// A transition that is never taken because of an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowedTransition {
    /// The state that both leave.
    pub state: String,
    /// The event that both are for.
    pub event: String,
    /// Its position, as `file:line`.
    pub place: String,
    /// The position of the earlier transition.
    pub by: String,
    /// Whether the earlier one has the same condition and both branches; otherwise it is always taken.
    pub same_condition: bool,
}

/// A hint for the author of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Lint {
    /// How severe it is.
    pub level: LintLevel,
    /// The message.
    pub text: String,
    /// The position as `file:line`, if it concerns a single one.
    pub place: Option<String>,
}

/// How severe a [`Lint`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintLevel {
    /// Information.
    Note,
    /// Probably an error.
    Warning,
}

impl LintLevel {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            LintLevel::Note => "note",
            LintLevel::Warning => "warning",
        }
    }
}

/// Explains `automaton`, which was compiled from `property`.
///
/// The texts of blocks come from `property`; `sources` has to contain its file. See the module for an example.
pub fn explain(
    property: &Property,
    automaton: &Automaton,
    catalog: &EventCatalog,
    sources: &Sources,
) -> Explanation {
    summary::summarize(property, automaton, catalog, sources)
}

impl Explanation {
    /// Returns the state of this name.
    pub fn state(&self, name: &str) -> Option<&StateInfo> {
        self.states.iter().find(|state| state.name == name)
    }

    /// Returns the states that no sequence of events leads to.
    pub fn unreachable(&self) -> impl Iterator<Item = &StateInfo> {
        self.states.iter().filter(|state| !state.is_reachable)
    }
}
