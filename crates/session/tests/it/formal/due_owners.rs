//! The implementation's selection of owners (`invigil_target::pending_owners`) compared with the formal model.

use crate::formal::by_owners::{ByOwners, Fault};
use crate::formal::controlled::{Controlled, Reading};
use crate::formal::controller::{Command, Output, Rule};
use crate::formal::driver::Run;
use crate::formal::monitor::Monitor;
use crate::formal::points::Point;
use crate::formal::program::{Instr, Program};
use crate::formal::random::{Case, Scope, case};
use crate::formal::scenario::{Reaction, Scenario};
use crate::formal::verified::IrvAct;
use invigil_target::Owner;
use invigil_test_support::cases;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn runs(case: &Case, reading: Reading, fault: Option<Fault>) -> (Run<Controlled>, Run<ByOwners>) {
    let formal = case.formal(reading).run_case(case, |_| 0);
    let owners = case.by_owners(fault).run_case(case, |_| 0);
    (formal, owners)
}

/// The first observable difference between the two: stops with their owners and points,
/// events, verdicts, executed instructions, replies.
fn difference(formal: &Run<Controlled>, owners: &Run<ByOwners>) -> Option<usize> {
    let (formal_acts, owners_acts) = (formal.visible(), owners.visible());
    if formal_acts == owners_acts && formal.ended == owners.ended {
        return None;
    }
    let same = formal_acts.iter().zip(&owners_acts).take_while(|(one, other)| one == other).count();
    Some(same)
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Observing), Just(Scope::Checkpoints), Just(Scope::Everything)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(10_000)))]

    #[test]
    fn owner_sets_agree_with_the_model(case in scope().prop_flat_map(case)) {
        let (formal, owners) = runs(&case, Reading::OncePerPlace, None);
        let at = difference(&formal, &owners);
        prop_assert_eq!(at, None, "{:?}\n{:?}", at.map(|at| formal.visible()[at]), at.map(|at| owners.visible()[at]));
    }

    /// Compared with the rules that mark points rather than owners as handled, there is exactly one difference:
    /// a watchpoint that is set where its owner was already notified of this access.
    #[test]
    fn owner_sets_differ_from_printed_rules_only_in_late_watchpoints(case in scope().prop_flat_map(case)) {
        let (formal, owners) = runs(&case, Reading::AllAtOnce, None);
        if let Some(at) = difference(&formal, &owners) {
            let visible = |(act, _): &&(IrvAct, _)| act.rule != Rule::TrapNoBreak;
            let acts: Vec<_> = formal.acts.iter().filter(visible).collect();
            let owner = match acts[at].0.rule {
                Rule::DevWatch => Owner::User,
                Rule::ScnWatch => Owner::Scenario,
                Rule::EvtWatch => Owner::Monitors,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            let model = case.formal(Reading::AllAtOnce).ec;
            prop_assert!(model.is_served(&acts[at - 1].1.ec, owner, false));
        }
    }
}

const CASES: usize = 1000;

/// The number of cases in which a controller with this fault is detected.
fn found_out(fault: Option<Fault>, scope: Scope) -> usize {
    let mut runner = TestRunner::deterministic();
    let strategy = case(scope);
    (0..CASES)
        .filter(|_| {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            let (formal, owners) = runs(&case, Reading::OncePerPlace, fault);
            difference(&formal, &owners).is_some()
        })
        .count()
}

#[test]
fn injected_faults_are_detected() {
    let faults = [
        (Fault::KeepsHandled, Scope::Observing),
        (Fault::MonitorsFirst, Scope::Observing),
        (Fault::ScenarioFirst, Scope::Observing),
        (Fault::FirstEventOnly, Scope::Observing),
        (Fault::ForgetsWhenPointsChange, Scope::Observing),
        (Fault::OneSetForBoth, Scope::Observing),
        (Fault::CheckpointWithoutHandled, Scope::Checkpoints),
        (Fault::RestoreKeepsEvents, Scope::Checkpoints),
        (Fault::RestoreDropsScenario, Scope::Checkpoints),
    ];
    for (fault, scope) in faults {
        let found = found_out(Some(fault), scope);
        assert!(found >= 10, "{fault:?} is found in {found} of {CASES} cases");
    }
    assert_eq!(found_out(None, Scope::Observing) + found_out(None, Scope::Checkpoints), 0);
}

/// The difference between marking owners and marking points, as an example: stopped at a read of `a` that the
/// same instruction follows with a write of `b`, the user sets a watchpoint on `b`.
#[test]
fn late_watchpoint_applies_from_next_access() {
    let (a, b) = (3, 4);
    let owner = Owner::User;
    let reads = Point::Watch { addr: a, read: true, write: false, owner };
    let writes = Point::Watch { addr: b, read: false, write: true, owner };
    let copy = Instr::Move { from: a, to: b };
    let nothing = Reaction { to: 0, commands: vec![] };
    let case = Case {
        program: Program { code: vec![copy, copy, Instr::Stop], data: vec![7, 0], start: 0, symbols: vec![] },
        monitor: Monitor { catalog: vec![], states: vec![vec![]], at_stop: vec![0] },
        scenario: Scenario { on_verdict: vec![vec![nothing.clone()]], on_point: vec![nothing] },
        points: vec![reads],
        developer: vec![Command::Continue, Command::SetPoint(writes), Command::Continue],
    };
    let stops = |acts: Vec<&IrvAct>| -> Vec<String> {
        let tell = |act: &&IrvAct| match &act.output {
            Output::Developer(points) => Some(format!("stop for {}", points.len())),
            Output::Executed(_, pc) => Some(format!("execute {pc}")),
            _ => None,
        };
        acts.iter().filter_map(tell).collect()
    };
    let (points, owners) = runs(&case, Reading::AllAtOnce, None);
    assert_eq!(stops(points.visible()), ["stop for 1", "stop for 1", "execute 0", "stop for 2", "execute 1"]);
    assert_eq!(stops(owners.visible()), ["stop for 1", "execute 0", "stop for 2", "execute 1"]);
    // As printed, each point is a stop of its own.
    let printed = case.formal(Reading::Printed).run_case(&case, |_| 0);
    assert_eq!(
        stops(printed.visible()),
        ["stop for 1", "stop for 1", "execute 0", "stop for 1", "stop for 1", "execute 1"]
    );
}
