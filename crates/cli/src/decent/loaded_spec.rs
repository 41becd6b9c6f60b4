//! Loads the formula or specification to monitor, with its system.

use super::args;
use crate::CliError;
use crate::files;
use crate::terminal::Terminal;
use invigil_decent::automaton::Automaton;
use invigil_decent::memory::Atom;
use invigil_decent::network::Network;
use invigil_decent::system::{MonitorId, System};
use invigil_expr::diag::{Diagnostic, SourceId, Sources, Span};
use invigil_lang::decent::{self, LoadedSpecification};
use invigil_lang::report::render;
use invigil_lang::themis;
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic};
use std::path::Path;

/// A formula or a specification, with its system.
pub(super) struct LoadedSpec {
    pub(super) system: System,
    pub(super) kind: SpecKind,
    sources: Sources,
}

pub(super) enum SpecKind {
    Formula(SyntaxTree),
    Specification(Box<LoadedSpecification>),
}

impl LoadedSpec {
    /// Loads a formula or a specification. `system` has the components and propositions of the traces.
    pub(super) fn load(
        args: &args::SpecArgs,
        system: Option<&System>,
        terminal: &Terminal,
    ) -> Result<LoadedSpec, CliError> {
        let system_from_options = components(&args.components)?;
        let system = system_from_options.as_ref().or(system);
        let path = Path::new(&args.spec);
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("dec" | "xml") => LoadedSpec::file(path, ending == Some("xml"), system, terminal),
            _ => LoadedSpec::formula(&args.spec, system, terminal),
        }
    }

    pub(super) fn file(
        path: &Path,
        is_xml: bool,
        system: Option<&System>,
        terminal: &Terminal,
    ) -> Result<LoadedSpec, CliError> {
        let mut sources = Sources::default();
        let text = files::read(path, "specification")?;
        let id = sources.add(path.display().to_string(), text.as_str());
        let (loaded, diagnostics) = match is_xml {
            true => themis::load(id, &text, system),
            false => decent::load(id, &text),
        };
        let shown = render(&sources, &diagnostics, terminal.errors.colour);
        let Some(loaded) = loaded else { return Err(CliError::rendered(shown)) };
        if !diagnostics.is_empty() {
            terminal.eprint(&shown);
        }
        let system = loaded.specification.system.clone();
        Ok(LoadedSpec { system, kind: SpecKind::Specification(Box::new(loaded)), sources })
    }

    fn formula(text: &str, system: Option<&System>, terminal: &Terminal) -> Result<LoadedSpec, CliError> {
        let text = text.strip_prefix("ltl:").unwrap_or(text);
        let mut sources = Sources::default();
        let id = sources.add("<formula>", text);
        let error = |span: std::ops::Range<usize>, message: String, help: Option<String>| {
            let diagnostic = Diagnostic::error(Span::new(id, span.start as u32, span.end as u32), message);
            let diagnostic = if let Some(help) = help { diagnostic.help(help) } else { diagnostic };
            CliError::rendered(render(&sources, &[diagnostic], terminal.errors.colour))
        };
        let tree = SyntaxTree::parse(text).map_err(|wrong| error(wrong.span, wrong.message, wrong.hint))?;
        let system = match system {
            Some(system) => system.clone(),
            None => system_from_names(&tree),
        };
        for (name, span) in tree.atoms() {
            let is_known = match name {
                Proposition::Name(name) | Proposition::Expression(name) => {
                    system.find_proposition(name).is_some()
                }
                Proposition::Monitor(_) | Proposition::Fresh(_) => false,
            };
            if !is_known {
                let help = match name {
                    Proposition::Monitor(_) => {
                        "references to monitors are only allowed in specifications (FILE.dec)".to_owned()
                    }
                    _ => format!("assign it to a component: --component NAME:{name}"),
                };
                return Err(error(span, format!("no component observes `{name}`"), Some(help)));
            }
        }
        Ok(LoadedSpec { system, kind: SpecKind::Formula(tree), sources })
    }

    /// Builds the monitors of a specification.
    pub(super) fn network(
        &self,
        loaded: &LoadedSpecification,
        terminal: &Terminal,
    ) -> Result<Network, CliError> {
        loaded.network(Budget::default()).map_err(|diagnostics| self.invalid(&diagnostics, terminal))
    }

    /// Renders the diagnostics of a specification.
    pub(super) fn invalid(&self, diagnostics: &[Diagnostic], terminal: &Terminal) -> CliError {
        CliError::rendered(render(&self.sources, diagnostics, terminal.errors.colour))
    }

    /// Replaces the formula of a monitor, given as `NAME = FORMULA`.
    pub(super) fn replace_formula(&mut self, text: &str, terminal: &Terminal) -> Result<(), CliError> {
        self.adapt("<instead>", text, terminal, |loaded, id| loaded.replace_formula(id, text).map(|_| ()))
    }

    /// Adds a variant of a monitor with another formula. Returns both monitors.
    pub(super) fn add_variant(
        &mut self,
        text: &str,
        terminal: &Terminal,
    ) -> Result<(MonitorId, MonitorId), CliError> {
        self.adapt("<variant>", text, terminal, |loaded, id| loaded.add_variant(id, text))
    }

    fn adapt<T>(
        &mut self,
        name: &str,
        text: &str,
        terminal: &Terminal,
        adapt: impl FnOnce(&mut LoadedSpecification, SourceId) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, CliError> {
        let id = self.sources.add(name, text);
        match &mut self.kind {
            SpecKind::Specification(loaded) => adapt(loaded, id).map_err(|diagnostics| {
                CliError::rendered(render(&self.sources, &diagnostics, terminal.errors.colour))
            }),
            SpecKind::Formula(_) => {
                Err(CliError::new("a formula has no named monitors; give a specification"))
            }
        }
    }

    /// Builds the automaton of a formula.
    pub(super) fn automaton(&self, tree: &SyntaxTree) -> Result<Automaton, CliError> {
        let mut logic = Logic::new(Budget::default());
        let formula = logic.formulae.lower(tree).map_err(CliError::new)?;
        let monitor = logic.monitor(formula).map_err(CliError::new)?;
        let atom = |name: &Proposition| self.system.find_proposition(&name.to_string()).map(Atom::Observed);
        Automaton::of(&logic, &monitor, atom).map_err(CliError::new)
    }
}

/// Parses the components of the options, such as `lamp:on,hot`.
fn components(options: &[String]) -> Result<Option<System>, CliError> {
    let mut system = System::default();
    for text in options {
        let (name, observed) = text.split_once(':').unwrap_or((text, ""));
        let component = system.component(name.trim()).map_err(CliError::new)?;
        for proposition in observed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            system.proposition(component, proposition).map_err(CliError::new)?;
        }
    }
    Ok((!options.is_empty()).then_some(system))
}

/// Derives the components from the names: `b1` belongs to `b`. Other names get no component.
fn system_from_names(tree: &SyntaxTree) -> System {
    let mut names: Vec<String> = tree.atoms().map(|(name, _)| name.to_string()).collect();
    names.sort_unstable();
    let mut system = System::default();
    for name in names {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let has_number = !letters.is_empty() && letters.len() < name.len();
        if has_number && letters.chars().all(|c| c.is_ascii_alphabetic())
            // The name determines its component, so that the second call cannot fail.
            && let Ok(component) = system.component(letters)
        {
            let _ = system.proposition(component, &name);
        }
    }
    system
}
