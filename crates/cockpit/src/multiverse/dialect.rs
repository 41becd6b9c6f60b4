//! How what a person writes about a subject is read.

use invigil_explore::finder::{Automaton, Stop};
use invigil_semantics::{Evaluate, StepRef};

/// What an expression is worth on a step, as it is shown.
pub type Value<'d, S> = Box<dyn Fn(StepRef<'_, S>) -> Result<String, String> + 'd>;

/// Reads what a person writes about subjects of type `S`. Mistakes come back as they are to be shown.
pub trait Dialect<S: Evaluate> {
    /// A condition on a step.
    ///
    /// # Errors
    /// If the text is none.
    fn predicate(&self, text: &str) -> Result<S::Expr, String>;

    /// The steps by actions of a name.
    ///
    /// # Errors
    /// If there is no such action.
    fn named(&self, name: &str) -> Result<S::Expr, String>;

    /// Something to be shown.
    ///
    /// # Errors
    /// If the text is none.
    fn value<'d>(&'d self, text: &str) -> Result<Value<'d, S>, String>
    where
        S: 'd;

    /// The executions that satisfy a formula of temporal logic, as an automaton that reads them from the current
    /// configuration on.
    ///
    /// # Errors
    /// If the text is none, or there are no formulae for this subject.
    fn formula(&self, text: &str) -> Result<Automaton<S::Expr>, String> {
        Err(format!("there are no formulae for this subject, so `{text}` cannot be looked for"))
    }

    /// The executions that violate a property, from a file.
    ///
    /// # Errors
    /// If the file cannot be used, or there are no properties for this subject.
    fn property<'d>(&'d self, file: &str) -> Result<Stop<'d, S>, String>
    where
        S: 'd,
    {
        Err(format!("there are no properties for this subject, so `{file}` cannot be looked for"))
    }

    /// Who performs an action.
    fn actor(&self, _: &S::Action) -> Option<String> {
        None
    }

    /// Names that a line may hold.
    fn words(&self) -> Vec<String> {
        Vec::new()
    }
}
