//! Messages while the target runs: lines printed by blocks, and notes of the session.

use invigil_check::report::{Paint, Style};
use invigil_session::{Listener, MessageSource};
use std::rc::Rc;

/// Destination and filter of the messages.
#[derive(Clone)]
pub struct MessageSink {
    /// Prints a line.
    pub out: Rc<dyn Fn(&str)>,
    /// Whether lines that properties print are shown.
    pub properties: bool,
    /// Whether lines that scenarios print are shown.
    pub scenarios: bool,
    /// Whether notes of the session are shown.
    pub notes: bool,
    /// Colours.
    pub style: Style,
}

/// Session listener that prints messages, prefixed with the name of their property.
pub(crate) struct SessionPrinter {
    pub(crate) sink: MessageSink,
    pub(crate) names: Vec<String>,
}

impl Listener for SessionPrinter {
    fn message(&mut self, source: MessageSource, line: &str) {
        let faint = |text: &str| self.sink.style.paint(Paint::Faint, text);
        match source {
            MessageSource::Property(property) if self.sink.properties => {
                let name = self.names.get(property).map_or("property", String::as_str);
                (self.sink.out)(&format!("{} {line}", faint(&format!("{name}:"))));
            }
            MessageSource::Scenario(_) if self.sink.scenarios => (self.sink.out)(line),
            MessageSource::Session if self.sink.notes => {
                let note = self.sink.style.paint(Paint::Undecided, "note:");
                (self.sink.out)(&format!("{note} {line}"));
            }
            _ => {}
        }
    }
}
