//! The black boxes of a specification: files beside it.

use super::subject::{Subject, What};
use crate::load::{Loaded, load};
use crate::run::{Program, Scripts, load_scripts};
use crate::terminal::Terminal;
use crate::{Trouble, files};
use invigil_decent::spec::{Body, Problem};
use invigil_decent::system::MonitorId;
use invigil_expr::diag::Diagnostic;
use invigil_lab::boxes::{Boxes, Property, Script};
use invigil_lang::decent;
use invigil_lang::report::render;
use std::path::{Path, PathBuf};

/// Reads the black boxes of a specification, whose file it is.
pub(super) fn load_all(subject: &Subject, spec: &str, terminal: &Terminal) -> Result<Boxes, Trouble> {
    let mut boxes = Boxes::default();
    let What::Specification(loaded) = &subject.what else { return Ok(boxes) };
    let folder = Path::new(spec).parent().unwrap_or(Path::new(""));
    for id in loaded.specification.monitors() {
        let monitor = loaded.specification.monitor(id);
        let Body::BlackBox { file } = &monitor.body else { continue };
        let one = One { subject, loaded, id, path: folder.join(file), terminal };
        let name = loaded.specification.name(id);
        let says = subject.system.find(&format!("@{name}"));
        let (Some(says), Some(at)) = (says, monitor.at) else { continue };
        match one.path.extension().and_then(|ending| ending.to_str()) {
            Some("prop" | "ltl") => {
                let read = one.property()?;
                let place = (&subject.system, at);
                let made = Property::new(read.automata, &read.catalog, place, read.sources.clone(), file);
                boxes.add(&subject.system, says, made.map_err(|wrong| one.wrong(&read.sources, &wrong))?);
            }
            Some("medl") => {
                let (read, scripts) = one.script()?;
                for plan in &scripts.plans {
                    let made = Script::new(plan, &read.catalog, &scripts.places, (&subject.system, at));
                    boxes.add(&subject.system, says, made.map_err(|wrong| one.wrong(&read.sources, &wrong))?);
                }
            }
            _ => terminal.complain(&format!(
                "note: `{file}` is nothing that can be run here (.prop, .ltl, .medl): what {name} says is expected \
                 among the observations, as `@{name}`"
            )),
        }
    }
    Ok(boxes)
}

/// A black box on its way.
struct One<'a> {
    subject: &'a Subject,
    loaded: &'a decent::Loaded,
    id: MonitorId,
    path: PathBuf,
    terminal: &'a Terminal,
}

impl One<'_> {
    fn property(&self) -> Result<Loaded, Trouble> {
        self.check(&self.path, "the property is looked for beside the specification")?;
        let read = load(std::slice::from_ref(&self.path), &[], self.terminal.errors.colour)?;
        self.warn(&read);
        Ok(read)
    }

    fn script(&self) -> Result<(Loaded, Scripts), Trouble> {
        let pedl = self.path.with_extension("pedl");
        self.check(&self.path, "the script is looked for beside the specification")?;
        self.check(&pedl, "a requirement script needs the monitoring script of the same name beside it")?;
        let colour = self.terminal.errors.colour;
        let mut read = load(&[], &[], colour)?;
        let scripts = load_scripts(&mut read, &[(pedl, self.path.clone())], &Program::default(), colour)?;
        self.warn(&read);
        Ok((read, scripts))
    }

    /// That a file can be read; if not, it is told where the specification names it.
    fn check(&self, path: &Path, help: &str) -> Result<(), Trouble> {
        let Err(trouble) = files::read(path, "black box") else { return Ok(()) };
        let name = self.loaded.specification.name(self.id);
        let problem =
            Problem::new(self.id, format!("the black box `{name}` cannot be read: {}", trouble.message))
                .help(help);
        Err(self.subject.wrong(&[self.loaded.tell(problem)], self.terminal))
    }

    fn wrong(&self, sources: &invigil_expr::diag::Sources, problems: &[Diagnostic]) -> Trouble {
        Trouble::rendered(render(sources, problems, self.terminal.errors.colour))
    }

    fn warn(&self, read: &Loaded) {
        if !read.warnings.is_empty() {
            self.terminal.complain(&read.warnings(self.terminal.errors.colour));
        }
    }
}
