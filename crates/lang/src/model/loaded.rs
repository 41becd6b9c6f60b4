//! A loaded model with its claims.

use invigil_expr::diag::Span;
use invigil_model::{Expression, Model, OmegaAutomaton};

/// A loaded model: the compiled form for the engines, and the claims of its author.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The compiled model.
    pub model: Model,
    /// The position of each action.
    pub action_spans: Vec<Span>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// Whether any process has a mailbox.
    pub has_mailboxes: bool,
}

/// A claim in a model file.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// Its position.
    pub span: Span,
    /// The condition that is claimed.
    pub body: ClaimBody,
    /// The temporal formula as written, if it is one.
    pub formula: Option<String>,
}

/// The condition of a claim.
#[derive(Clone, Debug)]
pub enum ClaimBody {
    /// The expression is true in every reachable configuration, or in every step.
    Always(Expression),
    /// No execution is accepted by the automaton.
    Never(OmegaAutomaton),
}
