//! Sessions as people have them.

use crate::models::{die, expect, philosophers, session};
use crate::written::readers;
use invigil_cockpit::multiverse::{Ending, Input, Setting, debug};
use invigil_semantics::{Compose, RoundRobin};

/// The story: two philosophers, one universe in which all is well, and one in which they starve.
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
  nothing can happen here
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
  nothing can happen here
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
fn a_run_goes_the_shortest_way_to_the_nearest_breakpoint() {
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
breakpoint 2 (P[2] == eating) after 2 steps; 10 configurations were looked at
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
breakpoint 1 (deadlock) after 4 steps; 13 configurations were looked at
  nothing can happen here
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
no breakpoint can be reached from here; 14 configurations were looked at, which is all
"#,
    );
}

#[test]
fn several_witnesses_become_universes() {
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
2 witnesses, each a universe; 6 configurations were looked at
  #2    2 steps   P[0] eats: breakpoint 1 (on eats)
  #4    2 steps   P[1] eats: breakpoint 1 (on eats)
  `jump #N` goes to one
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
one witness; 5 configurations were looked at
  #7    3 steps   P[0] eats: breakpoint 1 (on eats)
  `jump #N` goes to one
"#,
    );
}

#[test]
fn temporal_breakpoints_are_found() {
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
breakpoint 1 (ltl F P[0] == eating) after 2 steps; 4 configurations were looked at
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
breakpoint 2 (ltl G F P[1] == eating) after 4 steps; 6 configurations were looked at
from #3 to #6 it repeats for ever: both are the same configuration
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
breakpoint 3 (ltl G P[0] == waiting) after 1 step; 3 configurations were looked at
it stays in #7 for ever: nothing can happen there
  nothing can happen here
"#,
    );
}

#[test]
fn regular_expressions_are_found() {
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
breakpoint 1 (regex "P[1] == eating" puts (takes eats)+) after 5 steps; 10 configurations were looked at
   1  P[0] puts down
(invigil) delete all
no breakpoints
(invigil) break regex ^ . puts
breakpoint 2: regex ^ . puts
(invigil) run
no breakpoint can be reached from here; 4 configurations were looked at, which is all
(invigil) break regex (takes
error: a `(` has no `)`
"#,
    );
}

#[test]
fn outcomes_are_selected_and_faults_are_shown() {
    expect(
        &die(),
        r#"
2 configurations to start in:
   1  n = 1
   2  n = 2
  `select N` chooses one
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
   2  nothing changes
   3  n: 2 → 3
  `select N` chooses one
(invigil) back
#0  start
      n = 2
   1  cast  (3 outcomes)
   2  push
(invigil) 1
3 outcomes of cast:
   1  n: 2 → 1
   2  nothing changes
   3  n: 2 → 3
  `select N` chooses one
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
      broken: n cannot hold 5: its range is 1 to 4
  nothing can happen here
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
breakpoint 1 (n / 0 == 1) after 1 step; 2 configurations were looked at
breakpoint 1 cannot be evaluated here: division by zero
   1  cast  (3 outcomes)
   2  push
(invigil) restart
2 configurations to start in:
   1  n = 1
   2  n = 2
  `select N` chooses one
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
breakpoint 2 (n == 4) after 2 steps; 4 configurations were looked at
   1  cast  (3 outcomes)
   2  push
"#
        .trim_end_matches('\n'),
    );
}

#[test]
fn a_reduction_says_what_it_may_have_missed() {
    let (said, ending) = session(
        &philosophers(3),
        "reduce P[0], P[1]\nbreak deadlock\nrun\nreduce off\nrun\nlimit states 3\nback 3\nrun\ninfo\n",
    );
    assert_eq!(ending, Ending::Done);
    assert!(said.contains("alike for `run`; it may miss breakpoints"), "{said}");
    assert!(said.contains("reduced by `P[0], P[1]`: "), "{said}");
    assert!(said.contains("were skipped as like others, so witnesses may have been missed"), "{said}");
    assert!(said.contains("and there are more: the limit of configurations was reached"), "{said}");
    assert!(said.contains("runs         at most 3 configurations"), "{said}");
}

#[test]
fn what_cannot_be_done_ends_a_script_with_a_reason() {
    let model = philosophers(2);
    for (line, error) in [
        ("step 9", "there is no action 9: they go from 1 to 2"),
        ("step takes", "`takes` may be any of 2 actions: give a number"),
        ("step", "say which of the 2 actions"),
        ("step P[7]", "no action `P[7]` is enabled"),
        ("select 1", "there is nothing to select: `step` first"),
        ("back", "this is the beginning"),
        ("forward", "nothing was seen after this: `step` or `run`"),
        ("jump #7", "there is no #7: places go up to #0"),
        ("jump home", "there is no place `home`: give a number such as #0, or a name"),
        ("run", "there is nothing to run to: set a breakpoint with `break`"),
        ("break on sleeps", "there is no action `sleeps`"),
        ("break x == 1", "there is no `x` in this model"),
        ("break prop none.prop", "none.prop: "),
        ("delete 3", "say which breakpoint, or `all`"),
        ("limit coffee 3", "say `limit states N`"),
        ("print", "say what to print: a variable, or an expression"),
        ("expect P[0] == eating", "not as expected: `P[0] == eating` is false here"),
        ("stp", "there is no command `stp`: did you mean `step`?"),
        ("re", "`re` may be `restart` or `reduce`"),
        ("quit now", "`quit` takes nothing behind it, not `now`"),
        ("open none.jsonl", "none.jsonl cannot be read"),
        ("name 7", "say a name of letters, digits, `-` and `_`"),
        ("!", "`!` is no command; `help` lists them"),
    ] {
        let (said, ending) = session(&model, &format!("{line}\ninfo\n"));
        assert_eq!(ending, Ending::Failed, "{line}");
        let (_, after) = said.rsplit_once("(invigil) ").unwrap();
        assert!(after.starts_with(&format!("{line}\nerror: {error}")), "{said}");
    }
    assert_eq!(session(&model, "# a comment\n\nstep 1\nquit\nstep 99\n").1, Ending::Done);
}

#[test]
fn every_command_has_help() {
    let (said, _) = session(&philosophers(2), "help\nhelp break\nhelp run\n");
    for command in
        ["step", "select", "back", "forward", "jump", "tree", "break", "run", "reduce", "save", "open"]
    {
        assert!(said.contains(&format!("\n  {command} ")), "{command}: {said}");
    }
    assert!(said.contains("break ltl FORMULA"), "{said}");
}

/// The same program on a model under a scheduler: what the scheduler remembers is part of the configuration.
#[test]
fn a_scheduled_model_is_debugged_alike() {
    let model = philosophers(2);
    let scheduled = (&model).scheduled(RoundRobin::new(|action: &u32| action / 3));
    let mut out = Vec::new();
    let script = "step\nstep\nbreak deadlock\nrun\nprint P[0]\n";
    let input = Input::Lines(&mut script.as_bytes());
    let ending = debug(&scheduled, &readers(&model), None, Setting::default(), input, &mut out).unwrap();
    let said = String::from_utf8(out).unwrap();
    assert_eq!(ending, Ending::Done, "{said}");
    // Each in turn takes the fork on the left, and there they stay.
    assert!(said.contains("policy.last served: 0 → 1\n  nothing can happen here"), "{said}");
    assert!(said.contains("you stand on breakpoint 1 (deadlock); none can be reached from here"), "{said}");
    assert!(said.ends_with("P[0] = waiting\n"), "{said}");
}

/// A tree with long rows is drawn with what matters.
#[test]
fn long_ways_are_drawn_short() {
    let (said, _) = session(
        &die(),
        "select 1\nbreak regex cast cast cast cast cast cast cast push\nrun\ntree\ntree all\npath\n",
    );
    assert!(said.contains("  #0  start\n  … 7 steps\n* #8  push\n"), "{said}");
    assert!(said.contains("  #6  cast\n  #7  cast\n* #8  push\n"), "{said}");
}
