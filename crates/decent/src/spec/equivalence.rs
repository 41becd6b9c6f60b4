//! Equivalence of specifications by verdicts ([EH18 §6] defines it and gives no algorithm).

use super::flatten::flatten;
use super::monitorability::{Prefix, observations};
use super::reference;
use crate::network::Network;
use crate::system::{PropositionId, System};
use invigil_ltl::moore::{Moore, Truth, Verdict};
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic, TooLarge};

/// Comparison of the verdicts of two specifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal verdicts after every prefix.
    Same,
    /// One of them has a verdict where the other one is still undecided; no contradiction was found.
    OneIsSlower(Difference),
    /// They contradict each other.
    Different(Difference),
    /// Undecided because of a limit; the verdicts are equal on all traces up to a length.
    SameUpTo {
        /// The length.
        length: usize,
        /// The exceeded limit.
        limit: TooLarge,
    },
}

/// Prefix after which two specifications have different verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// A shortest such prefix.
    pub after: Prefix,
    /// Their verdicts.
    pub verdicts: [Truth; 2],
}

/// Verdicts of two monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct VerdictPair(Truth, Truth);

impl Verdict for VerdictPair {
    fn is_final(self) -> bool {
        self.0.is_final() && self.1.is_final()
    }
}

/// Compares two networks over one system, given all observations.
pub fn compare(system: &System, first: &Network, second: &Network, budget: Budget) -> Comparison {
    let mut logic = Logic::new(budget);
    let machines = flatten(&mut logic, system, first, first.root)
        .and_then(|one| Ok((one, flatten(&mut logic, system, second, second.root)?)));
    machines.and_then(|(one, other)| compare_machines(&logic, system, &one, &other)).unwrap_or_else(|limit| {
        compare_up_to(system, first, |trace| reference::verdict(second, trace), limit)
    })
}

/// Compares a network with the exact monitor of a formula over the propositions of the system.
///
/// # Errors
/// Fails if the monitor of the formula is too large.
pub fn compare_formula(
    system: &System,
    network: &Network,
    formula: &SyntaxTree,
    budget: Budget,
) -> Result<Comparison, TooLarge> {
    let mut logic = Logic::new(budget);
    let too_many = TooLarge { resource: "subformulae", limit: budget.formulae };
    let formula = logic.formulae.lower(formula).map_err(|_| too_many)?;
    let machine = logic.monitor(formula)?;
    let flat = flatten(&mut logic, system, network, network.root);
    flat.and_then(|flat| compare_machines(&logic, system, &flat, &machine)).or_else(|limit| {
        let verdict = |trace: &Trace| {
            let mut state = machine.initial;
            for seen in trace {
                let holds = |name: &str| {
                    seen.iter().any(|(at, value)| *value && system.proposition_name(*at) == name)
                };
                let atoms = logic.formulae.atoms();
                let letter =
                    atoms.filter(|(_, name)| holds(&name.to_string())).map(|(atom, _)| atom).collect();
                state = machine.next(&logic.labels, state, &letter);
            }
            *machine.output(state)
        };
        Ok(compare_up_to(system, network, verdict, limit))
    })
}

fn compare_machines(
    logic: &Logic,
    system: &System,
    first: &Moore<Truth>,
    second: &Moore<Truth>,
) -> Result<Comparison, TooLarge> {
    if first == second {
        return Ok(Comparison::Same);
    }
    let both = first.product(second, &logic.labels, &logic.budget, VerdictPair)?;
    let found = |is_match: fn(VerdictPair) -> bool| {
        let mut verdicts = None;
        let after = both.shortest_word(&logic.labels, |_, output| {
            verdicts = Some([output.0, output.1]);
            is_match(output)
        })?;
        let after = after.iter().map(|letter| observations(logic, system, letter)).collect();
        Some(Difference { after, verdicts: verdicts? })
    };
    let contradiction = found(|both| both.0.is_final() && both.1.is_final() && both.0 != both.1);
    let slower = || found(|both| both.0 != both.1);
    Ok(match contradiction {
        Some(difference) => Comparison::Different(difference),
        None => slower().map_or(Comparison::Same, Comparison::OneIsSlower),
    })
}

type Trace = [Vec<(PropositionId, bool)>];

/// Maximum number of traces of one length that are enumerated.
const MAX_TRACES: usize = 1 << 14;

/// Compares the verdicts on all traces, by increasing length, up to the limit.
fn compare_up_to(
    system: &System,
    network: &Network,
    verdict: impl Fn(&Trace) -> Truth,
    limit: TooLarge,
) -> Comparison {
    let propositions: Vec<PropositionId> = system.propositions().collect();
    let letters = 1usize.checked_shl(propositions.len() as u32).unwrap_or(usize::MAX);
    let letter = |number: usize| -> Vec<(PropositionId, bool)> {
        propositions
            .iter()
            .enumerate()
            .map(|(at, proposition)| (*proposition, number >> at & 1 == 1))
            .collect()
    };
    let mut slower = None;
    let mut length = 0;
    let mut count = letters;
    while count <= MAX_TRACES {
        length += 1;
        for number in 0..count {
            let mut rest = number;
            let trace: Vec<_> = (0..length)
                .map(|_| {
                    let seen = letter(rest % letters);
                    rest /= letters;
                    seen
                })
                .collect();
            let verdicts = [reference::verdict(network, &trace), verdict(&trace)];
            if verdicts[0] == verdicts[1] {
                continue;
            }
            let holding = |seen: &Vec<(PropositionId, bool)>| {
                seen.iter().filter(|(_, value)| *value).map(|(at, _)| *at).collect()
            };
            let difference = Difference { after: trace.iter().map(holding).collect(), verdicts };
            if verdicts.iter().all(|verdicts| verdicts.is_final()) {
                return Comparison::Different(difference);
            }
            slower.get_or_insert(difference);
        }
        count = count.saturating_mul(letters);
    }
    slower.map_or(Comparison::SameUpTo { length, limit }, Comparison::OneIsSlower)
}
