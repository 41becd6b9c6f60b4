//! Loading of specifications and traces.

use clap::Args as Options;
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::States;
use invigil_decent::system::{ComponentId, System};
use invigil_decent::text::pairs;
use invigil_expr::diag::Sources;
use invigil_lang::{decent, report};
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::TraceSource;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Specification and traces.
#[derive(Options)]
pub(crate) struct Spec {
    /// Specification as a formula
    #[arg(long, conflicts_with = "spec")]
    formula: Option<String>,
    /// Decentralized specification (.dec)
    #[arg(long, value_name = "FILE", required_unless_present = "formula")]
    spec: Option<PathBuf>,
    /// Algorithm for a formula: orchestration, migration, round-robin, choreography, broadcast, abridged
    #[arg(long, default_value = "abridged", conflicts_with = "spec")]
    algorithm: Algorithm,
    /// Traces to send with the run: a folder with `NUMBER-COMPONENT.trace` for each component
    #[arg(long, value_name = "FOLDER", conflicts_with = "own_traces")]
    traces: Option<PathBuf>,
    /// Use the traces stored on the nodes: FOLDER/traces/NUMBER-COMPONENT.trace
    #[arg(long)]
    own_traces: bool,
    /// Number of the trace
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    trace: u32,
    /// Propositions of a component, if no traces are sent with the run: `lamp=on,hot`
    #[arg(long, value_name = "COMPONENT=NAMES")]
    observes: Vec<String>,
}

/// Everything needed to deploy a run.
pub(crate) struct LoadedSpec {
    pub(crate) system: System,
    pub(crate) prepared: MonitorSet<States>,
    traces: BTreeMap<ComponentId, String>,
    trace: u32,
}

impl LoadedSpec {
    pub(crate) fn source(&self, component: ComponentId) -> TraceSource {
        self.traces
            .get(&component)
            .map_or(TraceSource::Local(self.trace), |text| TraceSource::Inline(text.clone()))
    }
}

pub(crate) fn load(spec: &Spec) -> Result<LoadedSpec, String> {
    let files = match &spec.traces {
        Some(folder) => read(folder, spec.trace)?,
        None if spec.own_traces => BTreeMap::new(),
        None => return Err("no traces are given: use --traces FOLDER or --own-traces".to_owned()),
    };
    let mut system = System::default();
    let prepared;
    match (&spec.spec, &spec.formula) {
        (Some(path), _) => {
            let text = fs::read_to_string(path).map_err(|error| io_error(path, error))?;
            let mut sources = Sources::default();
            let source = sources.add(path.display().to_string(), text.clone());
            let (loaded, mut diagnostics) = decent::load(source, &text);
            let network = loaded.as_ref().map(|loaded| loaded.network(Budget::default()));
            let network = match network {
                Some(Ok(network)) => network,
                Some(Err(more)) => {
                    diagnostics.extend(more);
                    return Err(report::render(&sources, &diagnostics, false));
                }
                None => return Err(report::render(&sources, &diagnostics, false)),
            };
            prepared = MonitorSet::network(&network).map_err(|error| error.to_string())?;
            if let Some(loaded) = loaded {
                system = loaded.specification.system;
            }
        }
        (None, formula) => {
            add_observed(&mut system, &spec.observes, &files)?;
            let mut logic = Logic::new(Budget::default());
            let text = formula.as_deref().unwrap_or_default();
            let formula = logic.parse(text).map_err(|error| format!("the formula `{text}`: {error}"))?;
            prepared = MonitorSet::new(spec.algorithm, &mut logic, formula, &system)
                .map_err(|error| error.to_string())?;
        }
    }
    let mut traces = BTreeMap::new();
    for (component, text) in files {
        let id = system.find_component(&component);
        traces.insert(
            id.ok_or_else(|| format!("there is a trace of {component}, which is not a component"))?,
            text,
        );
    }
    if let (false, Some(component)) =
        (spec.own_traces, system.components().find(|component| !traces.contains_key(component)))
    {
        let name = system.component_name(component);
        return Err(format!("there is no trace of {name}: {}-{name}.trace is missing", spec.trace));
    }
    Ok(LoadedSpec { system, prepared, traces, trace: spec.trace })
}

/// Reads the traces of a run, by component.
fn read(folder: &Path, number: u32) -> Result<BTreeMap<String, String>, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| io_error(folder, error))? {
        let path = entry.map_err(|error| io_error(folder, error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let component = name.strip_prefix(&format!("{number}-")).and_then(|rest| rest.strip_suffix(".trace"));
        if let Some(component) = component {
            files.insert(
                component.to_owned(),
                fs::read_to_string(&path).map_err(|error| io_error(&path, error))?,
            );
        }
    }
    if files.is_empty() {
        return Err(format!("{}: there is no trace {number}-COMPONENT.trace", folder.display()));
    }
    Ok(files)
}

/// Builds the system of a formula from the options and the traces.
fn add_observed(
    system: &mut System,
    observes: &[String],
    files: &BTreeMap<String, String>,
) -> Result<(), String> {
    let mut add = |component: &str, name: &str| {
        let component = system.component(component).map_err(|error| error.to_string())?;
        if name.is_empty() {
            Ok(())
        } else {
            system.proposition(component, name).map(drop).map_err(|error| error.to_string())
        }
    };
    for option in observes {
        let (component, names) =
            option.split_once('=').ok_or_else(|| format!("expected `COMPONENT=NAMES`, found `{option}`"))?;
        names.split(',').try_for_each(|name| add(component.trim(), name.trim()))?;
    }
    for (component, text) in files {
        add(component, "")?;
        for (number, line) in text.lines().enumerate() {
            for pair in pairs(line) {
                let (name, _) =
                    pair.map_err(|message| format!("trace of {component}, line {}: {message}", number + 1))?;
                add(component, name)?;
            }
        }
    }
    Ok(())
}

fn io_error(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
