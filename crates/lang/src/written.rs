//! A property as it is written, in whichever language that is.

use crate::prop::picture::Graph;
use crate::{ltl, prop};
use invigil_expr::diag::Sources;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;

/// A property as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// In the property language.
    Prop(prop::Property),
    /// As a formula.
    Ltl(ltl::Property),
}

impl Written {
    /// A picture of the automaton that it was compiled to.
    pub fn graph(&self, automaton: &Automaton, catalog: &Catalog, sources: &Sources) -> Graph {
        match self {
            Written::Prop(property) => prop::explain::explain(property, automaton, catalog, sources).graph(),
            Written::Ltl(_) => ltl::graph(automaton, catalog),
        }
    }
}
