//! Runs and rounds per second on one core: the synthetic benchmark's formulae and traces.

use invigil_benches::{print_table, timed};
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::simulate::Conditions;
use invigil_lab::experiment::Workload;
use invigil_lab::synthetic::SyntheticBenchmark;
use invigil_ltl::Logic;

pub(crate) fn run(quick: bool) {
    println!("Runs and rounds per second of one core, |C| = 3 … 6 (processor time without setup)");
    println!("[EH18] used a cluster and gives no times; THEMIS is not run here.\n");
    let size = SyntheticBenchmark {
        formulae: if quick { 5 } else { 25 },
        traces: 10,
        ..SyntheticBenchmark::default()
    };
    let experiment = match size.experiment() {
        Ok(experiment) => experiment,
        Err(error) => return println!("  no formulae: {error}"),
    };
    let mut rows =
        vec![["algorithm", "encoding", "runs/s", "rounds/s", "setup ms"].map(str::to_owned).to_vec()];
    for choice in Algorithm::ALL {
        rows.push(measure::<States>(choice, "states", &experiment.workloads, &size));
        // The expressions of broadcast grow without bound.
        if choice != Algorithm::Broadcast {
            rows.push(measure::<Expressions>(choice, "expressions", &experiment.workloads, &size));
        }
    }
    print_table(&rows);
}

fn measure<E: Encoding>(
    choice: Algorithm,
    name: &str,
    workloads: &[Workload],
    size: &SyntheticBenchmark,
) -> Vec<String> {
    let (mut runs, mut rounds, mut seconds) = (0.0, 0.0, 0.0);
    let (mut setup, mut setups) = (0.0, 0.0);
    for subject in workloads {
        let traces = || subject.trials.iter().map(|trial| &trial.trace);
        for formula in &subject.formulae {
            let (time, prepared) = timed(|| {
                let mut logic = Logic::new(size.budget);
                let formula = logic.parse(formula).ok()?;
                MonitorSet::<E>::new(choice, &mut logic, formula, &subject.system).ok()
            });
            let Some(prepared) = prepared else { continue };
            (setup, setups) = (setup + time.cpu.as_secs_f64(), setups + 1.0);
            let (time, _) = timed(|| {
                prepared.run(&subject.system, Conditions::default(), traces(), |outcome, _| {
                    runs += 1.0;
                    rounds += f64::from(outcome.rounds);
                })
            });
            seconds += time.cpu.as_secs_f64();
        }
    }
    let per_second = |count: f64| format!("{:.0}", count / seconds.max(1e-9));
    let setup = format!("{:.2}", 1000.0 * setup / f64::max(setups, 1.0));
    vec![choice.to_string(), name.to_owned(), per_second(runs), per_second(rounds), setup]
}
