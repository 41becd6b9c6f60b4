//! State of the command interpreter.

use crate::console::Console;
use crate::interrupt_handle::InterruptHandle;
use crate::session_factory::LoadedFiles;
use crate::start::SessionConfig;
use invigil_check::report::Style;
use std::path::PathBuf;
use std::rc::Rc;

/// State of the command interpreter that outlives a command.
pub(crate) struct ReplState {
    /// Layout and colours of the output.
    pub(crate) style: Style,
    /// The compiled files of the session.
    pub(crate) loaded: Rc<LoadedFiles>,
    /// Configuration for restarting the session; `None` for blocks, which cannot restart it.
    pub(crate) config: Option<SessionConfig>,
    /// Handle that interrupts the running target.
    pub(crate) interrupt: InterruptHandle,
    /// The terminal, if it is shared with the target.
    pub(crate) console: Option<Rc<dyn Console>>,
    /// Whether the target has been resumed since the session started.
    pub(crate) has_run: bool,
    /// Whether `quit` was executed.
    pub(crate) has_quit: bool,
    /// Question that the user must answer with yes before the command is executed.
    pub(crate) question: Option<String>,
    /// Whether the user has confirmed, or the prompt is not interactive.
    pub(crate) confirmed: bool,
    /// Whether the introductory hint has been printed.
    pub(crate) hint_shown: bool,
    /// The function in which the target last stopped.
    pub(crate) function: String,
    /// Position of the last `list` at this stop.
    pub(crate) listing: Option<Listing>,
    /// Parameters of the last `x`.
    pub(crate) memory_view: Option<MemoryView>,
    /// Line that an empty line executes.
    pub(crate) repeat: Option<&'static str>,
}

/// Position of the last `list`.
pub(crate) struct Listing {
    pub(crate) file: PathBuf,
    /// Half-open range of the listed lines.
    pub(crate) shown: (u32, u32),
}

/// Parameters of the last `x`, and the address at which the next one continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryView {
    pub(crate) count: usize,
    pub(crate) format: char,
    pub(crate) size: usize,
    pub(crate) next: Option<u64>,
}

impl ReplState {
    pub(crate) fn new(loaded: Rc<LoadedFiles>, style: Style) -> ReplState {
        ReplState {
            style,
            loaded,
            config: None,
            interrupt: InterruptHandle::default(),
            console: None,
            has_run: false,
            has_quit: false,
            question: None,
            confirmed: true,
            hint_shown: true,
            function: String::new(),
            listing: None,
            memory_view: None,
            repeat: None,
        }
    }

    /// State for a session that can be restarted.
    pub(crate) fn with_config(loaded: Rc<LoadedFiles>, config: SessionConfig) -> ReplState {
        let (interrupt, console) = (config.interrupt.clone(), config.console.clone());
        let (confirmed, hint_shown, style) =
            (!config.asks_for_confirmation, !config.asks_for_confirmation, config.style);
        ReplState {
            interrupt,
            console,
            confirmed,
            hint_shown,
            config: Some(config),
            ..ReplState::new(loaded, style)
        }
    }

    /// Runs `work`; meanwhile the target runs and owns the terminal.
    pub(crate) fn while_running<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(console) = &self.console else { return self.interrupt.while_running(work) };
        console.give_to_program();
        let result = self.interrupt.while_running(work);
        console.take_back();
        result
    }

    /// Whether the debugger attached to a running process, which must not be killed unless the user asks for it.
    pub(crate) fn is_attached(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.attached)
    }
}
