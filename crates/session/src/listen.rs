//! Who hears what is said in a session, and who runs commands for its blocks.

use crate::session::Session;

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A property, by its position.
    Property(usize),
    /// A scenario, by its position.
    Scenario(usize),
    /// The session itself: something worth knowing, in words for the user.
    Session,
}

/// Hears what is said while the program runs.
pub trait Listener {
    /// A line that a block printed, or that the session has to say.
    fn line(&mut self, by: Speaker, line: &str);

    /// Whether [`event`](Listener::event) does anything. Where it does not, events cost less.
    fn hears_events(&self) -> bool {
        false
    }

    /// An event has been given to every monitor; the scenario has not reacted yet.
    fn event(&mut self, session: &Session, number: u64) {
        let _ = (session, number);
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unheard;

impl Listener for Unheard {
    fn line(&mut self, _: Speaker, _: &str) {}
}

/// Runs the commands of the prompt for blocks that call `debugger(command)`.
///
/// Commands that run the program are refused by the session while a block runs.
pub trait Commander {
    /// Runs a command and gives what it says.
    ///
    /// # Errors
    /// With words for the user, if it cannot be run.
    fn command(&mut self, session: &mut Session, command: &str) -> Result<String, String>;
}
