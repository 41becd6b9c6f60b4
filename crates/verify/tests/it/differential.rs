//! Compares verdicts on random models with a naive search by the interpreter.

use invigil_explore::WalkOptions;
use invigil_explore::scheduled::{Filter, Scheduler, SchedulerConfig};
use invigil_expr::diag::SourceId;
use invigil_lang::model::{ClaimBody, ModelFile, load, never_claim};
use invigil_model::{Expression, Model, Step};
use invigil_monitor::event::EventCatalog;
use invigil_test_support::Rng;
use invigil_verify::{
    Claim, ClaimKind, ClaimResult, ExecutionEnd, ExecutionTrace, SearchStrategy, VerifyTask, run, verify,
};
use std::collections::{HashMap, VecDeque};

/// Processes that change two shared variables. Values may leave their range.
fn random(seed: u64) -> String {
    let random = &Rng::new(seed);
    let mut text = "x, y: 0..3\n".to_owned();
    for process in 0..2 + random.below(2) {
        let unit = if random.below(3) == 0 { "environment " } else { "" };
        text.push_str(&format!("{unit}process P{process} {{\n"));
        for state in 0..3 {
            text.push_str(&format!("    state s{state} {{\n"));
            for _ in 0..random.below(3) {
                let guard = ["x < 2", "y != 1", "x == y", "true", "x + y > 1"][random.below(5) as usize];
                let effect = ["x = (x + 1) % 4", "y = (y + x) % 4", "y = any(0..1)", "x = 0", "x++", ""];
                let effect = effect[random.below(6) as usize];
                text.push_str(&format!(
                    "        e{state}: when {guard} -> s{} {{ {effect} }}\n",
                    random.below(3)
                ));
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
    }
    for value in 0..4 {
        text.push_str(&format!("invariant never_{value}: x != {value}\n"));
        text.push_str(&format!("ltl again_{value}: G F \"x == {value}\"\n"));
    }
    text
}

fn loaded(text: &str) -> ModelFile {
    let (loaded, diagnostics) = load(SourceId(0), text);
    loaded.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"))
}

fn claims(loaded: &ModelFile) -> Vec<Claim<'_>> {
    let claim = |of| {
        let of: &invigil_lang::model::Claim = of;
        let what = match &of.body {
            ClaimBody::Always(expression) => ClaimKind::Always(expression),
            ClaimBody::Never(omega) => ClaimKind::Never(omega),
        };
        Claim { name: of.name.clone(), kind: what }
    };
    loaded.claims.iter().map(claim).collect()
}

/// All configurations in the order of discovery, with their depth and successors.
struct Naive {
    far: Vec<u64>,
    states: Vec<Box<[u64]>>,
    next: Vec<Vec<usize>>,
    transitions: u64,
    faults: u64,
}

fn naive(model: &Model) -> Naive {
    let mut all = Naive { far: vec![], states: vec![], next: vec![], transitions: 0, faults: 0 };
    let mut known: HashMap<Box<[u64]>, usize> = HashMap::new();
    let mut open: VecDeque<usize> = VecDeque::new();
    let mut enter = |all: &mut Naive, words: &[u64], far: u64| {
        let place = *known.entry(words.into()).or_insert(all.states.len());
        let is_new = place == all.states.len();
        if is_new {
            all.states.push(words.into());
            all.far.push(far);
            all.next.push(Vec::new());
        }
        (place, is_new)
    };
    for start in model.initial_states() {
        let (place, _) = enter(&mut all, &start.words, 0);
        open.push_back(place);
    }
    while let Some(at) = open.pop_front() {
        let words = all.states[at].clone();
        for action in model.enabled(&words) {
            for outcome in model.outcomes(&words, action) {
                if outcome.fault.is_some() {
                    all.faults += 1;
                    continue;
                }
                all.transitions += 1;
                let far = all.far[at] + 1;
                let (place, is_new) = enter(&mut all, &outcome.words, far);
                all.next[at].push(place);
                if is_new {
                    open.push_back(place);
                }
            }
        }
    }
    all
}

impl Naive {
    /// The depth of the nearest configuration in which the claim is false.
    fn nearest(&self, model: &Model, claim: &Expression) -> Option<u64> {
        let broken = |words: &[u64]| !model.holds(claim, Step::at(words)).expect("a value");
        (0..self.states.len()).filter(|at| broken(&self.states[*at])).map(|at| self.far[at]).min()
    }

    /// Whether an execution can stay forever where `stays` is true: on a cycle, or in a configuration without
    /// fault-free actions.
    fn can_stay(&self, stays: impl Fn(&[u64]) -> bool) -> bool {
        let mut inside: Vec<bool> = self.states.iter().map(|words| stays(words)).collect();
        loop {
            let goes_on =
                |at: usize| self.next[at].is_empty() || self.next[at].iter().any(|next| inside[*next]);
            let after: Vec<bool> = (0..inside.len()).map(|at| inside[at] && goes_on(at)).collect();
            if after == inside {
                return inside.contains(&true);
            }
            inside = after;
        }
    }
}

fn length(story: &ExecutionTrace) -> u64 {
    story.steps.len() as u64 - 1
}

const MODELS: u64 = 150;

#[test]
fn verdicts_agree_with_naive_search() {
    let catalog = EventCatalog::default();
    let (mut violated, mut held, mut stuck, mut wrong) = (0, 0, 0, 0);
    for seed in 1..=MODELS {
        let text = random(seed);
        let loaded = loaded(&text);
        let model = &loaded.model;
        let all = naive(model);
        let is_stuck = |at: usize| model.enabled(&all.states[at]).is_empty();
        let task = VerifyTask {
            claims: claims(&loaded),
            exhaustive: true,
            threads: 2,
            ..VerifyTask::new(model, &catalog)
        };
        let found = verify(&task, &());
        assert_eq!(found.totals.states, all.states.len() as u64, "{text}");
        assert_eq!(found.totals.transitions, all.transitions, "{text}");
        let deadlocks = (0..all.states.len()).filter(|at| is_stuck(*at)).count();
        assert_eq!(found.totals.deadlocks, deadlocks as u64, "{text}");
        assert_eq!(found.totals.faults > 0, all.faults > 0, "{text}");
        assert_eq!(
            found.model_errors.len(),
            usize::from(deadlocks > 0) + usize::from(all.faults > 0),
            "{text}"
        );
        (stuck, wrong) = (stuck + usize::from(deadlocks > 0), wrong + usize::from(all.faults > 0));
        for (verdict, claim) in found.verdicts.iter().zip(&task.claims) {
            assert_eq!(verdict.name, claim.name, "verdicts come in the order of the claims");
            let story = match &verdict.result {
                ClaimResult::Violated(story) => Some(story),
                ClaimResult::Holds => None,
                other => panic!("{other:?}\n{text}"),
            };
            (violated, held) = (violated + usize::from(story.is_some()), held + usize::from(story.is_none()));
            match claim.kind {
                ClaimKind::Always(expression) => {
                    assert_eq!(story.map(length), all.nearest(model, expression), "{}\n{text}", claim.name);
                }
                _ => {
                    let value: u64 = claim.name[6..].parse().expect("a value");
                    let x = model.layout().slots[0];
                    let is_away = |words: &[u64]| x.read(words, 0) as u64 != value;
                    assert_eq!(story.is_some(), all.can_stay(is_away), "{}\n{text}", claim.name);
                    if let Some(story) = story {
                        let is_lasso =
                            matches!(story.ending, ExecutionEnd::Repeats(_) | ExecutionEnd::StaysInDeadlock);
                        assert!(is_lasso, "{:?}", story.ending);
                    }
                }
            }
        }
    }
    // The random models cover all cases.
    assert!(violated > 100 && held > 100 && stuck > 20 && wrong > 20, "{violated} {held} {stuck} {wrong}");
}

#[test]
fn scheduler_preserves_invariants() {
    let catalog = EventCatalog::default();
    for seed in 1..=MODELS / 3 {
        let text = random(seed);
        let loaded = loaded(&text);
        let task = |setup| {
            let claims =
                claims(&loaded).into_iter().filter(|claim| matches!(claim.kind, ClaimKind::Always(_)));
            let claims = claims.collect();
            VerifyTask {
                claims,
                scheduling: setup,
                exhaustive: true,
                ..VerifyTask::new(&loaded.model, &catalog)
            }
        };
        let free = verify(&task(SchedulerConfig::default()), &());
        let order = (0..loaded.model.parts().processes.len() as u32).rev().collect();
        for scheduler in [None, Some(Scheduler::RoundRobin), Some(Scheduler::FixedPriority(order))] {
            for filters in [vec![], vec![Filter::Reactive], vec![Filter::Reactive, Filter::Faultless]] {
                let under = verify(
                    &task(SchedulerConfig { scheduler: scheduler.clone(), filters: filters.clone() }),
                    &(),
                );
                for (free, under) in free.verdicts.iter().zip(&under.verdicts) {
                    let is_violated = |outcome: &ClaimResult| matches!(outcome, ClaimResult::Violated(_));
                    assert!(
                        is_violated(&free.result) || !is_violated(&under.result),
                        "{}\n{text}",
                        free.name
                    );
                }
                if filters.contains(&Filter::Faultless) {
                    assert_eq!(under.totals.faults, 0, "{text}");
                }
            }
        }
    }
}

/// A run violates a formula exactly when it violates the equivalent invariant, and never violates one that no finite
/// execution refutes.
#[test]
fn run_reports_violation_of_formula_exactly() {
    let catalog = EventCatalog::default();
    let mut broken = 0;
    for seed in 1..=MODELS {
        let loaded = loaded(&random(seed));
        let model = &loaded.model;
        // The automaton of the negation's violations accepts the models of the formula.
        let satisfied =
            |text: &str| never_claim(model, SourceId(0), &format!("!({text})"), text).expect("a formula");
        let formulae =
            ["G \"x != 3\"", "G F \"x == 0\"", "F \"x == 3\"", "\"x == 0\" U \"y == 3\""].map(satisfied);
        let task = VerifyTask::new(model, &catalog);
        let mut seen: Vec<(i64, i64)> = Vec::new();
        let ran = run(&task, &formulae, seed, 40, &(), &mut |number, scene| {
            assert_eq!(number, seen.len() as u64);
            let value = |at: usize| scene.state[at].1.as_i64().expect("a number");
            seen.push((value(0), value(1)));
        });
        assert_eq!(ran.steps, seen.len() as u64 - 1, "each step is reported");
        let until = seen.iter().position(|(_, y)| *y == 3).unwrap_or(usize::MAX);
        let mut expected = Vec::new();
        for (at, (x, _)) in seen.iter().enumerate() {
            assert!(expected.is_empty(), "it ends at the first violation");
            if *x == 3 {
                expected.push("G \"x != 3\"".to_owned());
            }
            if *x != 0 && at < until && !expected.contains(&"\"x == 0\" U \"y == 3\"".to_owned()) {
                expected.push("\"x == 0\" U \"y == 3\"".to_owned());
            }
        }
        assert_eq!(ran.violated, expected, "{seen:?}");
        broken += usize::from(!expected.is_empty());
    }
    assert!(broken > 30, "{broken}");
}

#[test]
fn lossy_searches_report_only_real_violations() {
    let catalog = EventCatalog::default();
    for seed in 1..=MODELS / 3 {
        let loaded = loaded(&random(seed));
        let all = naive(&loaded.model);
        let walk = SearchStrategy::RandomWalk(WalkOptions { seed, walks: 20, steps: 30 });
        let task = VerifyTask {
            claims: claims(&loaded),
            strategy: walk,
            ..VerifyTask::new(&loaded.model, &catalog)
        };
        let found = verify(&task, &());
        assert!(found.is_inconclusive(), "walks leave something open");
        for (verdict, claim) in found.verdicts.iter().zip(&task.claims) {
            let ClaimKind::Always(expression) = claim.kind else { continue };
            match &verdict.result {
                ClaimResult::Violated(story) => {
                    let least = all.nearest(&loaded.model, expression).expect("there is one");
                    assert!(length(story) >= least);
                }
                result => assert!(matches!(result, ClaimResult::Unknown(None)), "{result:?}"),
            }
        }
    }
}

#[test]
fn execution_text_fits_terminal_width() {
    let variables: String = (0..30).map(|number| format!("variable_{number}: 0..3\n")).collect();
    let assign: String = (0..30).map(|number| format!("variable_{number} = 1; ")).collect();
    let text = format!("{variables}process P {{ state a {{ -> b {{ {assign} }} }} state b }}\n");
    let loaded = loaded(&text);
    let catalog = EventCatalog::default();
    let found = verify(&VerifyTask::new(&loaded.model, &catalog), &());
    let story = &found.model_errors[0].execution;
    for width in [60, 100, 140] {
        let style = invigil_check::report::Style { width, colour: false };
        let reported = story.text(&style);
        assert!(reported.lines().all(|line| line.chars().count() <= width), "{reported}");
        assert!((0..30).all(|number| reported.contains(&format!("variable_{number}: 0 → 1"))), "{reported}");
    }
}
