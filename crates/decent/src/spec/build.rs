//! Compilation of specifications to networks.

use super::automaton_spec::BuildError;
use super::placement::{Placement, place};
use super::{MonitorBody, SpecDiagnostic, Specification, box_proposition, graph};
use crate::automaton::{Automaton, AutomatonError, Edge};
use crate::memory::Atom;
use crate::network::{Network, PlacedAutomaton};
use crate::system::{ComponentId, MonitorId, PropositionId};
use invigil_ltl::formula::Proposition;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic, TooLarge};
use invigil_suggest::nearest;

/// Maximum number of reported diagnostics.
const MAX_DIAGNOSTICS: usize = 100;

impl Specification {
    /// Checks a specification without building automata: unknown names, non-local propositions, no root.
    pub fn check(&self) -> Vec<SpecDiagnostic> {
        let mut diagnostics = Vec::new();
        for id in self.monitors() {
            self.check_names(id, &mut diagnostics);
            self.check_locality(id, &mut diagnostics);
            if diagnostics.len() >= MAX_DIAGNOSTICS {
                return diagnostics;
            }
        }
        if self.monitors().len() == 0 {
            diagnostics.push(
                SpecDiagnostic::general("there are no monitors").help("write: name @ component = formula"),
            );
        } else if self.root.is_none() {
            let diagnostic = SpecDiagnostic::general("no root is given");
            diagnostics.push(diagnostic.help("write: root name"));
        }
        diagnostics
    }

    /// Compiles the monitors to automata and places them: on the given component, on the component of their
    /// propositions, or on a component that can reach and be reached as needed.
    ///
    /// # Errors
    /// Returns all diagnostics.
    pub fn network(&self, budget: Budget) -> Result<Network, Vec<SpecDiagnostic>> {
        let mut diagnostics = self.check();
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let mut logic = Logic::new(budget);
        let mut automata = Vec::with_capacity(self.monitors().len());
        for id in self.monitors() {
            match self.automaton(id, &mut logic, budget) {
                Ok(automaton) => automata.push(automaton),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        let (Some(root), true) = (self.root, diagnostics.is_empty()) else { return Err(diagnostics) };
        let places = self.places().map_err(|diagnostic| vec![diagnostic])?;
        let parts = self.monitors().zip(automata).zip(places).map(|((id, automaton), at)| PlacedAutomaton {
            name: self.name(id).to_owned(),
            at,
            automaton,
        });
        Ok(Network { monitors: parts.collect(), root })
    }

    /// Returns the component that each monitor is tied to: the given one, or the one that observes its propositions.
    pub fn constraints(&self) -> Vec<Option<ComponentId>> {
        let place = |id| self.monitor(id).at.or_else(|| self.owners(id).first().map(|(_, owner)| *owner));
        self.monitors().map(place).collect()
    }

    fn check_names(&self, id: MonitorId, diagnostics: &mut Vec<SpecDiagnostic>) {
        for name in self.trees(id).into_iter().flat_map(SyntaxTree::atoms).map(|(name, _)| name) {
            let diagnostic = |message: String| SpecDiagnostic::new(id, message);
            match name {
                Proposition::Monitor(name) if self.find(name) == Some(id) => {
                    let message = format!("`{name}` refers to itself");
                    diagnostics
                        .push(diagnostic(message).about(name).help("a monitor can only refer to others"));
                }
                _ if self.meaning(name).is_some() => {}
                Proposition::Monitor(name) => {
                    let candidates = self.monitors().map(|id| self.name(id));
                    let message = format!("there is no monitor `{name}`");
                    diagnostics.push(with_nearest(diagnostic(message).about(name), name, candidates));
                }
                Proposition::Name(name) if self.find(name).is_some() => {
                    let message =
                        format!("no component observes `{name}`, but there is a monitor of this name");
                    diagnostics
                        .push(diagnostic(message).about(name).help(format!("refer to it as `@{name}`")));
                }
                Proposition::Name(name) => {
                    let candidates = self.system.propositions().map(|id| self.system.proposition_name(id));
                    let message = format!("no component observes `{name}`");
                    diagnostics.push(with_nearest(diagnostic(message).about(name), name, candidates));
                }
                Proposition::Expression(text) => {
                    let message = format!("expressions such as `{text}` are not allowed in monitors");
                    diagnostics.push(
                        diagnostic(message).about(text).help("declare a proposition for it on a component"),
                    );
                }
                Proposition::Fresh(_) => {}
            }
            if diagnostics.len() >= MAX_DIAGNOSTICS {
                return;
            }
        }
    }

    /// Checks that a monitor contains only propositions of its own component.
    fn check_locality(&self, id: MonitorId, diagnostics: &mut Vec<SpecDiagnostic>) {
        let owners = self.owners(id);
        let Some(at) = self.monitor(id).at.or_else(|| owners.first().map(|(_, owner)| *owner)) else {
            return;
        };
        let own = self.system.component_name(at);
        for (proposition, owner) in owners.iter().filter(|(_, owner)| *owner != at) {
            let (name, other) =
                (self.system.proposition_name(*proposition), self.system.component_name(*owner));
            let message = match self.monitor(id).at {
                Some(_) => format!("`{}` is on {own}, but `{name}` is observed by {other}", self.name(id)),
                None => {
                    let first = owners.first().map_or("", |(first, _)| self.system.proposition_name(*first));
                    format!(
                        "`{first}` is observed by {own}, but `{name}` by {other}: one monitor cannot see both"
                    )
                }
            };
            let help = format!(
                "write a monitor for it, `m_{name} @ {other} = {name}`, and refer to it as `@m_{name}`"
            );
            diagnostics.push(SpecDiagnostic::new(id, message).about(name).help(help));
        }
    }

    /// Returns the propositions of a monitor with their components.
    fn owners(&self, id: MonitorId) -> Vec<(PropositionId, ComponentId)> {
        let observed = self.atoms(id).into_iter().filter_map(|atom| match atom {
            Atom::Observed(proposition) => Some((proposition, self.system.owner(proposition))),
            Atom::Verdict(_) => None,
        });
        observed.collect()
    }

    fn trees(&self, id: MonitorId) -> Vec<&SyntaxTree> {
        match &self.monitor(id).body {
            MonitorBody::Formula(tree) => vec![tree],
            MonitorBody::Automaton(automaton) => automaton.labels().collect(),
            MonitorBody::BlackBox { .. } => Vec::new(),
        }
    }

    fn automaton(
        &self,
        id: MonitorId,
        logic: &mut Logic,
        budget: Budget,
    ) -> Result<Automaton, SpecDiagnostic> {
        let name = self.name(id);
        let cannot_build = |reason: &dyn std::fmt::Display| {
            let diagnostic = SpecDiagnostic::new(id, format!("cannot build the monitor `{name}`: {reason}"));
            diagnostic.help("split it into smaller monitors that it refers to")
        };
        let large = |too_large: TooLarge| cannot_build(&too_large).too_large(too_large);
        let machine = match &self.monitor(id).body {
            MonitorBody::Formula(tree) => {
                let too_many = TooLarge { resource: "subformulae", limit: budget.formulae };
                let lowered = logic.formulae.lower(tree);
                let formula = lowered.map_err(|error| cannot_build(&error).too_large(too_many))?;
                logic.monitor(formula).map_err(large)?
            }
            MonitorBody::Automaton(automaton) => automaton.machine(logic).map_err(|error| match error {
                BuildError::TooLarge(too_large) => large(too_large),
                BuildError::Invalid(message, help) => SpecDiagnostic::new(id, message).help(help),
            })?,
            MonitorBody::BlackBox { .. } => return Ok(self.relay(id)),
        };
        Automaton::of(logic, &machine, |name| self.meaning(name)).map_err(|error| match error {
            AutomatonError::TooLarge(too_large) => large(too_large),
            AutomatonError::Unknown(name) => SpecDiagnostic::new(id, format!("unknown name `{name}`")),
        })
    }

    /// Builds the automaton for a black box: its verdict is the observed one.
    fn relay(&self, id: MonitorId) -> Automaton {
        let box_atom = self.box_atom(id);
        let to = |state, value| Edge {
            to: state,
            cubes: vec![box_atom.map(|atom| (atom, value)).into_iter().collect()],
        };
        let always = |state| vec![Edge { to: state, cubes: vec![Vec::new()] }];
        Automaton {
            initial: 0,
            verdicts: vec![Truth::Unknown, Truth::False, Truth::True],
            edges: vec![vec![to(1, false), to(2, true)], always(1), always(2)],
        }
    }

    fn places(&self) -> Result<Vec<ComponentId>, SpecDiagnostic> {
        // Verdicts flow from referenced to referring monitors.
        let mut sends = vec![Vec::new(); self.monitors().len()];
        for id in self.monitors() {
            for atom in self.atoms(id) {
                if let Atom::Verdict(other) = atom {
                    sends[other.index()].push(id.index());
                }
            }
        }
        let constraints = self.constraints();
        match place(&sends, &self.system, &constraints) {
            Placement::Placed(places) => Ok(places),
            Placement::Impossible => Err(self.misplaced(&sends, &constraints)),
            Placement::Unknown => {
                let diagnostic =
                    SpecDiagnostic::general("no placement of all monitors was found within the search limit");
                Err(diagnostic.help("give components for some of them: name @ component = …"))
            }
        }
    }

    /// Explains why no placement exists: two monitors without a path between their components if there are such,
    /// otherwise a general diagnostic.
    fn misplaced(&self, sends: &[Vec<usize>], constraints: &[Option<ComponentId>]) -> SpecDiagnostic {
        for start in self.monitors() {
            let Some(from) = constraints[start.index()] else { continue };
            let hops = self.system.hops(from);
            let mut seen = vec![false; sends.len()];
            let mut open = vec![start.index()];
            while let Some(at) = open.pop() {
                for next in sends[at].iter().filter(|next| !std::mem::replace(&mut seen[**next], true)) {
                    if let Some(to) = constraints[*next].filter(|to| hops[to.index()].is_none()) {
                        let reader = MonitorId(*next as u32);
                        let message = format!(
                            "`{}` on {} depends on `{}` on {}, but no path of links leads there",
                            self.name(reader),
                            self.system.component_name(to),
                            self.name(start),
                            self.system.component_name(from)
                        );
                        return SpecDiagnostic::new(reader, message)
                            .about(self.name(start))
                            .help("add a link, or move one of them");
                    }
                    open.push(*next);
                }
            }
        }
        SpecDiagnostic::general("the links do not allow any placement of all monitors")
            .help("add links, or move monitors")
    }

    /// Returns whether a proposition stands for the verdict of a black box.
    pub fn is_black_box(&self, proposition: PropositionId) -> bool {
        let is_box = |id: &MonitorId| matches!(self.monitor(*id).body, MonitorBody::BlackBox { .. });
        let atom =
            self.system.proposition_name(proposition).strip_prefix('@').and_then(|name| self.find(name));
        atom.filter(is_box)
            .is_some_and(|id| box_proposition(self.name(id)) == self.system.proposition_name(proposition))
    }
}

fn with_nearest<'a>(
    diagnostic: SpecDiagnostic,
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> SpecDiagnostic {
    match nearest(name, candidates) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

impl Network {
    /// Returns whether references form a cycle.
    pub fn is_cyclic(&self) -> bool {
        let edges = self.graph();
        graph::components(&edges).iter().any(|component| graph::is_cycle(&edges, component))
    }

    /// Returns the sub-network that a monitor needs, with this monitor as root.
    pub fn rooted(&self, root: MonitorId) -> Network {
        let edges = self.graph();
        let (mut kept, mut number) = (vec![root.index()], vec![None; edges.len()]);
        number[root.index()] = Some(0);
        let mut next = 0;
        while let Some(&at) = kept.get(next) {
            next += 1;
            for &to in &edges[at] {
                if number[to].is_none() {
                    number[to] = Some(kept.len() as u32);
                    kept.push(to);
                }
            }
        }
        let renumbered = |at: &usize| {
            let mut part = self.monitors[*at].clone();
            for (atom, _) in
                part.automaton.edges.iter_mut().flatten().flat_map(|edge| &mut edge.cubes).flatten()
            {
                if let Atom::Verdict(other) = atom {
                    *other = MonitorId(number[other.index()].unwrap_or_default());
                }
            }
            part.automaton
                .edges
                .iter_mut()
                .flatten()
                .flat_map(|edge| &mut edge.cubes)
                .for_each(|cube| cube.sort_unstable());
            part
        };
        Network { monitors: kept.iter().map(renumbered).collect(), root: MonitorId(0) }
    }
}
