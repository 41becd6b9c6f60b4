//! What is watched for, and on which system.

use super::args;
use crate::Trouble;
use crate::files;
use crate::terminal::Terminal;
use invigil_decent::automaton::Automaton;
use invigil_decent::memory::Atom;
use invigil_decent::network::Network;
use invigil_decent::system::{MonitorId, System};
use invigil_expr::diag::{Diagnostic, SourceId, Sources, Span};
use invigil_lang::decent::{self, Loaded};
use invigil_lang::report::render;
use invigil_lang::themis;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Budget, Logic};
use std::path::Path;

/// A formula or a specification, with its system.
pub(super) struct Subject {
    pub(super) system: System,
    pub(super) what: What,
    sources: Sources,
}

pub(super) enum What {
    Formula(Tree),
    Specification(Box<Loaded>),
}

impl Subject {
    /// Reads it; `system` is what traces tell of who observes what.
    pub(super) fn load(
        args: &args::Subject,
        system: Option<&System>,
        terminal: &Terminal,
    ) -> Result<Subject, Trouble> {
        let written = components(&args.components)?;
        let system = written.as_ref().or(system);
        let path = Path::new(&args.spec);
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("dec" | "xml") => Subject::file(path, ending == Some("xml"), system, terminal),
            _ => Subject::formula(&args.spec, system, terminal),
        }
    }

    pub(super) fn file(
        path: &Path,
        is_xml: bool,
        system: Option<&System>,
        terminal: &Terminal,
    ) -> Result<Subject, Trouble> {
        let mut sources = Sources::default();
        let text = files::read(path, "specification")?;
        let id = sources.add(path.display().to_string(), text.as_str());
        let (loaded, problems) = match is_xml {
            true => themis::load(id, &text, system),
            false => decent::load(id, &text),
        };
        let shown = render(&sources, &problems, terminal.errors.colour);
        let Some(loaded) = loaded else { return Err(Trouble::rendered(shown)) };
        if !problems.is_empty() {
            terminal.complain(&shown);
        }
        let system = loaded.specification.system.clone();
        Ok(Subject { system, what: What::Specification(Box::new(loaded)), sources })
    }

    fn formula(text: &str, system: Option<&System>, terminal: &Terminal) -> Result<Subject, Trouble> {
        let text = text.strip_prefix("ltl:").unwrap_or(text);
        let mut sources = Sources::default();
        let id = sources.add("<formula>", text);
        let told = |span: std::ops::Range<usize>, message: String, help: Option<String>| {
            let told = Diagnostic::error(Span::new(id, span.start as u32, span.end as u32), message);
            let told = if let Some(help) = help { told.help(help) } else { told };
            Trouble::rendered(render(&sources, &[told], terminal.errors.colour))
        };
        let tree = Tree::parse(text).map_err(|mistake| told(mistake.span, mistake.message, mistake.hint))?;
        let system = match system {
            Some(system) => system.clone(),
            None => by_letters(&tree),
        };
        for (name, span) in tree.atoms() {
            let is_known = match name {
                Proposition::Name(name) | Proposition::Expression(name) => system.find(name).is_some(),
                Proposition::Monitor(_) | Proposition::Fresh(_) => false,
            };
            if !is_known {
                let help = match name {
                    Proposition::Monitor(_) => {
                        "references are for specifications: write a file `.dec`".to_owned()
                    }
                    _ => format!("say who observes it: --component NAME:{name}"),
                };
                return Err(told(span, format!("no component observes `{name}`"), Some(help)));
            }
        }
        Ok(Subject { system, what: What::Formula(tree), sources })
    }

    /// The monitors of a specification.
    pub(super) fn network(&self, loaded: &Loaded, terminal: &Terminal) -> Result<Network, Trouble> {
        loaded.network(Budget::default()).map_err(|problems| self.wrong(&problems, terminal))
    }

    /// What is wrong with a specification, as it is shown.
    pub(super) fn wrong(&self, problems: &[Diagnostic], terminal: &Terminal) -> Trouble {
        Trouble::rendered(render(&self.sources, problems, terminal.errors.colour))
    }

    /// Another formula for a monitor of the specification, as `NAME = FORMULA`.
    pub(super) fn instead(&mut self, text: &str, terminal: &Terminal) -> Result<(), Trouble> {
        self.adapt("<instead>", text, terminal, |loaded, id| loaded.instead(id, text).map(|_| ()))
    }

    /// A monitor with another formula beside the one that is there: gives both.
    pub(super) fn variant(
        &mut self,
        text: &str,
        terminal: &Terminal,
    ) -> Result<(MonitorId, MonitorId), Trouble> {
        self.adapt("<variant>", text, terminal, |loaded, id| loaded.variant(id, text))
    }

    fn adapt<T>(
        &mut self,
        name: &str,
        text: &str,
        terminal: &Terminal,
        adapt: impl FnOnce(&mut Loaded, SourceId) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Trouble> {
        let id = self.sources.add(name, text);
        match &mut self.what {
            What::Specification(loaded) => adapt(loaded, id).map_err(|problems| {
                Trouble::rendered(render(&self.sources, &problems, terminal.errors.colour))
            }),
            What::Formula(_) => {
                Err(Trouble::new("a formula has no monitors with names: give a specification"))
            }
        }
    }

    /// The automaton of a formula.
    pub(super) fn automaton(&self, tree: &Tree) -> Result<Automaton, Trouble> {
        let mut logic = Logic::new(Budget::default());
        let formula = logic.formulae.make(tree).map_err(Trouble::new)?;
        let monitor = logic.monitor(formula).map_err(Trouble::new)?;
        let atom = |name: &Proposition| self.system.find(&name.to_string()).map(Atom::Observed);
        Automaton::of(&logic, &monitor, atom).map_err(Trouble::new)
    }
}

/// The components that the user wrote out: `lamp:on,hot`.
fn components(written: &[String]) -> Result<Option<System>, Trouble> {
    let mut system = System::default();
    for text in written {
        let (name, observed) = text.split_once(':').unwrap_or((text, ""));
        let component = system.component(name.trim()).map_err(Trouble::new)?;
        for proposition in observed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            system.proposition(component, proposition).map_err(Trouble::new)?;
        }
    }
    Ok((!written.is_empty()).then_some(system))
}

/// As traces have it: `b1` is observed by `b`. Names that are not letters and a number stay without a component.
fn by_letters(tree: &Tree) -> System {
    let mut names: Vec<String> = tree.atoms().map(|(name, _)| name.to_string()).collect();
    names.sort_unstable();
    let mut system = System::default();
    for name in names {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_so = !letters.is_empty() && letters.len() < name.len();
        if is_so && letters.chars().all(|c| c.is_ascii_alphabetic())
            // A name belongs to one component, and that is told by the name.
            && let Ok(component) = system.component(letters)
        {
            let _ = system.proposition(component, &name);
        }
    }
    system
}
