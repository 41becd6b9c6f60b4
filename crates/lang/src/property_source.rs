//! The source of a property, in either of the two property languages.

use crate::prop::picture::Graph;
use crate::{ltl, prop};
use invigil_expr::diag::Sources;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;

/// Syntax tree of a property, in either of the two property languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertySource {
    /// A property file.
    Prop(prop::Property),
    /// A temporal formula.
    Ltl(ltl::Property),
}

impl PropertySource {
    /// Returns the graph of the automaton that it was compiled to.
    pub fn graph(&self, automaton: &Automaton, catalog: &EventCatalog, sources: &Sources) -> Graph {
        match self {
            PropertySource::Prop(property) => {
                prop::explain::explain(property, automaton, catalog, sources).graph()
            }
            PropertySource::Ltl(_) => ltl::graph(automaton, catalog),
        }
    }
}
