//! Never claims and DOT: their text, and their meaning for SPIN and Graphviz.

use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::automaton::never_claim::NeverClaimError;
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::word::Lasso;
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::{Folder, Rng};
use std::fmt::Write;
use std::process::Command;

/// State-based Büchi automaton of `a U b`.
const UNTIL: &str = r#"HOA: v1 Start: 0 AP: 2 "a" "b" Acceptance: 1 Inf(0)
    --BODY-- State: 0 [1] 1 [0&!1] 0 State: 1 {0} [t] 1 --END--"#;

fn until(logic: &mut Logic) -> Formula {
    let (a, b) = (logic.formulae.name("a").unwrap(), logic.formulae.name("b").unwrap());
    logic.formulae.until(a, b).unwrap()
}

#[test]
fn never_claim_is_formatted_as_expected() {
    let mut logic = Logic::new(Budget::default());
    let automaton = logic.read_hoa(UNTIL).unwrap().remove(0);
    assert_eq!(
        automaton.to_never_claim(&logic, Some("a U b /* really */")).unwrap(),
        "never { /* a U b /* really * / */
T0_init:
  if
  :: (b) -> goto accept_all
  :: (a && !b) -> goto T0_init
  fi;
accept_all:
  skip
}
"
    );
    let always = logic.buchi(Formula::TRUE).unwrap();
    assert_eq!(always.to_never_claim(&logic, None).unwrap(), "never {\naccept_all:\n  skip\n}\n");
    let nothing = logic.buchi(Formula::FALSE).unwrap();
    assert_eq!(nothing.to_never_claim(&logic, None).unwrap(), "never {\nT0_init:\n  false;\n}\n");
}

#[test]
fn automata_that_promela_cannot_express_fail() {
    let mut logic = Logic::new(Budget::default());
    let until = until(&mut logic);
    let twice = logic.formulae.globally(until).unwrap();
    let other = logic.formulae.name("c").unwrap();
    let often = logic.formulae.finally(other).unwrap();
    let often = logic.formulae.globally(often).unwrap();
    let both = logic.formulae.and([twice, often]).unwrap();
    let general = logic.translate(both).unwrap();
    assert_eq!(general.to_never_claim(&logic, None), Err(NeverClaimError::NotBuchi));
    assert!(logic.buchi(both).unwrap().to_never_claim(&logic, None).is_ok());
    for name in ["after f", "#exit", "1st"] {
        let atom = logic.formulae.name(name).unwrap();
        let error = logic.buchi(atom).unwrap().to_never_claim(&logic, None).unwrap_err();
        assert!(matches!(error, NeverClaimError::Proposition(_)), "{name}");
    }
    let monitor = logic.formulae.atom_for(Proposition::Monitor("m".into()));
    let monitor = logic.formulae.atom(monitor).unwrap();
    let error = logic.buchi(monitor).unwrap().to_never_claim(&logic, None).unwrap_err();
    assert_eq!(error.to_string(), "`@m` means nothing in a never claim; use names or expressions of Promela");
    let expression = logic.formulae.atom_for(Proposition::Expression("x > 3 || y".into()));
    let expression = logic.formulae.atom(expression).unwrap();
    let not = logic.formulae.not(expression).unwrap();
    let claim = logic.buchi(not).unwrap().to_never_claim(&logic, None).unwrap();
    assert!(claim.contains(":: (!(x > 3 || y)) -> goto accept_all"), "{claim}");
}

/// Returns a Promela model whose only execution is a word.
fn model(logic: &Logic, atoms: &[Atom], word: &Lasso) -> String {
    let (length, mut text) = (word.prefix.len() + word.cycle.len(), String::from("byte at;\n"));
    let letter = |at: usize| word.prefix.iter().chain(&word.cycle).nth(at).unwrap();
    let name = |atom: &Atom| logic.formulae.proposition(*atom).to_string();
    for atom in atoms {
        writeln!(text, "bool {} = {};", name(atom), letter(0).has(*atom)).unwrap();
    }
    text.push_str("active proctype word() {\n  do\n");
    for at in 0..length {
        let next = if at + 1 < length { at + 1 } else { word.prefix.len() };
        let set: String =
            atoms.iter().map(|atom| format!("{} = {}; ", name(atom), letter(next).has(*atom))).collect();
        writeln!(text, "  :: d_step {{ at == {at} -> {set}at = {next} }}").unwrap();
    }
    text.push_str("  od\n}\n");
    text
}

/// Whether SPIN finds that the never claim accepts the only execution of a model.
fn spin_accepts(model: &str, claim: &str) -> bool {
    let folder = Folder::new();
    folder.write("model.pml", format!("{model}{claim}"));
    let run = |command: &str, arguments: &[&str]| {
        let output = Command::new(command).args(arguments).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() || command == "./pan", "{command}: {text}\n{model}{claim}");
        text
    };
    let output = run("spin", &["-a", "model.pml"]);
    assert!(!output.contains("rror"), "{output}\n{claim}");
    run("cc", &["-w", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    let output = run("./pan", &["-a", "-m1000"]);
    assert!(output.contains("errors: 0") || output.contains("errors: 1"), "{output}");
    output.contains("errors: 1")
}

#[test]
fn spin_accepts_same_words() {
    let is_installed = |command: &str| Command::new(command).arg("-V").output().is_ok();
    if !is_installed("spin") || !is_installed("cc") {
        eprintln!("skipped: needs `spin` and `cc`");
        return;
    }
    let (mut cases, mut seed) = ([0, 0], 0);
    while cases != [4, 4] {
        seed += 1;
        let rng = Rng::new(seed);
        let mut logic = Logic::new(Budget::default());
        let atoms = atoms(&mut logic.formulae, 2);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, 8, false);
        let automaton = logic.buchi(formula).unwrap();
        let word = random_lasso(&rng, &atoms);
        let expected = word.satisfies(&logic.formulae, formula);
        if automaton.states() < 3 || cases[usize::from(expected)] == 4 {
            continue;
        }
        cases[usize::from(expected)] += 1;
        let claim = automaton.to_never_claim(&logic, None).unwrap();
        assert_eq!(spin_accepts(&model(&logic, &atoms, &word), &claim), expected, "{claim}{word:?}");
    }
}

#[test]
fn dot_is_formatted_as_expected() {
    let mut logic = Logic::new(Budget::default());
    let automaton = logic.read_hoa(UNTIL).unwrap().remove(0);
    assert_eq!(
        automaton.to_dot(&logic, Some("a U b & <>")).unwrap(),
        "digraph automaton {
  rankdir=LR
  label=<a U b &amp; &lt;&gt;>
  labelloc=\"t\"
  node [shape=\"circle\"]
  I [label=\"\", style=invis, width=0]
  I -> 0
  0 [label=<0>]
  0 -> 1 [label=<b>]
  0 -> 0 [label=<a &amp; !b>]
  1 [label=<1>, peripheries=2]
  1 -> 1 [label=<true>]
}
"
    );
    let until = until(&mut logic);
    let always = logic.formulae.globally(until).unwrap();
    let text = logic.translate(always).unwrap().to_dot(&logic, None).unwrap();
    assert!(text.contains("<br/><font color=\"#1f78b4\">⓿</font>>]"), "{text}");
}

#[test]
fn graphviz_reads_dot_with_special_characters() {
    if Command::new("dot").arg("-V").output().is_err() {
        eprintln!("skipped: needs `dot`");
        return;
    }
    let mut logic = Logic::new(Budget::default());
    let odd = logic.formulae.atom_for(Proposition::Expression("s == \"<&>\\n\" \n && \u{1} ü".into()));
    let odd = logic.formulae.atom(odd).unwrap();
    let often = logic.formulae.finally(odd).unwrap();
    let often = logic.formulae.globally(often).unwrap();
    let text = logic.translate(often).unwrap().to_dot(&logic, Some("x \" \u{7} > <")).unwrap();
    let folder = Folder::new();
    std::fs::write(folder.join("it.dot"), &text).unwrap();
    let output = Command::new("dot").args(["-Tplain", "it.dot"]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
