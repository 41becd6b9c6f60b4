//! What is remembered from one command to the next.

use crate::bell::Bell;
use crate::console::Console;
use crate::opening::Setting;
use crate::workshop::Loaded;
use invigil_check::report::Style;
use std::path::PathBuf;
use std::rc::Rc;

/// What is remembered from one command to the next.
pub(crate) struct Desk {
    /// How texts are laid out.
    pub(crate) style: Style,
    pub(crate) loaded: Rc<Loaded>,
    /// What a session is made of; none where commands cannot make another.
    pub(crate) setting: Option<Setting>,
    pub(crate) bell: Bell,
    /// The terminal, if it is shared with the program.
    pub(crate) console: Option<Rc<dyn Console>>,
    /// Whether the program has been made to run.
    pub(crate) begun: bool,
    /// Whether `quit` was said.
    pub(crate) is_over: bool,
    /// What is to be asked before the command is done.
    pub(crate) question: Option<String>,
    /// Whether the answer was yes, or nobody is there to ask.
    pub(crate) sure: bool,
    /// Whether the person was told what there is to do.
    pub(crate) hinted: bool,
    /// The function that was shown last.
    pub(crate) function: String,
    pub(crate) listing: Option<Listing>,
    pub(crate) examined: Option<Examined>,
    /// What an empty line does.
    pub(crate) repeat: Option<&'static str>,
}

/// How far the sources were listed.
pub(crate) struct Listing {
    pub(crate) file: PathBuf,
    /// The first line that was shown, and the first that was not.
    pub(crate) shown: (u32, u32),
}

/// How memory was looked at last, and where it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Examined {
    pub(crate) count: usize,
    pub(crate) format: char,
    pub(crate) size: usize,
    pub(crate) next: Option<u64>,
}

impl Desk {
    pub(crate) fn new(loaded: Rc<Loaded>, style: Style) -> Desk {
        Desk {
            style,
            loaded,
            setting: None,
            bell: Bell::default(),
            console: None,
            begun: false,
            is_over: false,
            question: None,
            sure: true,
            hinted: true,
            function: String::new(),
            listing: None,
            examined: None,
            repeat: None,
        }
    }

    /// A desk for a session that can be made anew.
    pub(crate) fn with_setting(loaded: Rc<Loaded>, setting: Setting) -> Desk {
        let (bell, console) = (setting.bell.clone(), setting.console.clone());
        let (sure, hinted, style) = (!setting.asks, !setting.asks, setting.style);
        Desk { bell, console, sure, hinted, setting: Some(setting), ..Desk::new(loaded, style) }
    }

    /// Does something during which the program runs, and has the terminal.
    pub(crate) fn running<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(console) = &self.console else { return self.bell.running(work) };
        console.theirs();
        let done = self.bell.running(work);
        console.ours();
        done
    }

    /// Whether the program ran before we came, and so is not ours to end unasked.
    pub(crate) fn is_attached(&self) -> bool {
        self.setting.as_ref().is_some_and(|setting| setting.attached)
    }
}
