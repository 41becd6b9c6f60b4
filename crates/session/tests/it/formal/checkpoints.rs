//! Joint checkpoints: rules CKPT and RESTORE of figures 3.9, 3.12 and 3.16, as corrected.

use crate::formal::controlled::{Controlled, Debugged, Reading};
use crate::formal::controller::{Command, Controller, Mode, Output};
use crate::formal::driver::MAX_LEN;
use crate::formal::points::Point;
use crate::formal::random::{Case, Scope, case};
use crate::formal::verified::{Irv, IrvAct, Verified};
use invigil_target::Owner;
use invigil_test_support::cases;
use proptest::prelude::*;

/// Long enough to distinguish two continuations.
const FUTURE: usize = 60;

/// What the program and the monitor do from here on without interference.
fn future(irv: &Verified<Controlled>, from: &Irv<Debugged>) -> Vec<IrvAct> {
    let mut at = from.clone();
    let mut acts = vec![];
    while acts.len() < FUTURE {
        at.ec = irv.ec.with_mode(&at.ec, Mode::Passive);
        let Some((act, to)) = irv.run(&at).into_iter().next() else { break };
        at = to;
        if matches!(act.output, Output::Events(_) | Output::Executed(..)) {
            acts.push(act);
        }
    }
    acts
}

fn quiet(case: &Case) -> Case {
    let mut case = case.clone();
    let reactions = case.scenario.on_verdict.iter_mut().flatten().chain(&mut case.scenario.on_point);
    reactions.for_each(|reaction| reaction.commands.clear());
    case
}

/// The points of the user and the scenario.
fn lasting(at: &Irv<Debugged>) -> Vec<Point> {
    let points = at.ec.d.bpts.iter().chain(&at.ec.d.wpts);
    points.filter(|point| point.owner() != Owner::Monitors).copied().collect()
}

/// Takes a checkpoint during a run, continues, changes points, and restores it.
fn comes_back(case: &Case, reading: Reading, here: usize, later: usize) -> Result<(), TestCaseError> {
    let irv = case.formal(reading);
    let alone = quiet(case).formal(reading);
    let run = irv.run_case(case, |_| 0);
    let (_, at) = &run.acts[here % run.acts.len()];
    let (_, kept) = irv.command(at, &Command::Checkpoint).unwrap();
    let before = future(&alone, &kept);

    let mut at = kept.clone();
    for _ in 0..later {
        at.ec = irv.ec.with_mode(&at.ec, Mode::Passive);
        let Some((_, to)) = irv.run(&at).into_iter().next() else { break };
        at = to;
    }
    for command in
        case.developer.iter().filter(|c| matches!(c, Command::SetPoint(_) | Command::RemovePoint(_)))
    {
        at = irv.command(&at, command).map_or(at, |(_, to)| to);
    }

    let number = kept.ec.d.cpts.len() - 1;
    let (_, restored) = irv.command(&at, &Command::Restore(number)).unwrap();
    prop_assert_eq!(lasting(&restored), lasting(&at), "the developer's and the scenario's points stay");
    prop_assert_eq!(&restored.ec.d.evts, &kept.ec.d.evts, "the monitors' are those of the checkpoint");
    prop_assert_eq!(&restored.ec.d.hdld, &kept.ec.d.hdld);
    prop_assert_eq!(restored.ec.clean(), kept.ec.clean());
    prop_assert_eq!(restored.ec.p.pc, kept.ec.p.pc);
    prop_assert_eq!(restored.m.state, kept.m.state);
    let after = future(&alone, &restored);
    let same = after.iter().zip(&before).take_while(|(one, other)| one == other).count();
    prop_assert!(
        after == before,
        "the same follows, nothing twice: {:?}, not {:?}",
        after.get(same),
        before.get(same)
    );
    // A checkpoint can be restored repeatedly, whatever points are set at the time.
    let (_, again) = irv.command(&restored, &Command::Restore(number)).unwrap();
    prop_assert_eq!(again, restored);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(4000)))]

    #[test]
    fn restore_reproduces_the_continuation(
        case in case(Scope::Observing), once in any::<bool>(), here in 0..MAX_LEN, later in 0..40_usize
    ) {
        let reading = if once { Reading::OncePerPlace } else { Reading::AllAtOnce };
        comes_back(&case, reading, here, later)?;
    }

    #[test]
    fn repeated_restores_reproduce_the_continuation(
        case in case(Scope::Everything), once in any::<bool>(), here in 0..MAX_LEN, later in 0..40_usize
    ) {
        let reading = if once { Reading::OncePerPlace } else { Reading::AllAtOnce };
        comes_back(&case, reading, here, later)?;
    }

    /// After the restore of a checkpoint taken at an event, the event does not occur again.
    #[test]
    fn restore_repeats_no_event(case in case(Scope::Observing)) {
        let irv = case.formal(Reading::AllAtOnce);
        let alone = quiet(&case).formal(Reading::AllAtOnce);
        for (act, at) in &irv.run_case(&case, |_| 0).acts {
            let Output::Events(events) = &act.output else { continue };
            let (_, kept) = irv.command(at, &Command::Checkpoint).unwrap();
            let number = kept.ec.d.cpts.len() - 1;
            let (_, restored) = irv.command(&kept, &Command::Restore(number)).unwrap();
            let executed = |act: &IrvAct| matches!(act.output, Output::Executed(..));
            let here: Vec<IrvAct> = future(&alone, &restored).into_iter().take_while(|a| !executed(a)).collect();
            for again in &here {
                if let Output::Events(more) = &again.output {
                    prop_assert!(more.iter().all(|event| !events.contains(event)), "{:?} again", more);
                }
            }
        }
    }
}
