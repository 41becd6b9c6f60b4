//! Raw syntax tree of a decentralized specification. Names are not resolved.

use super::parser::nearest_help;
use super::report;
use super::text::Text;
use invigil_decent::spec::{AutomatonSpec, EdgeSpec, StateSpec};
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::SyntaxTree;
use std::collections::HashMap;

/// A name with its position.
pub(crate) type LocatedName = (String, Span);

/// A specification file.
#[derive(Clone, Debug)]
pub(crate) struct RawSpecification {
    pub(crate) source: SourceId,
    /// The system, if it is defined elsewhere.
    pub(crate) system: Option<System>,
    pub(crate) components: Vec<RawComponent>,
    pub(crate) links: Vec<(LocatedName, LocatedName)>,
    pub(crate) monitors: Vec<RawMonitor>,
    pub(crate) root: Option<LocatedName>,
}

impl RawSpecification {
    pub(crate) fn new(source: SourceId) -> RawSpecification {
        RawSpecification {
            source,
            system: None,
            components: Vec::new(),
            links: Vec::new(),
            monitors: Vec::new(),
            root: None,
        }
    }
}

/// A component and its propositions.
#[derive(Clone, Debug)]
pub(crate) struct RawComponent {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) propositions: Vec<LocatedName>,
}

/// A monitor.
#[derive(Clone, Debug)]
pub(crate) struct RawMonitor {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) component: Option<LocatedName>,
    pub(crate) body: RawBody,
}

/// The body of a monitor.
#[derive(Clone, Debug)]
pub(crate) enum RawBody {
    /// A formula that is not parsed yet.
    Formula(Text),
    /// A parsed formula, with its text.
    ParsedFormula(SyntaxTree, Text),
    /// An automaton, with the texts of its labels.
    Automaton((AutomatonSpec, Vec<(SyntaxTree, Text)>)),
    BlackBox {
        file: String,
    },
}

pub(super) struct RawState {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) verdict: Truth,
    pub(super) edges: Vec<RawEdge>,
}

pub(super) struct RawEdge {
    pub(super) to: String,
    pub(super) span: Span,
    pub(super) label: Option<(SyntaxTree, Text)>,
}

/// Resolves the states of an automaton; edges refer to states by index.
pub(super) fn resolve(
    states: Vec<RawState>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (AutomatonSpec, Vec<(SyntaxTree, Text)>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, state) in states.iter().enumerate() {
        if let Some(first) = places.insert(&state.name, at) {
            let diagnostic = Diagnostic::error(state.span, format!("duplicate state `{}`", state.name));
            report(
                diagnostics,
                diagnostic.related(states[first].span, "first declaration").help("rename one of them"),
            );
        }
    }
    let (mut automaton, mut texts) = (AutomatonSpec::default(), Vec::new());
    for state in &states {
        let mut edges = Vec::new();
        for edge in &state.edges {
            let Some(to) = places.get(edge.to.as_str()) else {
                let diagnostic = Diagnostic::error(edge.span, format!("unknown state `{}`", edge.to));
                report(diagnostics, nearest_help(diagnostic, &edge.to, places.keys().copied()));
                continue;
            };
            let label = edge.label.as_ref().map(|(tree, _)| tree.clone());
            texts.extend(edge.label.clone());
            edges.push(EdgeSpec { label, to: *to });
        }
        automaton.states.push(StateSpec { name: state.name.clone(), verdict: state.verdict, edges });
    }
    (automaton, texts)
}
