//! From what is written to automata on components.

use super::drawn::Flaw;
use super::place::{Placement, place};
use super::{Body, Problem, Specification, box_proposition, graph};
use crate::automaton::{Automaton, Edge, Refused};
use crate::memory::Atom;
use crate::network::{Network, Part};
use crate::system::{ComponentId, MonitorId, PropositionId};
use invigil_ltl::formula::Proposition;
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Budget, Logic, TooLarge};

/// Nobody reads more.
const ENOUGH: usize = 100;

impl Specification {
    /// What is wrong as far as it can be seen without making automata: names that mean nothing, monitors that speak of what
    /// others observe, no root.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for id in self.monitors() {
            self.check_names(id, &mut problems);
            self.check_locality(id, &mut problems);
            if problems.len() >= ENOUGH {
                return problems;
            }
        }
        if self.monitors().len() == 0 {
            problems
                .push(Problem::general("there are no monitors").help("write: name @ component = formula"));
        } else if self.root.is_none() {
            let problem = Problem::general("nobody says which monitor is the root");
            problems.push(problem.help("write: root name"));
        }
        problems
    }

    /// The monitors as automata, each on a component: where it was said, or where what it speaks of is observed, or else where
    /// it can be reached.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn network(&self, budget: Budget) -> Result<Network, Vec<Problem>> {
        let mut problems = self.check();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut logic = Logic::new(budget);
        let mut automata = Vec::with_capacity(self.monitors().len());
        for id in self.monitors() {
            match self.automaton(id, &mut logic, budget) {
                Ok(automaton) => automata.push(automaton),
                Err(problem) => problems.push(problem),
            }
        }
        let (Some(root), true) = (self.root, problems.is_empty()) else { return Err(problems) };
        let places = self.places().map_err(|problem| vec![problem])?;
        let parts = self.monitors().zip(automata).zip(places).map(|((id, automaton), at)| Part {
            name: self.name(id).to_owned(),
            at,
            automaton,
        });
        Ok(Network { parts: parts.collect(), root })
    }

    /// Where each monitor must be: where somebody has put it, or where what it speaks of is observed.
    pub fn constraints(&self) -> Vec<Option<ComponentId>> {
        let place = |id| self.monitor(id).at.or_else(|| self.owners(id).first().map(|(_, owner)| *owner));
        self.monitors().map(place).collect()
    }

    fn check_names(&self, id: MonitorId, problems: &mut Vec<Problem>) {
        for name in self.trees(id).into_iter().flat_map(Tree::atoms).map(|(name, _)| name) {
            let problem = |words: String| Problem::new(id, words);
            match name {
                Proposition::Monitor(name) if self.find(name) == Some(id) => {
                    let words = format!("`{name}` refers to itself");
                    problems.push(problem(words).about(name).help("a monitor can only refer to others"));
                }
                _ if self.meaning(name).is_some() => {}
                Proposition::Monitor(name) => {
                    let known = self.monitors().map(|id| self.name(id));
                    let words = format!("there is no monitor `{name}`");
                    problems.push(with_nearest(problem(words).about(name), name, known));
                }
                Proposition::Name(name) if self.find(name).is_some() => {
                    let words =
                        format!("no component observes `{name}`, but there is a monitor of this name");
                    problems.push(problem(words).about(name).help(format!("refer to it as `@{name}`")));
                }
                Proposition::Name(name) => {
                    let known = self.system.propositions().map(|id| self.system.name(id));
                    let words = format!("no component observes `{name}`");
                    problems.push(with_nearest(problem(words).about(name), name, known));
                }
                Proposition::Expression(text) => {
                    let words = format!("a monitor speaks of propositions, not of expressions like `{text}`");
                    problems.push(problem(words).about(text).help("let a component observe it under a name"));
                }
                Proposition::Fresh(_) => {}
            }
            if problems.len() >= ENOUGH {
                return;
            }
        }
    }

    /// Labels speak of what is observed where the monitor is, and of nothing else that is observed.
    fn check_locality(&self, id: MonitorId, problems: &mut Vec<Problem>) {
        let owners = self.owners(id);
        let Some(at) = self.monitor(id).at.or_else(|| owners.first().map(|(_, owner)| *owner)) else {
            return;
        };
        let here = self.system.component_name(at);
        for (proposition, owner) in owners.iter().filter(|(_, owner)| *owner != at) {
            let (name, there) = (self.system.name(*proposition), self.system.component_name(*owner));
            let words = match self.monitor(id).at {
                Some(_) => format!("`{}` is on {here}, but `{name}` is observed by {there}", self.name(id)),
                None => {
                    let first = owners.first().map_or("", |(first, _)| self.system.name(*first));
                    format!(
                        "`{first}` is observed by {here}, but `{name}` by {there}: one monitor cannot see both"
                    )
                }
            };
            let help = format!(
                "write a monitor for it, `m_{name} @ {there} = {name}`, and refer to it as `@m_{name}`"
            );
            problems.push(Problem::new(id, words).about(name).help(help));
        }
    }

    /// What a monitor speaks of that is observed, with the component.
    fn owners(&self, id: MonitorId) -> Vec<(PropositionId, ComponentId)> {
        let observed = self.atoms(id).into_iter().filter_map(|atom| match atom {
            Atom::Observed(proposition) => Some((proposition, self.system.owner(proposition))),
            Atom::Verdict(_) => None,
        });
        observed.collect()
    }

    fn trees(&self, id: MonitorId) -> Vec<&Tree> {
        match &self.monitor(id).body {
            Body::Formula(tree) => vec![tree],
            Body::Automaton(drawn) => drawn.labels().collect(),
            Body::BlackBox { .. } => Vec::new(),
        }
    }

    fn automaton(&self, id: MonitorId, logic: &mut Logic, budget: Budget) -> Result<Automaton, Problem> {
        let name = self.name(id);
        let unmade = |what: &dyn std::fmt::Display| {
            let problem = Problem::new(id, format!("the monitor `{name}` cannot be made: {what}"));
            problem.help("let it refer to smaller monitors")
        };
        let large = |too_large: TooLarge| unmade(&too_large).too_large(too_large);
        let machine = match &self.monitor(id).body {
            Body::Formula(tree) => {
                let too_many = TooLarge { what: "subformulae", limit: budget.formulae };
                let made = logic.formulae.make(tree);
                let formula = made.map_err(|mistake| unmade(&mistake).too_large(too_many))?;
                logic.monitor(formula).map_err(large)?
            }
            Body::Automaton(drawn) => drawn.machine(logic).map_err(|flaw| match flaw {
                Flaw::TooLarge(too_large) => large(too_large),
                Flaw::Wrong(words, help) => Problem::new(id, words).help(help),
            })?,
            Body::BlackBox { .. } => return Ok(self.relay(id)),
        };
        Automaton::of(logic, &machine, |name| self.meaning(name)).map_err(|refused| match refused {
            Refused::TooLarge(too_large) => large(too_large),
            Refused::Unknown(name) => Problem::new(id, format!("nothing is called `{name}`")),
        })
    }

    /// Says what the black box says.
    fn relay(&self, id: MonitorId) -> Automaton {
        let said = self.box_atom(id);
        let to = |state, value| Edge {
            to: state,
            cubes: vec![said.map(|atom| (atom, value)).into_iter().collect()],
        };
        let always = |state| vec![Edge { to: state, cubes: vec![Vec::new()] }];
        Automaton {
            initial: 0,
            verdicts: vec![Truth::Unknown, Truth::False, Truth::True],
            edges: vec![vec![to(1, false), to(2, true)], always(1), always(2)],
        }
    }

    fn places(&self) -> Result<Vec<ComponentId>, Problem> {
        // Verdicts go from those that are referred to to those that refer to them.
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
                let problem = Problem::general("no place was found for all monitors within the time for it");
                Err(problem.help("say where some of them run: name @ component = …"))
            }
        }
    }

    /// Two monitors of which it is plain that they cannot be where they must, if there are; else that there is no way.
    fn misplaced(&self, sends: &[Vec<usize>], constraints: &[Option<ComponentId>]) -> Problem {
        for start in self.monitors() {
            let Some(from) = constraints[start.index()] else { continue };
            let hops = self.system.hops(from);
            let mut seen = vec![false; sends.len()];
            let mut open = vec![start.index()];
            while let Some(at) = open.pop() {
                for next in sends[at].iter().filter(|next| !std::mem::replace(&mut seen[**next], true)) {
                    if let Some(to) = constraints[*next].filter(|to| hops[to.index()].is_none()) {
                        let reader = MonitorId(*next as u32);
                        let words = format!(
                            "`{}` on {} depends on `{}` on {}, and no link leads from there to here",
                            self.name(reader),
                            self.system.component_name(to),
                            self.name(start),
                            self.system.component_name(from)
                        );
                        return Problem::new(reader, words)
                            .about(self.name(start))
                            .help("add a link, or put one of them elsewhere");
                    }
                    open.push(*next);
                }
            }
        }
        Problem::general("the links do not allow to place all monitors")
            .help("add links, or put monitors elsewhere")
    }

    /// Whether a proposition stands for what a black box says.
    pub fn is_black_box(&self, proposition: PropositionId) -> bool {
        let is_box = |id: &MonitorId| matches!(self.monitor(*id).body, Body::BlackBox { .. });
        let said = self.system.name(proposition).strip_prefix('@').and_then(|name| self.find(name));
        said.filter(is_box).is_some_and(|id| box_proposition(self.name(id)) == self.system.name(proposition))
    }
}

fn with_nearest<'a>(problem: Problem, name: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    match nearest(name, known) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// The name that was probably meant: one letter is another, or is missing, or is too many.
fn nearest<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.find(|other| is_near(name, other))
}

fn is_near(one: &str, other: &str) -> bool {
    let ahead =
        one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    let (one, other) = (&one[ahead..], &other[ahead..]);
    let rest = |text: &str| text.chars().next().map_or(0, char::len_utf8);
    let (tail, other_tail) = (&one[rest(one)..], &other[rest(other)..]);
    tail == other_tail || one == other_tail || tail == other
}

impl Network {
    /// Whether references go in circles.
    pub fn is_cyclic(&self) -> bool {
        let edges = self.graph();
        graph::components(&edges).iter().any(|component| graph::is_cycle(&edges, component))
    }

    /// The same with the monitors only that a monitor needs, which becomes the root.
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
            let mut part = self.parts[*at].clone();
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
        Network { parts: kept.iter().map(renumbered).collect(), root: MonitorId(0) }
    }
}
