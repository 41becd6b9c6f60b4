//! What is to be monitored, from what the user gives.

use clap::Args as Options;
use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text::pairs;
use invigil_expr::diag::Sources;
use invigil_lang::{decent, report};
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::Source;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What is to hold, and where observations come from.
#[derive(Options)]
pub(crate) struct Spec {
    /// What is to hold, as a formula
    #[arg(long, conflicts_with = "spec")]
    formula: Option<String>,
    /// What is to hold, as a decentralized specification (.dec)
    #[arg(long, value_name = "FILE", required_unless_present = "formula")]
    spec: Option<PathBuf>,
    /// How a formula is monitored: orchestration, migration, round-robin, choreography, broadcast, abridged
    #[arg(long, default_value = "abridged", conflicts_with = "spec")]
    algorithm: Choice,
    /// The traces, which are sent along: a folder with `NUMBER-COMPONENT.trace` for each component
    #[arg(long, value_name = "FOLDER", conflicts_with = "own_traces")]
    traces: Option<PathBuf>,
    /// The traces are on the nodes: FOLDER/traces/NUMBER-COMPONENT.trace
    #[arg(long)]
    own_traces: bool,
    /// Which trace
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    trace: u32,
    /// What a component observes, where no traces are sent along: `lamp=on,hot`
    #[arg(long, value_name = "COMPONENT=NAMES")]
    observes: Vec<String>,
}

/// All that is needed to deploy a run.
pub(crate) struct Wanted {
    pub(crate) system: System,
    pub(crate) prepared: Prepared<States>,
    traces: BTreeMap<ComponentId, String>,
    trace: u32,
}

impl Wanted {
    pub(crate) fn source(&self, component: ComponentId) -> Source {
        self.traces.get(&component).map_or(Source::Own(self.trace), |text| Source::Sent(text.clone()))
    }
}

pub(crate) fn load(spec: &Spec) -> Result<Wanted, String> {
    let files = match &spec.traces {
        Some(folder) => read(folder, spec.trace)?,
        None if spec.own_traces => BTreeMap::new(),
        None => return Err("say where the traces are: --traces FOLDER, or --own-traces".to_owned()),
    };
    let mut system = System::default();
    let prepared;
    match (&spec.spec, &spec.formula) {
        (Some(path), _) => {
            let text = fs::read_to_string(path).map_err(|error| told(path, error))?;
            let mut sources = Sources::default();
            let source = sources.add(path.display().to_string(), text.clone());
            let (loaded, mut problems) = decent::load(source, &text);
            let network = loaded.as_ref().map(|loaded| loaded.network(Budget::default()));
            let network = match network {
                Some(Ok(network)) => network,
                Some(Err(more)) => {
                    problems.extend(more);
                    return Err(report::render(&sources, &problems, false));
                }
                None => return Err(report::render(&sources, &problems, false)),
            };
            prepared = Prepared::network(&network).map_err(|error| error.to_string())?;
            if let Some(loaded) = loaded {
                system = loaded.specification.system;
            }
        }
        (None, formula) => {
            observed(&mut system, &spec.observes, &files)?;
            let mut logic = Logic::new(Budget::default());
            let text = formula.as_deref().unwrap_or_default();
            let formula = logic.parse(text).map_err(|error| format!("the formula `{text}`: {error}"))?;
            prepared = Prepared::new(spec.algorithm, &mut logic, formula, &system)
                .map_err(|error| error.to_string())?;
        }
    }
    let mut traces = BTreeMap::new();
    for (component, text) in files {
        let known = system.find_component(&component);
        traces.insert(
            known.ok_or_else(|| format!("there is a trace of {component}, which is no component"))?,
            text,
        );
    }
    if let (false, Some(bare)) =
        (spec.own_traces, system.components().find(|known| !traces.contains_key(known)))
    {
        let name = system.component_name(bare);
        return Err(format!("there is no trace of {name}: {}-{name}.trace is missing", spec.trace));
    }
    Ok(Wanted { system, prepared, traces, trace: spec.trace })
}

/// The traces of a run, by component.
fn read(folder: &Path, number: u32) -> Result<BTreeMap<String, String>, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| told(folder, error))? {
        let path = entry.map_err(|error| told(folder, error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let component = name.strip_prefix(&format!("{number}-")).and_then(|rest| rest.strip_suffix(".trace"));
        if let Some(component) = component {
            files
                .insert(component.to_owned(), fs::read_to_string(&path).map_err(|error| told(&path, error))?);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: there is no trace {number}-COMPONENT.trace", folder.display()));
    }
    Ok(files)
}

/// The system of a formula: what the user says, and what the traces have.
fn observed(
    system: &mut System,
    observes: &[String],
    files: &BTreeMap<String, String>,
) -> Result<(), String> {
    let mut add = |component: &str, name: &str| {
        let component = system.component(component).map_err(|clash| clash.to_string())?;
        if name.is_empty() {
            Ok(())
        } else {
            system.proposition(component, name).map(drop).map_err(|clash| clash.to_string())
        }
    };
    for given in observes {
        let (component, names) =
            given.split_once('=').ok_or_else(|| format!("expected `COMPONENT=NAMES`, found `{given}`"))?;
        names.split(',').try_for_each(|name| add(component.trim(), name.trim()))?;
    }
    for (component, text) in files {
        add(component, "")?;
        for (number, line) in text.lines().enumerate() {
            for pair in pairs(line) {
                let (name, _) =
                    pair.map_err(|words| format!("trace of {component}, line {}: {words}", number + 1))?;
                add(component, name)?;
            }
        }
    }
    Ok(())
}

fn told(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
