//! Section 3.4.2: verdicts are sound and complete. The monitor sees what the oracle finds from the program
//! alone, whatever points others have and whatever they do at them.

use crate::formal::by_owners::Fault;
use crate::formal::controlled::Reading;
use crate::formal::controller::Output;
use crate::formal::oracle;
use crate::formal::points::{Event, EventType, SymbolicEvent};
use crate::formal::program::{Instr, Program};
use crate::formal::random::{Case, Scope, case};
use crate::formal::scenario::{Reaction, Scenario};
use invigil_test_support::cases;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![Just(Reading::Printed), Just(Reading::AllAtOnce), Just(Reading::OncePerPlace)]
}

fn sound_and_complete(case: &Case, reading: Reading, picks: u64) -> Result<(), TestCaseError> {
    let run = case.formal(reading).run_case(case, |choices| picks as usize % choices);
    let acts = run.acts.iter().map(|(act, _)| act);
    oracle::check(&case.program, &case.monitor, reading, acts).map_err(TestCaseError::fail)?;
    if run.ended {
        let stop = Output::Events(vec![Event::Stop]);
        prop_assert!(run.acts.iter().any(|(act, _)| act.output == stop), "the end was not reported");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6000)))]

    #[test]
    fn verdicts_are_sound_and_complete(
        case in case(Scope::Observing), reading in reading(), picks in any::<u64>()
    ) {
        sound_and_complete(&case, reading, picks)?;
    }

    /// Beyond the propositions: after a restore, an assignment or a jump they are those of the run as it is.
    #[test]
    fn verdicts_follow_restores(
        case in case(Scope::Checkpoints), reading in reading(), picks in any::<u64>()
    ) {
        sound_and_complete(&case, reading, picks)?;
    }

    #[test]
    fn verdicts_follow_every_command(
        case in case(Scope::Everything), reading in reading(), picks in any::<u64>()
    ) {
        sound_and_complete(&case, reading, picks)?;
    }
}

/// The oracle detects faulty controllers.
#[test]
fn oracle_detects_faulty_controllers() {
    let faults = [
        Fault::KeepsHandled,
        Fault::CheckpointWithoutHandled,
        Fault::RestoreKeepsEvents,
        Fault::FirstEventOnly,
        Fault::ForgetsWhenPointsChange,
        Fault::OneSetForBoth,
    ];
    for fault in [None].into_iter().chain(faults.map(Some)) {
        let mut runner = TestRunner::deterministic();
        let strategy = case(Scope::Checkpoints);
        let mut reported = 0;
        let wrong = (0..1000).filter(|_| {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            let run = case.by_owners(fault).run_case(&case, |_| 0);
            let acts = run.acts.iter().map(|(act, _)| act);
            let checked = oracle::check(&case.program, &case.monitor, Reading::OncePerPlace, acts);
            reported += checked.as_ref().unwrap_or(&0);
            checked.is_err()
        });
        let wrong = wrong.count();
        assert_eq!(wrong > 0, fault.is_some(), "{fault:?}: {wrong} of 1000");
        assert!(reported > 1000, "{reported} events are too few to say anything");
    }
}

/// An observable decision: an event that becomes needed because of another one at the same place waits for the next
/// time the program reaches it, because its owners have been notified there. Two names for one function show it.
#[test]
fn event_needed_late_waits_for_next_visit() {
    let reach = |name| SymbolicEvent { kind: EventType::Reach, name, params: vec![] };
    let (first, second) = (reach(0), reach(1));
    let to = |event, to| vec![crate::formal::monitor::Transition { event, odd: None, to }];
    let monitor = crate::formal::monitor::Monitor {
        catalog: vec![first.clone(), second],
        states: vec![to(0, 1), to(1, 2), vec![]],
        at_stop: vec![0, 1, 2],
    };
    // Address 1 has both names and is passed twice: the second cell is odd the first time.
    let code = vec![
        Instr::Const { to: 5, value: 1 },
        Instr::Move { from: 5, to: 6 },
        Instr::Const { to: 5, value: 0 },
        Instr::JumpIf { odd: 6, to: 1 },
        Instr::Stop,
    ];
    let program = Program { code, data: vec![0, 0], start: 0, symbols: vec![1, 1] };
    let nothing = Reaction { to: 0, commands: vec![] };
    let scenario = Scenario { on_verdict: vec![vec![nothing.clone()]], on_point: vec![nothing] };
    let developer = vec![crate::formal::controller::Command::Continue];
    let case = Case { program, monitor, scenario, points: vec![], developer };
    for reading in [Reading::Printed, Reading::AllAtOnce, Reading::OncePerPlace] {
        let run = case.formal(reading).run_case(&case, |_| 0);
        let tell = |event: &Event| match event {
            Event::Stop => "stop",
            Event::At(event, _) if *event == first => "first",
            Event::At(..) => "second",
        };
        let seen: Vec<String> = run
            .acts
            .iter()
            .filter_map(|(act, _)| match &act.output {
                Output::Executed(_, pc) => Some(pc.to_string()),
                Output::Events(events) => Some(events.iter().map(tell).collect()),
                _ => None,
            })
            .collect();
        assert_eq!(seen, ["0", "first", "1", "2", "3", "second", "1", "2", "3", "stop"]);
    }
}
