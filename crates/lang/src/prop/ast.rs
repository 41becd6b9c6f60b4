//! A property as it is written: names are not resolved, and blocks are still text.

use crate::block::{Dedented, dedent};
use invigil_expr::diag::Span;
use invigil_monitor::event::{Kind, Source, Type};

/// A whole property file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Property {
    /// The parameters of `slice on`, in order.
    pub slice_on: Vec<Name>,
    /// The block that sets up what the property remembers.
    pub initialization: Option<Block>,
    /// The states, in the order written.
    pub states: Vec<State>,
}

/// A word that names something, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name itself, without the quotes that an event's name may be written in.
    pub text: String,
    /// Where it is written.
    pub span: Span,
}

/// A block of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands between the braces.
    pub text: String,
    /// Where that is, without the braces.
    pub span: Span,
    /// The column, counted from zero, at which the text starts.
    pub column: u32,
}

impl Block {
    /// The block as a program that starts in the first column, traced back to the file.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// let (property, _) = invigil_lang::prop::parse(SourceId(0), "initialization {\n    N = 0\n}\nstate init");
    /// let program = property.initialization.unwrap().dedent();
    /// assert_eq!((program.text.as_str(), program.to_file(0)), ("N = 0", 21));
    /// ```
    pub fn dedent(&self) -> Dedented {
        dedent(&self.text, self.span.start, self.column)
    }
}

/// A call that a state or the end of a transition makes, such as `sink_reached()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The function.
    pub name: Name,
    /// The whole call, a Python expression.
    pub text: String,
    /// Where the whole call is.
    pub span: Span,
}

/// Whether being in a state is good or bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The property holds so far.
    Accepting,
    /// The property is violated.
    NonAccepting,
}

/// A state of the automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// What it is called.
    pub name: Name,
    /// `accepting` or `non-accepting`, if the property says, and where it does.
    pub acceptance: Option<(Acceptance, Span)>,
    /// Where it is marked `final`: the slice is forgotten once it gets here.
    pub is_final: Option<Span>,
    /// What to call on entering it.
    pub action: Option<Action>,
    /// The states whose transitions it takes over.
    pub imports: Vec<Name>,
    /// Its own transitions, in order.
    pub transitions: Vec<Transition>,
    /// From the word `state` to the end.
    pub span: Span,
}

/// A transition: an event, a condition, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// What it waits for.
    pub event: EventPattern,
    /// The condition.
    pub guard: Option<Block>,
    /// What follows when the condition is true, or there is none.
    pub success: Option<End>,
    /// What follows when it is false.
    pub failure: Option<End>,
    /// From the word `transition` to the closing brace.
    pub span: Span,
}

/// An end of a transition, after `success` or `failure`. At least one of its parts is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The update.
    pub block: Option<Block>,
    /// What to call.
    pub action: Option<Action>,
    /// The state to go to.
    pub target: Option<Name>,
    /// From the word `success` or `failure` to the end.
    pub span: Span,
}

/// The events that a transition waits for, and what it wants to know about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// The moment.
    pub kind: Kind,
    /// The function, variable or line; `#join`, `#leave` or `#tick`.
    pub name: Name,
    /// The parameters, in the order written.
    pub params: Vec<Param>,
    /// From the first word to the closing parenthesis.
    pub span: Span,
}

/// A parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Where its value comes from.
    pub source: Source,
    /// What the blocks call it: the word behind `as`, or a name that the source suggests (`arg 1` is `arg1`,
    /// `*p` is `p`, `#ecid` is `ecid`).
    pub name: Name,
    /// The type it must have.
    pub ty: Option<(Type, Span)>,
}
