//! Programs that are instrumented on disk.
//!
//! Woven classes call a helper class that the agent brings along, so they run with the agent only, and the agent leaves
//! them as they are: a file beside them, `invigil.probes`, says which probe is what.

use crate::ClassPath;
use crate::{strange_types, wants};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_jvm_agent::instrument::Instrumentor;
use invigil_jvm_agent::marks::FILE;
use invigil_jvm_agent::names::dotted;
use invigil_jvm_agent::protocol::Key;
use invigil_lang::medl::{Names, snapshots};
use invigil_lang::pedl;
use invigil_monitor::event::{Catalog, SymbolId};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What came of instrumenting a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instrumented {
    /// The classes that were written.
    pub classes: Vec<Grown>,
    /// What was left alone, and why: methods that would be too long, class files that cannot be read.
    pub left: Vec<String>,
    /// What of the script is not in these classes, or otherwise, with the remedy.
    pub missing: Vec<Diagnostic>,
}

/// A class that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grown {
    /// Its name: `app.Queue`.
    pub name: String,
    /// How many bytes its file had.
    pub before: usize,
    /// How many it has.
    pub after: usize,
    /// How many probes are in it.
    pub probes: usize,
}

/// Weaves the classes of a class path for a monitoring script, and writes those that something is wanted of to a folder,
/// which is made if need be.
///
/// They are run with the folder before the classes: `invigil run --pedl … -- java -cp woven:classes Main`.
///
/// # Errors
/// In words, if a file cannot be written.
pub fn instrument(
    recogniser: &pedl::Lowered,
    path: &ClassPath,
    folder: &Path,
) -> Result<Instrumented, String> {
    let mut catalog = Catalog::default();
    let places: BTreeMap<SymbolId, Span> =
        snapshots(recogniser, Names::WithTypes, &mut catalog).into_iter().collect();
    let (wants, unknown) = wants::wants(&catalog, path);
    let named = |number: u32| {
        wants.iter().find_map(|want| match want.key {
            Key::Event { number: known } if known == number => Some(want.name.clone()),
            _ => None,
        })
    };
    let mut done = Instrumented { missing: strange_types(recogniser, path), ..Instrumented::default() };
    let missing = |symbol: SymbolId, reason: &str, help: &str| {
        let problem = Diagnostic::error(places.get(&symbol).copied().unwrap_or_default(), reason);
        if help.is_empty() { problem } else { problem.help(help) }
    };
    for unknown in unknown {
        done.missing.push(missing(unknown.symbol, &unknown.reason, &unknown.help));
    }
    let (mut instrumentor, problems) = Instrumentor::new(wants.clone(), &|name| path.class(name));
    for problem in problems {
        let Key::Event { number } = problem.key else { continue };
        let help = match problem.pending {
            true => named(number).and_then(|name| wants::meant(path, &name)).unwrap_or_default(),
            false => problem.help,
        };
        let help = help.split(" Otherwise").next().unwrap_or_default();
        done.missing.push(missing(SymbolId(number), &problem.reason, help));
    }
    // The begin and the end of one method are two events.
    done.missing.dedup();
    let mut names: Vec<&str> = path.names().collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let Some(bytes) = path.bytes(name) else { continue };
        match instrumentor.weave(&bytes) {
            Ok(Some(woven)) => {
                done.left.extend(woven.left.iter().map(|left| format!("{}.{left}", dotted(name))));
                if woven.probes > 0 {
                    write(folder, &format!("{name}.class"), &woven.bytes)?;
                    let (before, after) = (bytes.len(), woven.bytes.len());
                    done.classes.push(Grown { name: dotted(name), before, after, probes: woven.probes });
                }
            }
            Ok(None) => {}
            Err(problem) => done.left.push(format!("{}: {problem}", dotted(name))),
        }
    }
    write(folder, FILE, &instrumentor.marks().to_bytes())?;
    Ok(done)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let file = folder.join(name);
    let failed = |error| format!("{} cannot be written: {error}", file.display());
    if let Some(around) = file.parent() {
        fs::create_dir_all(around).map_err(failed)?;
    }
    fs::write(&file, bytes).map_err(failed)
}
