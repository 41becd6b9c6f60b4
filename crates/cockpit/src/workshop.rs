//! Where sessions get what they are made of: files, and the program.

use invigil_expr::diag::{Sources, Span};
use invigil_lang::Written;
use invigil_lang::scn::Scenario;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Catalog, SymbolId};
use invigil_monitor::mac::Plan;
use invigil_session::subject::{Done, Subject};
use std::path::PathBuf;
use std::sync::Arc;

/// The files that a session is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Properties, in the order they are watched: files, or formulae in the place of one, such as `ltl:G a`.
    pub properties: Vec<PathBuf>,
    /// Functions that their blocks may call.
    pub functions: Vec<PathBuf>,
    /// Scenarios.
    pub scenarios: Vec<PathBuf>,
    /// Monitoring scripts (PEDL), each with its requirement script (MEDL).
    pub scripts: Vec<(PathBuf, PathBuf)>,
}

/// The same, read and compiled.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The properties.
    pub automata: Vec<Arc<Automaton>>,
    /// The properties as they are written, in the same order.
    pub written: Vec<Written>,
    /// Which of [`Files::properties`] each is from: a file may hold several.
    pub given: Vec<usize>,
    /// The events of all of them.
    pub catalog: Catalog,
    /// What makes events of events: the properties of scripts follow those.
    pub scripts: Vec<Plan>,
    /// Where the scripts name what makes an event.
    pub places: Vec<(SymbolId, Span)>,
    /// The scenarios, compiled for these properties.
    pub scenarios: Vec<Arc<Scenario>>,
    /// The texts of all files, to point into.
    pub sources: Sources,
    /// What is odd about them, as it is shown; may be empty.
    pub warnings: String,
}

/// What an automaton is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is a property, or an alarm.
    Property,
    /// It tells scenarios that a script invokes an action.
    Action,
    /// It says what a script prints.
    Printer,
}

impl Loaded {
    /// What an automaton is there for.
    pub fn role(&self, automaton: &Automaton) -> Role {
        let follows = |symbol| automaton.symbols().any(|followed| followed == symbol);
        for Plan { outputs, .. } in &self.scripts {
            if outputs.actions.iter().any(|action| follows(*action)) {
                return Role::Action;
            }
            if outputs.print.is_some_and(follows) {
                return Role::Printer;
            }
        }
        Role::Property
    }
}

/// Makes what a session needs. The command does this with files and processes.
pub trait Workshop {
    /// Reads and compiles files.
    ///
    /// # Errors
    /// With all that is wrong with them, as it is shown.
    fn load(&mut self, files: &Files) -> Result<Loaded, String>;

    /// Begins the program; one that was begun before is gone.
    ///
    /// # Errors
    /// If it cannot be run.
    fn begin(&mut self) -> Done<Box<dyn Subject>>;
}
