//! Live observations equal recorded ones; verdicts of black boxes.

use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::encoding::States;
use invigil_decent::simulate::{Conditions, Trace};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lab::black_box::{BlackBox, BlackBoxes, PropertyBox, ScriptBox};
use invigil_lab::inputs::{LiveInputs, Observation, ObservationError, ObservationInput};
use invigil_lang::medl::{self, MethodNaming};
use invigil_lang::{ltl, mac};
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Logic};
use invigil_monitor::event::EventCatalog;
use invigil_test_support::Rng;
use invigil_test_support::language;

/// Two components with two propositions each: `a0`, `a1`, `b0`, `b1`.
fn system() -> System {
    let mut system = System::default();
    for name in ["a", "b"] {
        let component = system.component(name).unwrap();
        for number in 0..2 {
            system.proposition(component, &format!("{name}{number}")).unwrap();
        }
    }
    system
}

/// Input with given rounds.
struct Known(std::vec::IntoIter<Vec<Observation>>);

impl ObservationInput for Known {
    fn next(&mut self, seen: &mut Vec<Observation>) -> Result<bool, ObservationError> {
        let round = self.0.next();
        let has_more = round.is_some();
        seen.extend(round.into_iter().flatten());
        Ok(has_more)
    }
}

#[test]
fn live_observations_equal_recorded_ones() {
    let (system, rng) = (system(), Rng::new(7));
    for formula in ["G(a0 -> X b0)", "F(a0 & b1)", "(a0 U b0) | G a1", "G(a0 -> F b1)", "X X (a1 & b0)"] {
        for _ in 0..20 {
            // Components may end at different times and may observe nothing in a round.
            let mut run: Vec<Vec<Vec<Observation>>> = Vec::new();
            for component in 0..2 {
                let round = |rng: &Rng| {
                    let all = [2 * component, 2 * component + 1].map(PropositionId);
                    let seen = all.into_iter().filter(|_| rng.below(5) > 0).collect::<Vec<_>>();
                    seen.into_iter().map(|id| (id, rng.below(2) > 0)).collect()
                };
                let length = rng.below(12);
                run.push((0..length).map(|_| round(&rng)).collect());
            }
            let trace = Trace::from_run(&run);
            for keeps in [false, true] {
                let mut live = LiveInputs::new(&system, BlackBoxes::default(), keeps);
                for (component, rounds) in run.iter().enumerate() {
                    live.add(ComponentId(component as u16), Known(rounds.clone().into_iter()));
                }
                for choice in if keeps { &Algorithm::ALL[..] } else { &Algorithm::ALL[..1] } {
                    let mut logic = Logic::new(Budget::default());
                    let parsed = logic.parse(formula).unwrap();
                    let prepared = MonitorSet::<States>::new(*choice, &mut logic, parsed, &system).unwrap();
                    let mut recorded = None;
                    prepared
                        .run(&system, Conditions::default(), [&trace], |outcome, figures| {
                            recorded = Some((outcome, figures.messages, figures.data));
                        })
                        .unwrap();
                    let (outcome, figures) =
                        prepared.observe(&system, Conditions::default(), &mut live).unwrap();
                    assert_eq!(
                        recorded,
                        Some((outcome, figures.messages, figures.data)),
                        "{formula} {choice} {run:?}"
                    );
                }
                assert_eq!(live.error(), None);
            }
        }
    }
}

fn lowered(text: &str, is_formula: bool) -> Result<PropertyBox, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let id = sources.add("box", text);
    let (mut catalog, mut automata) = (EventCatalog::default(), Vec::new());
    if is_formula {
        let (properties, problems) = ltl::parse(id, text, 0..text.len(), ltl::FormulaOptions::of_file("box"));
        assert!(problems.is_empty(), "{problems:?}");
        for property in properties {
            automata.push(property.lower(&[], &mut catalog).0.unwrap());
        }
    } else {
        automata.push(language::property("box", text, &mut catalog));
    }
    PropertyBox::new(automata, &catalog, (&system(), ComponentId(0)), sources, "box")
}

/// Compares the verdicts of a box with a reference implementation on every prefix of random words over `a0` and `a1`.
fn agrees(mut engine: impl BlackBox, words: &str, says: impl Fn(&[[bool; 2]]) -> Truth) {
    let rng = Rng::new(3);
    for _ in 0..60 {
        engine.restart();
        let mut word: Vec<[bool; 2]> = Vec::new();
        for at in 1..=12 {
            let letter = [rng.below(3) > 0, rng.below(2) > 0];
            word.push(letter);
            let seen = [(PropositionId(0), letter[0]), (PropositionId(1), letter[1])];
            let said = engine.round(at, &seen).unwrap();
            assert_eq!(said, says(&word), "{words} after {word:?}");
        }
    }
}

fn truth(holds: bool) -> Truth {
    if holds { Truth::True } else { Truth::False }
}

#[test]
fn formula_box_decides_the_run_so_far() {
    type Twin = fn(&[[bool; 2]]) -> bool;
    let all: [(&str, Twin); 6] = [
        ("F a1", |word| word.iter().any(|at| at[1])),
        ("G a0", |word| word.iter().all(|at| at[0])),
        ("a0 U a1", |word| {
            word.iter().position(|at| at[1]).is_some_and(|end| word[..end].iter().all(|at| at[0]))
        }),
        ("G(a1 -> X a0)", |word| {
            (0..word.len()).all(|at| !word[at][1] || word.get(at + 1).is_some_and(|it| it[0]))
        }),
        ("G(a1 -> O !a0)", |word| {
            (0..word.len()).all(|at| !word[at][1] || word[..=at].iter().any(|it| !it[0]))
        }),
        ("one = F a1\ntwo = G a0", |word| word.iter().any(|at| at[1]) && word.iter().all(|at| at[0])),
    ];
    for (formula, twin) in all {
        agrees(lowered(formula, true).unwrap(), formula, |word| truth(twin(word)));
    }
}

#[test]
fn property_box_receives_events_and_ticks() {
    // More rounds with `a1` than without are a violation; undecided before the second `a1`.
    let text = "initialization { n = 0; m = 0 }
        state init {
            transition {
                event a1(a0, #time as now) { return n < 1 }
                success { n = n + 1 } init
                failure { n = n + 1 } on
            }
            transition { event #tick(a1) { if not a1: m = m + 1 } success init }
        }
        state on accepting {
            transition { event a1() { return n < m } success { n = n + 1 } on failure { n = n + 1 } off }
            transition { event #tick(a1) { if not a1: m = m + 1 } success on }
        }
        state off non-accepting {
            transition {
                event #tick(a1) { return not a1 and n <= m + 1 }
                success { m = m + 1 } on
                failure { if not a1: m = m + 1 } off
            }
        }";
    let says = |word: &[[bool; 2]]| {
        let (mut n, mut m, mut state, mut said) = (0, 0, 0, Truth::Unknown);
        for at in word {
            let mut is_bad = false;
            if at[1] {
                match state {
                    0 => {
                        n += 1;
                        state = usize::from(n >= 2);
                    }
                    1 => {
                        n += 1;
                        if n > m {
                            (state, is_bad) = (2, true);
                        }
                    }
                    _ => {}
                }
            } else {
                m += 1;
                if state == 2 && n <= m {
                    state = 1;
                }
            }
            said = match state {
                _ if is_bad => Truth::False,
                0 => Truth::Unknown,
                1 => Truth::True,
                _ => Truth::False,
            };
        }
        said
    };
    agrees(lowered(text, false).unwrap(), "property", says);
}

fn script(pedl: &str, medl: &str) -> Result<ScriptBox, Vec<Diagnostic>> {
    let (loaded, problems) = mac::load((SourceId(0), pedl), (SourceId(1), medl), &|_| None);
    let mut catalog = EventCatalog::default();
    let loaded = loaded.unwrap_or_else(|| panic!("{problems:?}"));
    let watched =
        medl::connect(&loaded.pedl, &loaded.medl, MethodNaming::Plain, false, &mut catalog).unwrap();
    ScriptBox::new(&watched.plan, &catalog, &watched.event_spans, (&system(), ComponentId(0)))
}

const PEDL: &str = "MonScr export event Second; export condition First; monobj boolean a0; monmeth void a1();
    condition First = a0; event Second = startM(a1()); End";

#[test]
fn script_box_receives_values_and_calls() {
    let medl = "ReqSpec import event Second; import condition First; property always = First; \
        alarm never = Second when !First; End";
    agrees(script(PEDL, medl).unwrap(), "script", |word| truth(word.last().is_some_and(|at| at[0])));
    let medl = "ReqSpec import event Second; alarm early = Second when currentTime < 4; End";
    let says = |word: &[[bool; 2]]| truth(!(word.len() < 4 && word.last().is_some_and(|at| at[1])));
    agrees(
        script(PEDL, &medl.replace("import event", "import condition First; import event")).unwrap(),
        "time",
        says,
    );
}

#[test]
fn unobserved_names_are_reported_with_remedy() {
    let message = |problems: Vec<Diagnostic>| {
        let first = problems.into_iter().next().unwrap();
        format!("{}: {}", first.message, first.help.unwrap_or_default())
    };
    let state =
        |event: &str| format!("state init accepting {{ transition {{ event {event} success init }} }}");
    for (text, words) in [
        (state("a2()"), "a does not observe `a2`: did you mean `a0`?"),
        (
            state("b0x()"),
            "a does not observe `b0x`: a black box receives what its component observes: `a0`, `a1`, and `#tick`",
        ),
        (state("a0(queue)"), "a does not observe `queue`"),
        (state("a0(a1: int)"), "`a1` is Boolean, not of type `int`"),
        (state("#exit()"), "a does not observe `#exit`"),
        (
            "state init accepting { transition { after event a0() success init } }".to_owned(),
            "black boxes do not receive `after a0`",
        ),
    ] {
        let said = message(lowered(&text, false).err().expect(words));
        assert!(said.starts_with(words), "{said}");
    }
    assert!(message(lowered("G(b0 -> a0)", true).err().unwrap()).contains("`b0`"));
    let wrong = PEDL.replace("boolean a0", "int a0").replace("= a0", "= a0 > 3");
    let medl = "ReqSpec import condition First; import event Second; property always = First; End";
    assert!(
        message(script(&wrong, medl).err().unwrap())
            .starts_with("`a0` is Boolean: write: monobj boolean a0;")
    );
    let wrong = PEDL.replace("a1()", "b1()");
    assert!(message(script(&wrong, medl).err().unwrap()).contains("`b1`"));
}

#[test]
fn failing_box_reports_its_position() {
    let text = "initialization { n = 1 }\nstate init accepting {\n    transition { event a0() { n = 1 / (n - 1) } success init }\n}";
    let mut boxes = BlackBoxes::default();
    let mut system = system();
    let says = system.proposition(ComponentId(0), "@box").unwrap();
    boxes.add(&system, says, lowered(text, false).unwrap());
    let quiet = vec![vec![vec![(PropositionId(0), false)]; 3], Vec::new()];
    let mut run = quiet.clone();
    boxes.run(&mut run).unwrap();
    assert_eq!(run[0][2], [(PropositionId(0), false), (says, true)]);
    let mut wrong = quiet.clone();
    wrong[0][1][0].1 = true;
    let reported = boxes.run(&mut wrong).unwrap_err().to_string();
    assert!(reported.starts_with("box:3:") && reported.contains("in round 2"), "{reported}");
    let mut twice = quiet;
    twice[0][0].push((says, true));
    assert!(boxes.run(&mut twice).unwrap_err().to_string().starts_with("round 1: `"));
}
