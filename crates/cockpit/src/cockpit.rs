//! A session and who commands it.

use crate::command::{self, Scene};
use crate::complete::{self, Completion};
use crate::desk::Desk;
use crate::opening::{Failed, Setting, open};
use crate::say::stop;
use crate::workshop::Loaded;
use invigil_session::subject::{Done, Resume};
use invigil_session::{Outcome, Session};

/// A session, and what is needed to take commands for it.
pub struct Cockpit {
    session: Session,
    desk: Desk,
}

impl Cockpit {
    /// Makes a session and starts it. Also gives what is worth telling before the program runs, and what the
    /// scenario made of the initial verdicts if the program is not simply ready to run.
    ///
    /// # Errors
    /// If a file or the program cannot be used. Then no program of ours is left behind.
    pub fn open(mut setting: Setting) -> Result<(Cockpit, Vec<String>, Option<Outcome>), Failed> {
        let opened = open(&mut setting)?;
        let desk = Desk::with_setting(opened.loaded, setting);
        Ok((Cockpit { session: opened.session, desk }, opened.notes, opened.outcome))
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The files that the session is made of.
    pub fn loaded(&self) -> &Loaded {
        &self.desk.loaded
    }

    /// Runs a command; gives what it says. An empty line repeats the last one, if that makes sense.
    ///
    /// # Errors
    /// With words for the user, if it cannot be done.
    pub fn run(&mut self, line: &str) -> Result<String, String> {
        command::run(&mut Scene { session: &mut self.session, desk: &mut self.desk }, line)
    }

    /// Runs the program, so that [ringing](crate::Bell::ring) stops it.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn resume(&mut self, how: &Resume) -> Done<Outcome> {
        self.desk.begun = true;
        let session = &mut self.session;
        self.desk.running(|| session.run(how))
    }

    /// What a stop looks like.
    pub fn show(&mut self, outcome: &Outcome) -> String {
        self.desk.begun = true;
        stop::outcome(&mut Scene { session: &mut self.session, desk: &mut self.desk }, outcome)
    }

    /// What the last command asks before it does anything. If the answer is yes, run it with
    /// [`run_surely`](Cockpit::run_surely).
    pub fn question(&mut self) -> Option<String> {
        self.desk.question.take()
    }

    /// Runs a command without asking.
    ///
    /// # Errors
    /// As [`run`](Cockpit::run).
    pub fn run_surely(&mut self, line: &str) -> Result<String, String> {
        let before = std::mem::replace(&mut self.desk.sure, true);
        let done = self.run(line);
        self.desk.sure = before;
        done
    }

    /// Whether `quit` was said, or a [signal](crate::Bell::leave) wants us to leave.
    pub fn is_over(&self) -> bool {
        self.desk.is_over || self.desk.bell.is_leaving()
    }

    /// How a line may go on.
    pub fn complete(&mut self, line: &str, position: usize) -> Completion {
        complete::complete(&mut Scene { session: &mut self.session, desk: &mut self.desk }, line, position)
    }
}
