//! What is written, before names are looked up.

use super::parser::nearest_help;
use super::tell;
use super::text::Text;
use invigil_decent::spec::{Drawn, DrawnEdge, DrawnState};
use invigil_decent::system::System;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::Tree;
use std::collections::HashMap;

/// A name and where it stands.
pub(crate) type Named = (String, Span);

/// A file.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) source: SourceId,
    /// The system, if it is known from elsewhere.
    pub(crate) system: Option<System>,
    pub(crate) components: Vec<DraftComponent>,
    pub(crate) links: Vec<(Named, Named)>,
    pub(crate) monitors: Vec<DraftMonitor>,
    pub(crate) root: Option<Named>,
}

impl Draft {
    pub(crate) fn new(source: SourceId) -> Draft {
        Draft {
            source,
            system: None,
            components: Vec::new(),
            links: Vec::new(),
            monitors: Vec::new(),
            root: None,
        }
    }
}

/// A component and what it observes.
#[derive(Clone, Debug)]
pub(crate) struct DraftComponent {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) propositions: Vec<Named>,
}

/// A monitor.
#[derive(Clone, Debug)]
pub(crate) struct DraftMonitor {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) at: Option<Named>,
    pub(crate) body: DraftBody,
}

/// What a monitor watches for.
#[derive(Clone, Debug)]
pub(crate) enum DraftBody {
    /// A formula that is not yet read.
    Formula(Text),
    Read(Tree, Text),
    /// An automaton, with the texts of its labels.
    Automaton((Drawn, Vec<(Tree, Text)>)),
    BlackBox {
        file: String,
    },
}

pub(super) struct DraftState {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) verdict: Truth,
    pub(super) edges: Vec<DraftEdge>,
}

pub(super) struct DraftEdge {
    pub(super) to: String,
    pub(super) span: Span,
    pub(super) label: Option<(Tree, Text)>,
}

/// An automaton whose edges lead to states by place.
pub(super) fn resolve(states: Vec<DraftState>, problems: &mut Vec<Diagnostic>) -> (Drawn, Vec<(Tree, Text)>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, state) in states.iter().enumerate() {
        if let Some(first) = places.insert(&state.name, at) {
            let problem = Diagnostic::error(state.span, format!("there are two states `{}`", state.name));
            tell(problems, problem.related(states[first].span, "the first one").help("rename one of them"));
        }
    }
    let (mut drawn, mut texts) = (Drawn::default(), Vec::new());
    for state in &states {
        let mut edges = Vec::new();
        for edge in &state.edges {
            let Some(to) = places.get(edge.to.as_str()) else {
                let problem = Diagnostic::error(edge.span, format!("there is no state `{}`", edge.to));
                tell(problems, nearest_help(problem, &edge.to, places.keys().copied()));
                continue;
            };
            let label = edge.label.as_ref().map(|(tree, _)| tree.clone());
            texts.extend(edge.label.clone());
            edges.push(DrawnEdge { label, to: *to });
        }
        drawn.states.push(DrawnState { name: state.name.clone(), verdict: state.verdict, edges });
    }
    (drawn, texts)
}
