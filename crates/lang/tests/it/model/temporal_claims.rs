//! Temporal claims about models: random formulas on random models, compared with the semantics of formulas.

use invigil_explore::cycles::find_accepting_cycle;
use invigil_explore::fairness::{Fair, FairnessConstraint, Strength};
use invigil_explore::product::Product;
use invigil_explore::{Limits, Path, interpreted_model, label_evaluator};
use invigil_expr::diag::{SourceId, Sources};
use invigil_lang::model::{never_claim, never_claim_at};
use invigil_lang::report;
use invigil_ltl::formula::{Atom, Formula, Proposition};
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Budget, Logic};
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, Predicate, Process, Side,
    Statement, Step, Variable,
};
use invigil_test_support::{Rng, at_least, cases};

const PLACES: [&str; 3] = ["idle", "busy", "done"];

/// A process that moves between three locations and switches a lamp.
fn model(random: &Rng) -> Model {
    let names: Vec<String> = PLACES.map(str::to_owned).to_vec();
    let location = |name: &String| Location { name: name.clone(), is_committed: false };
    let action = |number: u64| Action {
        event: Some(["go", "stop"][random.below(2) as usize].to_owned()),
        moves: vec![Move { process: 0, from: random.below(3) as u32, to: random.below(3) as u32 }],
        effect: vec![Statement::assign(1, Expression::Constant(random.below(2) as i64))],
        ..Action::named(format!("a{number}"))
    };
    let never = |name| Action { guard: Expression::Constant(0), ..Action::named(name) };
    let worker = Process {
        name: "W".into(),
        locations: names.iter().map(location).collect(),
        location: 0,
        side: Side::System,
    };
    let done = Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(2));
    Model::new(ModelParts {
        variables: vec![
            Variable::scalar("W", Domain::Names(names), 0),
            Variable::scalar("lamp", Domain::Boolean, 0),
            Variable::scalar("count", Domain::Integer { low: 0, high: 3 }, 0),
        ],
        processes: vec![worker],
        // Names must be resolved even if no step ever has them.
        actions: (0..1 + random.below(6)).map(action).chain(["go", "stop"].map(never)).collect(),
        predicates: vec![Predicate { name: "ready".into(), expression: done }],
        ..ModelParts::default()
    })
    .unwrap()
}

const ATOMS: [&str; 6] = ["lamp", "ready", "go", "stop", "W.busy", "\"lamp || W.idle\""];

fn formula(random: &Rng, size: u32) -> String {
    if size == 0 {
        return ATOMS[random.below(6) as usize].to_owned();
    }
    let part = || formula(random, size - 1);
    match random.below(14) {
        0 => format!("!({})", part()),
        1 => format!("X ({})", part()),
        2 | 3 => format!("F ({})", part()),
        4 | 5 => format!("G ({})", part()),
        6 => format!("({}) U ({})", part(), part()),
        7 => format!("({}) R ({})", part(), part()),
        8 => format!("({}) -> ({})", part(), part()),
        9 => format!("({}) & ({})", part(), part()),
        10 => format!("Y ({})", part()),
        11 => format!("({}) S ({})", part(), part()),
        12 => format!("O ({})", part()),
        _ => format!("({}) | ({})", part(), part()),
    }
}

/// A formula with the meaning of its atoms, computed independently of the code under test.
struct Meaning {
    logic: Logic,
    formula: Formula,
    atoms: Vec<(Atom, usize)>,
}

impl Meaning {
    fn new(text: &str) -> Meaning {
        let mut logic = Logic::new(Budget::default());
        let formula = logic.parse(text).unwrap();
        let find = |(atom, proposition): (Atom, &Proposition)| {
            let written = match proposition {
                Proposition::Name(name) => name.clone(),
                other => other.to_string(),
            };
            Some((atom, ATOMS.iter().position(|known| *known == written)?))
        };
        let atoms = logic.formulae.atoms().filter_map(find).collect();
        Meaning { logic, formula, atoms }
    }

    fn letter(&self, model: &Model, step: Step<'_>) -> Letter {
        let read = |variable: usize| model.layout().slots[variable].read(step.target, 0);
        let event = step.action.and_then(|action| model.action(action).event.clone());
        let holds = |atom: usize| match atom {
            0 => read(1) == 1,
            1 => read(0) == 2,
            2 => event.as_deref() == Some("go"),
            3 => event.as_deref() == Some("stop"),
            4 => read(0) == 1,
            _ => read(1) == 1 || read(0) == 0,
        };
        self.atoms.iter().filter(|(_, at)| holds(*at)).map(|(atom, _)| *atom).collect()
    }

    /// Whether the formula holds on an infinite execution, whose steps are verified.
    fn holds(&self, model: &Model, path: &Path) -> bool {
        let (to, by) = path.loop_back.unwrap();
        let mut letters = vec![self.letter(model, Step::at(&path.states[0]))];
        let actions = path.actions.iter().copied().map(Some).chain([by]);
        for (at, action) in actions.enumerate() {
            let (source, target) = (&path.states[at], path.states.get(at + 1).unwrap_or(&path.states[to]));
            match action {
                Some(action) => {
                    assert!(model.enabled(source).contains(&action));
                    assert!(model.outcomes(source, action).iter().any(|out| out.words == *target));
                }
                None => assert!(model.enabled(source).is_empty() && source == target),
            }
            letters.push(self.letter(model, Step { source: Some(source), action, target }));
        }
        // At the start of the cycle, the step that leads there differs from the first one.
        let mut cycle = letters[to + 1..letters.len() - 1].to_vec();
        cycle.insert(0, letters.pop().unwrap());
        Lasso { prefix: letters, cycle }.satisfies(&self.logic.formulae, self.formula)
    }
}

/// A random execution that is a lasso, or stutters in a deadlock.
fn walk(random: &Rng, model: &Model) -> Path {
    let mut path = Path::at(&model.initial_states()[0].words);
    loop {
        let here = path.states.last().unwrap().clone();
        let steps: Vec<(u32, Box<[u64]>)> = model
            .enabled(&here)
            .into_iter()
            .flat_map(|action| model.outcomes(&here, action).into_iter().map(move |out| (action, out.words)))
            .collect();
        if steps.is_empty() {
            path.loop_back = Some((path.states.len() - 1, None));
            return path;
        }
        let (action, target) = steps[random.below(steps.len() as u64) as usize].clone();
        let earlier = path.states.iter().position(|state| *state == target);
        if let Some(to) = earlier.filter(|_| random.below(3) == 0 || path.states.len() > 20) {
            path.loop_back = Some((to, Some(action)));
            return path;
        }
        path.states.push(target);
        path.actions.push(action);
    }
}

#[test]
fn random_claims_match_reference_evaluation() {
    let random = Rng::new(0x0123_4567_89ab_cdef);
    let (mut violated, mut holds) = (0, 0);
    for _ in 0..cases(400) {
        let model = model(&random);
        let text = formula(&random, 1 + random.below(3) as u32);
        let omega = never_claim(&model, SourceId(0), &text, "claim").unwrap();
        let meaning = Meaning::new(&text);
        let reading = label_evaluator::InterpretedLabels { model: &model, omega: &omega };
        let product = Product::new(
            interpreted_model::InterpretedModel::new(&model, vec![]),
            reading,
            model.layout().spare,
        )
        .unwrap();
        let result = find_accepting_cycle(&product, &Limits::default(), &());
        match &result.path {
            Some(path) => {
                violated += 1;
                assert!(!meaning.holds(&model, &product.subject_path(path)), "{text}\n{path:?}\n{model:#?}");
            }
            None => {
                holds += 1;
                assert_eq!(result.incomplete, None);
                for _ in 0..60 {
                    let path = walk(&random, &model);
                    assert!(meaning.holds(&model, &path), "{text}\n{path:?}\n{model:#?}");
                }
            }
        }
    }
    assert!(violated > at_least(100) && holds > at_least(60), "{violated} {holds}");
}

/// Two processes that each alternate between two locations; the second requires the first to be at its first one.
fn pair() -> Model {
    let names = ["rest".to_owned(), "work".to_owned()];
    let process = |name: &str, location| Process {
        name: name.into(),
        locations: names.iter().map(|name| Location { name: name.clone(), is_committed: false }).collect(),
        location,
        side: Side::System,
    };
    let turn = |process, from, to, guard| Action {
        moves: vec![Move { process, from, to }],
        guard,
        ..Action::named(format!("turn{process}{from}"))
    };
    let first_rests = Expression::binary(Binary::Equal, Expression::read(0), Expression::Constant(0));
    let always = Expression::Constant(1);
    Model::new(ModelParts {
        variables: ["P[0]", "P[1]"]
            .map(|name| Variable::scalar(name, Domain::Names(names.to_vec()), 0))
            .to_vec(),
        processes: vec![process("P[0]", 0), process("P[1]", 1)],
        actions: vec![
            turn(0, 0, 1, always.clone()),
            turn(0, 1, 0, always),
            turn(1, 0, 1, first_rests.clone()),
            turn(1, 1, 0, first_rests),
        ],
        ..ModelParts::default()
    })
    .unwrap()
}

#[test]
fn fairness_changes_verdict() {
    let model = pair();
    let holds = |text: &str, strength: Option<Strength>| {
        let omega = never_claim(&model, SourceId(0), text, "claim").unwrap();
        let demands = strength.map_or(vec![], |strength| FairnessConstraint::for_processes(&model, strength));
        let space = Fair::new(interpreted_model::InterpretedModel::new(&model, vec![]), &demands).unwrap();
        let reading = label_evaluator::InterpretedLabels { model: &model, omega: &omega };
        let product = Product::new(space, reading, model.layout().spare).unwrap();
        let result = find_accepting_cycle(&product, &Limits::default(), &());
        result.path.is_none() && result.incomplete.is_none()
    };
    // The first is always enabled: weak fairness suffices. The second is not: it needs strong fairness.
    let (first, second) = ("G F 'P[0].work'", "G F \"P[1].work\"");
    assert_eq!([None, Some(Strength::Weak)].map(|strength| holds(first, strength)), [false, true]);
    let strengths = [None, Some(Strength::Weak), Some(Strength::Strong)];
    assert_eq!(strengths.map(|strength| holds(second, strength)), [false, false, true]);
    assert!(!holds("F G 'P[0].rest'", Some(Strength::Strong)));
}

#[test]
fn formula_errors_point_at_their_position() {
    let model = model(&Rng::new(5));
    let reported = |text: &str| {
        let mut sources = Sources::default();
        let before = "claim ";
        let source = sources.add("shown", format!("{before}{text}"));
        let diagnostics = never_claim_at(&model, (source, before.len() as u32), text, "claim").unwrap_err();
        report::render(&sources, &diagnostics, false)
    };
    let both = reported("G(lampp -> F W.bussy)");
    assert!(both.contains("did you mean `lamp`?") && both.contains("did you mean `W.busy`?"), "{both}");
    assert!(both.contains("shown:1:9"), "{both}");
    let number = reported("F count");
    assert!(number.contains("`count` is not Boolean") && number.contains("count == "), "{number}");
    let quoted = reported("F \"cuont > 2\"");
    assert!(quoted.contains("shown:1:10") && quoted.contains("cuont"), "{quoted}");
    assert!(reported("G(").contains("expected a formula"));
    assert!(reported("F @other").contains("unknown formula `other`"));
}
