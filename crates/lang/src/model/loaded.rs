//! A model as it comes out of a file.

use invigil_expr::diag::Span;
use invigil_model::{Expression, Model, Omega};

/// What a file says: a model for the engines, and what its author claims about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the engines run.
    pub model: Model,
    /// Where each action of the model is written.
    pub actions: Vec<Span>,
    /// What is claimed about it.
    pub claims: Vec<Claim>,
    /// Whether some process of it has a mailbox.
    pub has_mailboxes: bool,
}

/// Something that a file claims about its model.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// What is claimed.
    pub what: What,
    /// The formula of temporal logic, if it is one, as it is written.
    pub formula: Option<String>,
}

/// What is claimed.
#[derive(Clone, Debug)]
pub enum What {
    /// This holds in every configuration that can be reached, or in every step.
    Always(Expression),
    /// No execution is accepted by this automaton.
    Never(Omega),
}
