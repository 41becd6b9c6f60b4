//! What is said while the program runs: lines that blocks print, and notes of the session.

use invigil_check::report::{Paint, Style};
use invigil_session::{Listener, Speaker};
use std::rc::Rc;

/// How lines that come while the program runs are told.
#[derive(Clone)]
pub struct Voice {
    /// Takes a line and shows it.
    pub out: Rc<dyn Fn(&str)>,
    /// Whether lines that properties print are shown.
    pub properties: bool,
    /// Whether lines that scenarios print are shown.
    pub scenarios: bool,
    /// Whether notes of the session are shown.
    pub notes: bool,
    /// How the lines are coloured.
    pub style: Style,
}

/// A voice that knows the properties' names.
pub(crate) struct Telling {
    pub(crate) voice: Voice,
    pub(crate) names: Vec<String>,
}

impl Listener for Telling {
    fn line(&mut self, by: Speaker, line: &str) {
        let faint = |text: &str| self.voice.style.paint(Paint::Faint, text);
        match by {
            Speaker::Property(property) if self.voice.properties => {
                let name = self.names.get(property).map_or("property", String::as_str);
                (self.voice.out)(&format!("{} {line}", faint(&format!("{name}:"))));
            }
            Speaker::Scenario(_) if self.voice.scenarios => (self.voice.out)(line),
            Speaker::Session if self.voice.notes => {
                let note = self.voice.style.paint(Paint::Open, "note:");
                (self.voice.out)(&format!("{note} {line}"));
            }
            _ => {}
        }
    }
}
