//! Receivers of a session's messages, and of the commands that its blocks issue.

use crate::session::Session;

/// Origin of a message.
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
    fn message(&mut self, source: MessageSource, line: &str);

    /// Whether [`event`](Listener::event) is to be called. If not, events are cheaper.
    fn wants_events(&self) -> bool {
        false
    }

    /// Called after an event was delivered to every monitor, before the scenarios react.
    fn event(&mut self, session: &Session, number: u64) {
        let _ = (session, number);
    }
}

/// Listener that ignores all messages and events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopListener;

impl Listener for NoopListener {
    fn message(&mut self, _: MessageSource, _: &str) {}
}

/// Runs the commands that blocks issue with `debugger(command)`.
///
/// The session refuses commands that run the target while a block runs.
pub trait CommandRunner {
    /// Runs a command and returns its output.
    ///
    /// # Errors
    /// A message for the user, if it cannot be run.
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String>;
}
