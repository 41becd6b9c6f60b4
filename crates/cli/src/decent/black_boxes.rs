//! Loads the black boxes of a specification: properties and scripts in files next to it.

use super::loaded_spec::{LoadedSpec, SpecKind};
use crate::load::{Loaded, load};
use crate::run::{LoadedScripts, ProgramInfo, load_scripts};
use crate::terminal::Terminal;
use crate::{CliError, files};
use invigil_decent::spec::{MonitorBody, SpecDiagnostic};
use invigil_decent::system::MonitorId;
use invigil_expr::diag::Diagnostic;
use invigil_lab::black_box::{BlackBoxes, PropertyBox, ScriptBox};
use invigil_lang::decent;
use invigil_lang::report::render;
use std::path::{Path, PathBuf};

/// Loads the black boxes of a specification. `file` is its path.
pub(super) fn load_all(spec: &LoadedSpec, file: &str, terminal: &Terminal) -> Result<BlackBoxes, CliError> {
    let mut boxes = BlackBoxes::default();
    let SpecKind::Specification(loaded) = &spec.kind else { return Ok(boxes) };
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    for id in loaded.specification.monitors() {
        let monitor = loaded.specification.monitor(id);
        let MonitorBody::BlackBox { file } = &monitor.body else { continue };
        let loader = BlackBoxLoader { spec, loaded, id, path: folder.join(file), terminal };
        let name = loaded.specification.name(id);
        let verdict = spec.system.find_proposition(&format!("@{name}"));
        let (Some(verdict), Some(component)) = (verdict, monitor.at) else { continue };
        match loader.path.extension().and_then(|ending| ending.to_str()) {
            Some("prop" | "ltl") => {
                let read = loader.property()?;
                let place = (&spec.system, component);
                let made = PropertyBox::new(read.automata, &read.catalog, place, read.sources.clone(), file);
                boxes.add(&spec.system, verdict, made.map_err(|diagnostics| loader.invalid(&read.sources, &diagnostics))?);
            }
            Some("medl") => {
                let (read, scripts) = loader.script()?;
                for plan in &scripts.plans {
                    let made = ScriptBox::new(plan, &read.catalog, &scripts.entity_spans, (&spec.system, component));
                    boxes.add(&spec.system, verdict, made.map_err(|diagnostics| loader.invalid(&read.sources, &diagnostics))?);
                }
            }
            _ => terminal.eprint(&format!(
                "note: `{file}` cannot be run here (supported: .prop, .ltl, .medl): the verdicts of {name} are expected \
                 as the observation `@{name}`"
            )),
        }
    }
    Ok(boxes)
}

/// One black box that is being loaded.
struct BlackBoxLoader<'a> {
    spec: &'a LoadedSpec,
    loaded: &'a decent::LoadedSpecification,
    id: MonitorId,
    path: PathBuf,
    terminal: &'a Terminal,
}

impl BlackBoxLoader<'_> {
    fn property(&self) -> Result<Loaded, CliError> {
        self.check(&self.path, "the property must be in the directory of the specification")?;
        let read = load(std::slice::from_ref(&self.path), &[], self.terminal.errors.colour)?;
        self.warn(&read);
        Ok(read)
    }

    fn script(&self) -> Result<(Loaded, LoadedScripts), CliError> {
        let pedl = self.path.with_extension("pedl");
        self.check(&self.path, "the script must be in the directory of the specification")?;
        self.check(
            &pedl,
            "a requirement script needs a monitoring script of the same name in its directory",
        )?;
        let colour = self.terminal.errors.colour;
        let mut read = load(&[], &[], colour)?;
        let scripts = load_scripts(&mut read, &[(pedl, self.path.clone())], &ProgramInfo::default(), colour)?;
        self.warn(&read);
        Ok((read, scripts))
    }

    /// Checks that a file can be read. The error points to its name in the specification.
    fn check(&self, path: &Path, help: &str) -> Result<(), CliError> {
        let Err(error) = files::read(path, "black box") else { return Ok(()) };
        let name = self.loaded.specification.name(self.id);
        let problem =
            SpecDiagnostic::new(self.id, format!("cannot read the black box `{name}`: {}", error.message))
                .help(help);
        Err(self.spec.invalid(&[self.loaded.diagnostic(problem)], self.terminal))
    }

    fn invalid(&self, sources: &invigil_expr::diag::Sources, diagnostics: &[Diagnostic]) -> CliError {
        CliError::rendered(render(sources, diagnostics, self.terminal.errors.colour))
    }

    fn warn(&self, read: &Loaded) {
        if !read.warnings.is_empty() {
            self.terminal.eprint(&read.warnings(self.terminal.errors.colour));
        }
    }
}
