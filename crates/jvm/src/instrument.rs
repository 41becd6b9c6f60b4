//! Instrumentation of programs on disk.
//!
//! Woven classes call a helper class that the agent provides, so they run only with the agent. The agent uses them as
//! they are: the file `invigil.probes` beside them describes the probes.

use crate::ClassPath;
use crate::subscriptions;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::instrument::Instrumentor;
use invigil_jvm_agent::names::dotted;
use invigil_jvm_agent::offline_probes::FILE;
use invigil_jvm_agent::protocol::SubscriptionId;
use invigil_monitor::event::{EventCatalog, EventId};
use invigil_target::UnresolvedEvent;
use std::fs;
use std::path::Path;

/// Result of instrumenting a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instrumented {
    /// The classes that were written.
    pub classes: Vec<WovenClass>,
    /// What was not instrumented, with the reason: methods that would become too long, malformed class files.
    pub skipped: Vec<String>,
    /// Events that these classes do not have.
    pub unresolved: Vec<UnresolvedEvent>,
}

/// A class that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenClass {
    /// Its name: `app.Queue`.
    pub name: String,
    /// The size of its file before.
    pub before: usize,
    /// The size of its file now.
    pub after: usize,
    /// The number of its probes.
    pub probes: usize,
}

/// Weaves the classes of a class path for all events of a catalog, and writes those with probes to a directory, which
/// is created if necessary.
///
/// They are run with this directory before the original classes: `java -cp woven:classes Main`.
///
/// # Errors
/// A message, if a file cannot be written.
pub fn instrument(catalog: &EventCatalog, path: &ClassPath, folder: &Path) -> Result<Instrumented, String> {
    let (subscriptions, unknown) = subscriptions::subscriptions(catalog, path);
    let name_of = |number: u32| {
        subscriptions.iter().find_map(|subscription| match subscription.id {
            SubscriptionId::Event { number: known } if known == number => Some(subscription.name.clone()),
            _ => None,
        })
    };
    let mut result = Instrumented { unresolved: unknown, ..Instrumented::default() };
    let (mut instrumentor, errors) = Instrumentor::new(subscriptions.clone(), &|name| path.class(name));
    for error in errors {
        let SubscriptionId::Event { number } = error.id else { continue };
        let help = match error.pending {
            true => {
                name_of(number).and_then(|name| subscriptions::suggestion(path, &name)).unwrap_or_default()
            }
            false => error.help,
        };
        let help = help.split(" Otherwise").next().unwrap_or_default();
        // The agent says that the class is not loaded yet; here no program runs that could load it.
        let class = match error.pending {
            true => name_of(number).and_then(|name| Some(Entity::parse(&name).ok()?.name.class)),
            false => None,
        };
        let reason = class.map_or(error.reason, |class| format!("no class `{class}` is on the class path"));
        result.unresolved.push(UnresolvedEvent {
            event: EventId(number),
            param: None,
            reason,
            help: help.to_owned(),
            pending: false,
        });
    }
    let mut names: Vec<&str> = path.names().collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(bytes) = path.bytes(name) else { continue };
        match instrumentor.weave(&bytes) {
            Ok(Some(woven)) => {
                result
                    .skipped
                    .extend(woven.skipped.iter().map(|skipped| format!("{}.{skipped}", dotted(name))));
                if woven.probes > 0 {
                    write(folder, &format!("{name}.class"), &woven.bytes)?;
                    let (before, after) = (bytes.len(), woven.bytes.len());
                    result.classes.push(WovenClass {
                        name: dotted(name),
                        before,
                        after,
                        probes: woven.probes,
                    });
                }
            }
            Ok(None) => {}
            Err(error) => result.skipped.push(format!("{}: {error}", dotted(name))),
        }
    }
    write(folder, FILE, &instrumentor.offline_probes().to_bytes())?;
    Ok(result)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let file = folder.join(name);
    let failed = |error| format!("cannot write {}: {error}", file.display());
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&file, bytes).map_err(failed)
}
