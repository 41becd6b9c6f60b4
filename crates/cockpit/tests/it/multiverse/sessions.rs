//! Complete sessions of the model debugger.

use crate::multiverse::expression_language::readers;
use crate::multiverse::models::{die, expect, philosophers, session};
use invigil_cockpit::multiverse::{Input, ReplConfig, ReplOutcome, debug};
use invigil_semantics::{Compose, RoundRobin};

/// Two philosophers: one universe in which they eat, and one in which they starve.
#[test]
fn two_universes_of_dining_philosophers() {
    expect(
        &philosophers(2),
        r#"
#0  start
      taken = [false, false]
      P[0]  = thinking
      P[1]  = thinking
   1  P[0] takes left
   2  P[1] takes left
(invigil) step 1
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
   1  P[0] eats
   2  P[1] takes left
(invigil) 1
#2  P[0] eats
      taken[1]: false → true
      P[0]: waiting → eating
   1  P[0] puts down
(invigil) undo
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
   1  P[0] eats
   2  P[1] takes left
(invigil) step P[1]
#3  P[1] takes left
      taken[1]: false → true
      P[1]: thinking → waiting
  deadlock: no action is enabled
(invigil) name starved
#3 is "starved"
(invigil) tree
  #0  start
  #1  P[0] takes left
  ├─ #2  P[0] eats
* └─ #3  P[1] takes left  "starved"
(invigil) jump #2
#2  P[0] eats
      taken[1]: false → true
      P[0]: waiting → eating
   1  P[0] puts down
(invigil) back
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
   1  P[0] eats
   2  P[1] takes left
(invigil) forward
#2  P[0] eats
      taken[1]: false → true
      P[0]: waiting → eating
   1  P[0] puts down
(invigil) jump starved
#3  P[1] takes left  "starved"
      taken[1]: false → true
      P[1]: thinking → waiting
  deadlock: no action is enabled
(invigil) path
#0  start
      taken = [false, false]
      P[0]  = thinking
      P[1]  = thinking
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
#3  P[1] takes left  "starved"
      taken[1]: false → true
      P[1]: thinking → waiting
(invigil) expect P[1] == waiting
as expected
"#,
    );
}

#[test]
fn run_takes_a_shortest_path_to_the_nearest_breakpoint() {
    expect(
        &philosophers(3),
        r#"
#0  start
      taken = [false, false, false]
      P[0]  = thinking
      P[1]  = thinking
      P[2]  = thinking
   1  P[0] takes left
   2  P[1] takes left
   3  P[2] takes left
(invigil) break deadlock
breakpoint 1: deadlock
(invigil) break P[2] == eating
breakpoint 2: P[2] == eating
(invigil) run
#1  P[2] takes left
      taken[2]: false → true
      P[2]: thinking → waiting
#2  P[2] eats
      taken[0]: false → true
      P[2]: waiting → eating
breakpoint 2 (P[2] == eating) after 2 steps; 10 configurations explored
   1  P[1] takes left
   2  P[2] puts down
(invigil) delete 2
(invigil) run
#3  P[1] takes left
      taken[1]: false → true
      P[1]: thinking → waiting
#4  P[2] puts down
      taken[0]: true → false
      taken[2]: true → false
      P[2]: eating → thinking
#5  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
#6  P[2] takes left
      taken[2]: false → true
      P[2]: thinking → waiting
breakpoint 1 (deadlock) after 4 steps; 13 configurations explored
  deadlock: no action is enabled
(invigil) delete all
no breakpoints
(invigil) break P[0] == eating && P[1] == eating
breakpoint 3: P[0] == eating && P[1] == eating
(invigil) restart
#0  start
      taken = [false, false, false]
      P[0]  = thinking
      P[1]  = thinking
      P[2]  = thinking
   1  P[0] takes left
   2  P[1] takes left
   3  P[2] takes left
(invigil) run
no breakpoint can be reached from here; 14 configurations explored, the complete state space
"#,
    );
}

#[test]
fn run_all_adds_each_witness_as_a_universe() {
    expect(
        &philosophers(2),
        r#"
#0  start
      taken = [false, false]
      P[0]  = thinking
      P[1]  = thinking
   1  P[0] takes left
   2  P[1] takes left
(invigil) break on eats
breakpoint 1: on eats
(invigil) run all
2 witnesses, added as universes; 6 configurations explored
  #2    2 steps   P[0] eats: breakpoint 1 (on eats)
  #4    2 steps   P[1] eats: breakpoint 1 (on eats)
  `jump #N` goes to one of them
(invigil) tree
* #0  start
  ├─ #1  P[0] takes left
  │  #2  P[0] eats
  └─ #3  P[1] takes left
     #4  P[1] eats
(invigil) jump #4
#4  P[1] eats
      taken[0]: false → true
      P[1]: waiting → eating
   1  P[1] puts down
(invigil) run 1
1 witness; 5 configurations explored
  #7    3 steps   P[0] eats: breakpoint 1 (on eats)
  `jump #N` goes to one of them
"#,
    );
}

#[test]
fn run_finds_executions_of_ltl_breakpoints() {
    expect(
        &philosophers(2),
        r#"
#0  start
      taken = [false, false]
      P[0]  = thinking
      P[1]  = thinking
   1  P[0] takes left
   2  P[1] takes left
(invigil) break ltl F P[0] == eating
breakpoint 1: ltl F P[0] == eating
(invigil) run
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
#2  P[0] eats
      taken[1]: false → true
      P[0]: waiting → eating
breakpoint 1 (ltl F P[0] == eating) after 2 steps; 4 configurations explored
   1  P[0] puts down
(invigil) delete all
no breakpoints
(invigil) break ltl G F P[1] == eating
breakpoint 2: ltl G F P[1] == eating
(invigil) run
#3  P[0] puts down
      taken[0]: true → false
      taken[1]: true → false
      P[0]: eating → thinking
#4  P[1] takes left
      taken[1]: false → true
      P[1]: thinking → waiting
#5  P[1] eats
      taken[0]: false → true
      P[1]: waiting → eating
#6  P[1] puts down
      taken[0]: true → false
      taken[1]: true → false
      P[1]: eating → thinking
breakpoint 2 (ltl G F P[1] == eating) after 4 steps; 6 configurations explored
the steps from #3 to #6 repeat forever: both are the same configuration
   1  P[0] takes left
   2  P[1] takes left
(invigil) delete all
no breakpoints
(invigil) break ltl G P[0] == waiting
breakpoint 3: ltl G P[0] == waiting
(invigil) jump #1
#1  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
   1  P[0] eats
   2  P[1] takes left
(invigil) run
#7  P[1] takes left
      taken[1]: false → true
      P[1]: thinking → waiting
breakpoint 3 (ltl G P[0] == waiting) after 1 step; 3 configurations explored
it stays in #7 forever: no step is possible there
  deadlock: no action is enabled
"#,
    );
}

#[test]
fn run_finds_executions_of_regex_breakpoints() {
    expect(
        &philosophers(2),
        r#"
#0  start
      taken = [false, false]
      P[0]  = thinking
      P[1]  = thinking
   1  P[0] takes left
   2  P[1] takes left
(invigil) break regex "P[1] == eating" puts (takes eats)+
breakpoint 1: regex "P[1] == eating" puts (takes eats)+
(invigil) run
#1  P[1] takes left
      taken[1]: false → true
      P[1]: thinking → waiting
#2  P[1] eats
      taken[0]: false → true
      P[1]: waiting → eating
#3  P[1] puts down
      taken[0]: true → false
      taken[1]: true → false
      P[1]: eating → thinking
#4  P[0] takes left
      taken[0]: false → true
      P[0]: thinking → waiting
#5  P[0] eats
      taken[1]: false → true
      P[0]: waiting → eating
breakpoint 1 (regex "P[1] == eating" puts (takes eats)+) after 5 steps; 10 configurations explored
   1  P[0] puts down
(invigil) delete all
no breakpoints
(invigil) break regex ^ . puts
breakpoint 2: regex ^ . puts
(invigil) run
no breakpoint can be reached from here; 4 configurations explored, the complete state space
(invigil) break regex (takes
error: missing `)`
"#,
    );
}

#[test]
fn step_with_several_outcomes_asks_to_select_one() {
    expect(
        &die(),
        r#"
2 initial configurations:
   1  n = 1
   2  n = 2
  `select N` selects one
(invigil) select 2
#0  start
      n = 2
   1  cast  (3 outcomes)
   2  push
(invigil) watch n + n
      n + n: 4
(invigil) step cast
3 outcomes of cast:
   1  n: 2 → 1
   2  no change
   3  n: 2 → 3
  `select N` selects one
(invigil) back
#0  start
      n = 2
   1  cast  (3 outcomes)
   2  push
(invigil) 1
3 outcomes of cast:
   1  n: 2 → 1
   2  no change
   3  n: 2 → 3
  `select N` selects one
(invigil) 3
#1  cast
      n: 2 → 3
      n + n: 4 → 6
   1  cast  (3 outcomes)
   2  push
(invigil) print n
n = 3
(invigil) print @n
@n = 2
(invigil) s push
#2  push
      n: 3 → 4
      n + n: 6 → 8
   1  cast  (3 outcomes)
   2  push
(invigil) s push
#3  push
      faulted: n cannot hold 5: its range is 1 to 4
  deadlock: no action is enabled
(invigil) break n / 0 == 1
breakpoint 1: n / 0 == 1
(invigil) back
#2  push
      n: 3 → 4
   1  cast  (3 outcomes)
   2  push
(invigil) run
#4  cast
      n: 4 → 1
      n + n: 8 → 2
breakpoint 1 (n / 0 == 1) after 1 step; 2 configurations explored
breakpoint 1 raises a fault here: division by zero
   1  cast  (3 outcomes)
   2  push
(invigil) restart
2 initial configurations:
   1  n = 1
   2  n = 2
  `select N` selects one
(invigil) delete 1
(invigil) break n == 4
breakpoint 2: n == 4
(invigil) run
#5  start
      n = 1
#6  cast
      n: 1 → 3
#7  push
      n: 3 → 4
      n + n: 2 → 8
breakpoint 2 (n == 4) after 2 steps; 4 configurations explored
   1  cast  (3 outcomes)
   2  push
"#
        .trim_end_matches('\n'),
    );
}

#[test]
fn run_with_reduction_reports_skipped_configurations() {
    let (said, ending) = session(
        &philosophers(3),
        "reduce P[0], P[1]\nbreak deadlock\nrun\nreduce off\nrun\nlimit states 3\nback 3\nrun\ninfo\n",
    );
    assert_eq!(ending, ReplOutcome::Done);
    assert!(
        said.contains("`run` explores one configuration per value of `P[0], P[1]`; it may miss breakpoints"),
        "{said}"
    );
    assert!(said.contains("reduction by `P[0], P[1]`: "), "{said}");
    assert!(said.contains("skipped, so witnesses may be missing"), "{said}");
    assert!(said.contains("search incomplete: limit on configurations reached"), "{said}");
    assert!(said.contains("limits       3 configurations"), "{said}");
}

#[test]
fn failing_command_ends_script_with_its_error() {
    let model = philosophers(2);
    for (line, error) in [
        ("step 9", "no action 9: the last one is 2"),
        ("step takes", "`takes` matches 2 actions: use a number"),
        ("step", "missing action; 2 are enabled"),
        ("step P[7]", "no action `P[7]` is enabled"),
        ("select 1", "nothing to select: `step` first"),
        ("back", "already at the start"),
        ("forward", "no step has been taken from here: `step` or `run`"),
        ("jump #7", "no node #7: the last one is #0"),
        ("jump home", "no node `home`: expected a number such as #0, or a name"),
        ("run", "no breakpoints: set one with `break`"),
        ("break on sleeps", "no action `sleeps`"),
        ("break x == 1", "there is no `x` in this model"),
        ("break prop none.prop", "none.prop: "),
        ("delete 3", "expected a breakpoint number or `all`"),
        ("limit coffee 3", "usage: `limit states N`"),
        ("print", "missing expression"),
        ("expect P[0] == eating", "expectation failed: `P[0] == eating` is false here"),
        ("stp", "unknown command `stp`: did you mean `step`?"),
        ("re", "ambiguous command `re`: `restart` or `reduce`"),
        ("quit now", "`quit` takes no arguments; found `now`"),
        ("open none.jsonl", "cannot read none.jsonl"),
        ("name 7", "expected a name of letters, digits, `-` and `_`"),
        ("!", "`!` is not a command; `help` lists all commands"),
    ] {
        let (said, ending) = session(&model, &format!("{line}\ninfo\n"));
        assert_eq!(ending, ReplOutcome::Failed, "{line}");
        let (_, after) = said.rsplit_once("(invigil) ").unwrap();
        assert!(after.starts_with(&format!("{line}\nerror: {error}")), "{said}");
    }
    assert_eq!(session(&model, "# a comment\n\nstep 1\nquit\nstep 99\n").1, ReplOutcome::Done);
}

#[test]
fn help_lists_every_command() {
    let (said, _) = session(&philosophers(2), "help\nhelp break\nhelp run\n");
    for command in
        ["step", "select", "back", "forward", "jump", "tree", "break", "run", "reduce", "save", "open"]
    {
        assert!(said.contains(&format!("\n  {command} ")), "{command}: {said}");
    }
    assert!(said.contains("break ltl FORMULA"), "{said}");
}

/// The state of a scheduler is part of the configuration.
#[test]
fn scheduled_model_shows_scheduler_state() {
    let model = philosophers(2);
    let scheduled = (&model).scheduled(RoundRobin::new(|action: &u32| action / 3));
    let mut out = Vec::new();
    let script = "step\nstep\nbreak deadlock\nrun\nprint P[0]\n";
    let input = Input::Lines(&mut script.as_bytes());
    let ending = debug(&scheduled, &readers(&model), None, ReplConfig::default(), input, &mut out).unwrap();
    let said = String::from_utf8(out).unwrap();
    assert_eq!(ending, ReplOutcome::Done, "{said}");
    // Each philosopher takes the left fork in turn, which is a deadlock.
    assert!(said.contains("policy.last served: 0 → 1\n  deadlock: no action is enabled"), "{said}");
    assert!(said.contains("breakpoint 1 (deadlock) holds here; none can be reached from here"), "{said}");
    assert!(said.ends_with("P[0] = waiting\n"), "{said}");
}

#[test]
fn tree_abbreviates_long_rows() {
    let (said, _) = session(
        &die(),
        "select 1\nbreak regex cast cast cast cast cast cast cast push\nrun\ntree\ntree all\npath\n",
    );
    assert!(said.contains("  #0  start\n  … 7 steps\n* #8  push\n"), "{said}");
    assert!(said.contains("  #6  cast\n  #7  cast\n* #8  push\n"), "{said}");
}
