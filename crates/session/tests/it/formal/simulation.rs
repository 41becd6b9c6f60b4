//! Section 3.4: relation 𝓡 holds, and the program and the interactively verified program weakly simulate each
//! other (propositions 3.4.1.1 and 3.4.1.2).

use crate::formal::controlled::{Act, Controlled, Debugged, Reading};
use crate::formal::controller::{Command, Controller};
use crate::formal::program::{Addr, BREAK, Mem, Program, ProgramAction, ProgramState};
use crate::formal::random::{Case, Scope, case};
use crate::formal::verified::{Irv, IrvAct, Verified};
use crate::formal::weak_simulation::Simulation;
use invigil_semantics::Semantics;
use invigil_test_support::cases;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Definition 3.4.1.1.
fn related(ec: &Debugged, p: &ProgramState) -> bool {
    let same_memory = p.m == ec.clean();
    let same_pc = p.pc == ec.p.pc;
    let original_or_break = ec.p.m.iter().zip(&p.m).all(|(dbg, own)| *dbg == BREAK || dbg == own);
    same_memory && same_pc && original_or_break
}

/// The invariant about traps from the prose: every known breakpoint has its instruction in memory, except for the
/// one that TRAPNOBREAK has just removed.
fn traps_are_in(ec: &Debugged) -> bool {
    let in_memory = |addr: &Addr| ec.p.m[usize::from(*addr)] == BREAK;
    let known = |addr: &Addr| ec.d.bpts.iter().any(|point| point.breaks_at(*addr));
    (0..ec.p.m.len() as Addr).all(|addr| match (in_memory(&addr), known(&addr)) {
        (true, known) => known,
        (false, known) => !known || addr == ec.p.pc,
    })
}

fn exec(action: &ProgramAction) -> Option<(Mem, Addr)> {
    match action {
        ProgramAction::Exec(m, pc) => Some((m.clone(), *pc)),
        ProgramAction::Trap => None,
    }
}

/// The commands of a case, each once, with those that are needed for progress.
fn alphabet(case: &Case) -> Vec<Command> {
    let mut commands = vec![Command::Step, Command::Continue, Command::Interrupt];
    let points = case.points.iter().copied().map(Command::SetPoint);
    for command in points.chain(case.developer.iter().cloned()) {
        if !commands.contains(&command) && commands.len() < 8 {
            commands.push(command);
        }
    }
    commands
}

const LIMIT: usize = 120;

/// Both propositions, on the configurations that are reached first.
fn both_ways(case: &Case, reading: Reading) -> Result<usize, String> {
    let irv = Verified { commands: alphabet(case), ..case.formal(reading) };
    let program = &case.program;
    let there: Simulation<'_, Verified<Controlled>, Program, _> = Simulation {
        by: &irv,
        of: program,
        related: &|irv: &Irv<Debugged>, p| related(&irv.ec, p) && traps_are_in(&irv.ec),
        seen_by: &IrvAct::observable,
        seen_of: &exec,
    };
    let start = (irv.start(), program.initial().into_iter().next().unwrap());
    let reached = there.explore(start, LIMIT)?;
    // The proof steps where the debugger is interactive: no other command is needed.
    let stepped = Verified { commands: vec![Command::Step], ..irv.clone() };
    let back: Simulation<'_, Program, Verified<Controlled>, _> = Simulation {
        by: program,
        of: &stepped,
        related: &|p, irv: &Irv<Debugged>| related(&irv.ec, p),
        seen_by: &exec,
        seen_of: &IrvAct::observable,
    };
    for (irv, p) in &reached {
        back.match_all(&(p.clone(), irv.clone()))?;
    }
    Ok(reached.len())
}

/// The same for the execution controller alone, with points of all three owners set by hand.
fn both_ways_alone(case: &Case, reading: Reading) -> Result<usize, String> {
    let commands = alphabet(case);
    let ec = Controlled { program: case.program.clone(), reading, commands };
    let program = &case.program;
    let seen = |act: &Act| act.observable().map(|(m, pc)| (m.clone(), pc));
    let there: Simulation<'_, Controlled, Program, _> =
        Simulation { by: &ec, of: program, related: &related, seen_by: &seen, seen_of: &exec };
    // The monitor's events of every state at once, and the scenario's points of every reaction.
    let mut start = ec.instrument(&Controller::initial(&ec), &case.monitor.catalog);
    for reaction in case.scenario.on_verdict.iter().flatten().chain(&case.scenario.on_point) {
        for command in reaction.commands.iter().filter(|c| matches!(c, Command::SetPoint(_))) {
            start = ec.command(&start, command).unwrap().1;
        }
    }
    let reached = there.explore((start, program.initial().into_iter().next().unwrap()), LIMIT)?;
    let stepped = Controlled { commands: vec![Command::Step], ..ec.clone() };
    let back: Simulation<'_, Program, Controlled, _> = Simulation {
        by: program,
        of: &stepped,
        related: &|p, ec| related(ec, p),
        seen_by: &exec,
        seen_of: &seen,
    };
    for (ec, p) in &reached {
        back.match_all(&(p.clone(), ec.clone()))?;
    }
    Ok(reached.len())
}

fn reading() -> impl Strategy<Value = Reading> {
    prop_oneof![Just(Reading::Printed), Just(Reading::AllAtOnce), Just(Reading::OncePerPlace)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    #[test]
    fn the_program_and_the_verified_program_simulate_each_other(
        case in case(Scope::Observing), reading in reading()
    ) {
        both_ways(&case, reading).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn the_program_and_the_controlled_program_simulate_each_other(
        case in case(Scope::Observing), reading in reading()
    ) {
        both_ways_alone(&case, reading).map_err(TestCaseError::fail)?;
    }

    /// Late in the run, beyond the reach of the exploration above.
    #[test]
    fn relation_holds_along_every_run(
        case in case(Scope::Observing), reading in reading(), picks in any::<u64>()
    ) {
        let irv = case.formal(reading);
        let run = irv.run_case(&case, |choices| picks as usize % choices);
        let mut p = case.program.initial().into_iter().next().unwrap();
        for (act, at) in &run.acts {
            if let Some(label) = act.observable() {
                prop_assert_eq!((&p.m, p.pc), (&label.0, label.1));
                p = case.program.run_instr(&p).unwrap();
            }
            prop_assert!(related(&at.ec, &p), "after {:?}", act);
            prop_assert!(traps_are_in(&at.ec), "after {:?}", act);
        }
    }

    /// Also after restores, jumps, and writes into the code.
    #[test]
    fn traps_are_in_place_after_every_command(
        case in case(Scope::Everything), reading in reading(), picks in any::<u64>()
    ) {
        let run = case.formal(reading).run_case(&case, |choices| picks as usize % choices);
        for (act, at) in &run.acts {
            prop_assert!(traps_are_in(&at.ec), "after {:?}", act);
        }
    }
}

/// The restrictions of the propositions are necessary, and the check can fail: a user who writes into the
/// program or moves it makes it do what the program alone does not.
#[test]
fn propositions_fail_without_their_restrictions() {
    let mut runner = TestRunner::deterministic();
    let strategy = case(Scope::Everything);
    let broken = (0..300).filter(|_| {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        both_ways(&case, Reading::AllAtOnce).is_err()
    });
    assert!(broken.count() > 30);
}

/// The explored part is large enough to be meaningful.
#[test]
fn exploration_covers_many_pairs() {
    let mut runner = TestRunner::deterministic();
    let strategy = case(Scope::Observing);
    let pairs: usize = (0..200)
        .map(|_| {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            both_ways(&case, Reading::AllAtOnce).unwrap()
        })
        .sum();
    assert!(pairs > 200 * 60, "{pairs} pairs only");
}
