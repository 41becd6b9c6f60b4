//! The debugger for live programs: a session that executes commands.

use crate::command::{self, CommandContext};
use crate::command_error::CommandError;
use crate::complete::{self, Completion};
use crate::render::stop;
use crate::repl_state::ReplState;
use crate::session_factory::LoadedFiles;
use crate::start::{OpenError, SessionConfig, open};
use invigil_session::{RunOutcome, Session};
use invigil_target::{ResumeMode, TargetResult};

/// A session and the state of its command interpreter.
pub struct LiveDebugger {
    session: Session,
    repl: ReplState,
}

impl LiveDebugger {
    /// Creates a session and starts it.
    ///
    /// Also returns notes to print before the target runs, and the outcome of the scenario's reactions to the
    /// initial verdicts, if there is one.
    ///
    /// # Errors
    /// If a file is invalid or the target cannot be started. No process started here is left running.
    pub fn open(
        mut config: SessionConfig,
    ) -> Result<(LiveDebugger, Vec<String>, Option<RunOutcome>), OpenError> {
        let started = open(&mut config)?;
        let repl = ReplState::with_config(started.loaded, config);
        Ok((LiveDebugger { session: started.session, repl }, started.notes, started.outcome))
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The compiled files of the session.
    pub fn loaded(&self) -> &LoadedFiles {
        &self.repl.loaded
    }

    /// Executes a command and returns its output. An empty line repeats the previous command if it is repeatable.
    ///
    /// # Errors
    /// If the command fails.
    pub fn run(&mut self, line: &str) -> Result<String, CommandError> {
        command::run(&mut CommandContext { session: &mut self.session, repl: &mut self.repl }, line)
    }

    /// Resumes the target; an [interrupt](crate::InterruptHandle::interrupt) stops it.
    ///
    /// # Errors
    /// If the target cannot be resumed.
    pub fn resume(&mut self, mode: &ResumeMode) -> TargetResult<RunOutcome> {
        self.repl.has_run = true;
        let session = &mut self.session;
        self.repl.while_running(|| session.run(mode))
    }

    /// Renders a stop for the user.
    pub fn render_outcome(&mut self, outcome: &RunOutcome) -> String {
        self.repl.has_run = true;
        stop::render_outcome(
            &mut CommandContext { session: &mut self.session, repl: &mut self.repl },
            outcome,
        )
    }

    /// Takes the confirmation question of the last command, if it needs confirmation; it has not run yet. If the
    /// answer is yes, execute the command with [`run_confirmed`](LiveDebugger::run_confirmed).
    pub fn take_question(&mut self) -> Option<String> {
        self.repl.question.take()
    }

    /// Executes a command without asking for confirmation.
    ///
    /// # Errors
    /// As [`run`](LiveDebugger::run).
    pub fn run_confirmed(&mut self, line: &str) -> Result<String, CommandError> {
        let before = std::mem::replace(&mut self.repl.confirmed, true);
        let result = self.run(line);
        self.repl.confirmed = before;
        result
    }

    /// Whether `quit` was executed, or an [exit was requested](crate::InterruptHandle::request_exit).
    pub fn has_quit(&self) -> bool {
        self.repl.has_quit || self.repl.interrupt.is_exit_requested()
    }

    /// Completes the word before the cursor.
    pub fn complete(&mut self, line: &str, position: usize) -> Completion {
        complete::complete(
            &mut CommandContext { session: &mut self.session, repl: &mut self.repl },
            line,
            position,
        )
    }
}
