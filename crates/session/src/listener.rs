//! Receivers of a session's messages, and of the commands that its blocks give.

use crate::session::Session;

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSource {
    /// A property, by its position.
    Property(usize),
    /// A scenario, by its position.
    Scenario(usize),
    /// The session itself: a note for the user.
    Session,
}

/// Receives messages and events while the target runs.
pub trait Listener {
    /// Receives a line that a block printed, or a note of the session.
    fn message(&mut self, by: MessageSource, line: &str);

    /// Whether [`event`](Listener::event) does anything. If it does not, events cost less.
    fn wants_events(&self) -> bool {
        false
    }

    /// Called when an event has been given to every monitor, before the scenarios react.
    fn event(&mut self, session: &Session, number: u64) {
        let _ = (session, number);
    }
}

/// Ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopListener;

impl Listener for NoopListener {
    fn message(&mut self, _: MessageSource, _: &str) {}
}

/// Runs the commands that blocks give with `debugger(command)`.
///
/// The session refuses commands that run the target while a block runs.
pub trait CommandRunner {
    /// Runs a command and returns its output.
    ///
    /// # Errors
    /// A message for the user, if it cannot be run.
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String>;
}
