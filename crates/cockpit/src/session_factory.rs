//! The interface through which a session obtains compiled files and a target.

use invigil_expr::diag::{Sources, Span};
use invigil_lang::PropertySource;
use invigil_lang::scn::Scenario;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{EventCatalog, EventId};
use invigil_monitor::mac::ScriptPlan;
use invigil_target::{Target, TargetResult};
use std::path::PathBuf;
use std::sync::Arc;

/// Paths of the user's files for a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Properties, in the order in which they are monitored: files, or inline formulae such as `ltl:G a`.
    pub properties: Vec<PathBuf>,
    /// Files of functions that blocks may call.
    pub functions: Vec<PathBuf>,
    /// Scenarios.
    pub scenarios: Vec<PathBuf>,
    /// Monitoring scripts (PEDL), each with its requirement script (MEDL).
    pub scripts: Vec<(PathBuf, PathBuf)>,
}

/// The files of a session, parsed and compiled.
#[derive(Debug, Default)]
pub struct LoadedFiles {
    /// The properties.
    pub automata: Vec<Arc<Automaton>>,
    /// The syntax trees of the properties, in the same order. The properties of scripts, which come last, have none.
    pub property_sources: Vec<PropertySource>,
    /// Index into [`Files::properties`] for each property: a file may contain several. The properties of scripts have
    /// `usize::MAX` minus the index into [`Files::scripts`].
    pub file_of_property: Vec<usize>,
    /// The event catalog of all properties.
    pub catalog: EventCatalog,
    /// Plans that derive the events on which the scripts' properties step.
    pub scripts: Vec<ScriptPlan>,
    /// Source spans of the monitored entities in scripts, for diagnostics.
    pub entity_spans: Vec<(EventId, Span)>,
    /// The scenarios, compiled for these properties.
    pub scenarios: Vec<Arc<Scenario>>,
    /// The texts of all files, for diagnostics.
    pub sources: Sources,
    /// Rendered warnings; may be empty.
    pub warnings: String,
}

/// Purpose of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomatonRole {
    /// A property or an alarm.
    Property,
    /// Reports the actions that a script invokes to scenarios.
    Action,
    /// Prints the output of a script.
    PrintStatement,
}

impl LoadedFiles {
    /// Purpose of an automaton.
    pub fn role(&self, automaton: &Automaton) -> AutomatonRole {
        let steps_on = |event| automaton.events().any(|other| other == event);
        for ScriptPlan { outputs, .. } in &self.scripts {
            if outputs.actions.iter().any(|action| steps_on(*action)) {
                return AutomatonRole::Action;
            }
            if outputs.print.is_some_and(steps_on) {
                return AutomatonRole::PrintStatement;
            }
        }
        AutomatonRole::Property
    }
}

/// Loads files and starts targets for a session. The command `invigil` implements it with files and processes.
pub trait SessionFactory {
    /// Reads and compiles files.
    ///
    /// # Errors
    /// If a file is invalid: all diagnostics, rendered.
    fn load(&mut self, files: &Files) -> Result<LoadedFiles, String>;

    /// Starts a new target, or attaches to it. The previous one has been killed or detached.
    ///
    /// # Errors
    /// If the target cannot be started.
    fn start_target(&mut self) -> TargetResult<Box<dyn Target>>;
}
