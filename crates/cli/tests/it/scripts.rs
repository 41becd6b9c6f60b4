//! PEDL and MEDL over a native program: the same to a user wherever they step.

use crate::common::Folder;

const SOURCE: &str = r#"
#include <stdlib.h>
static long level;
__attribute__((noinline)) long fill(int amount) {
    level += amount;
    __asm__ volatile(".skip 16, 0x90" ::: "memory");
    return level;
}
__attribute__((noinline)) void drain(int amount) {
    level -= amount;
    __asm__ volatile(".skip 16, 0x90" ::: "memory");
}
int main(void) {
    for (int i = 0; i < 2500; i++) {
        fill(3);
        drain(i == 2345 ? 1 : 3);
    }
    return 0;
}
"#;

const PEDL: &str = "
MonScr Tank
  export event filled, drained;
  export condition dry;
  valueabstract;
  monmeth long fill(int);
  monmeth void drain(int);
  event filled = startM(fill(int));
  event drained = startM(drain(int));
  condition dry = value(endM(fill(int)), 1) <= 3;
End";

const MEDL: &str = r#"
ReqSpec Balance
  import event filled(int), drained(int);
  import condition dry;
  var long fills;
  property stays_dry = dry;
  alarm odd = drained when value(drained, 0) != value(filled, 0);
  filled -> { fills' = defined(fills) ? fills + 1 : 1; }
  drained when value(drained, 0) == 1 -> { print "one after " + fills; }
End"#;

/// The output without times and thread ids.
fn reported(text: &str) -> Vec<String> {
    let is_steady = |word: &&str| !word.trim_end_matches(':').contains('.') || word.contains("tank.c");
    let words = |line: &str| line.split_whitespace().filter(is_steady).collect::<Vec<_>>().join(" ");
    let of_no_interest = ["stack of thread ", "limitation: ", "checkpoint "];
    let lines = text.lines().map(words);
    lines.filter(|line| !of_no_interest.iter().any(|start| line.starts_with(start))).collect()
}

#[test]
fn scripts_step_inside_native_program() {
    let folder = Folder::new()
        .file("tank.c", SOURCE)
        .file("tank.pedl", PEDL)
        .file("tank.medl", MEDL)
        .file("look", "continue\nbt\nevents 5\ncheckpoint\ncontinue\nprint level\nrestore 1\ncontinue\nprint level\ninfo probes\ncontinue\n");
    folder.shell("cc -g -O1 -o tank tank.c").exits(0);
    let [inline, trap] = ["inline", "trap"].map(|how| {
        let run = format!("run --pedl tank.pedl --medl tank.medl --probes {how}");
        let ran = folder.run(&format!("{run} --batch --prints --on-violation continue -- ./tank")).exits(1);
        let ran = ran.stderr_has(&["one after 2346", "odd", "violation 1: ", "violation 2: stays_dry"]);
        let looked = folder.run(&format!("{run} --commands look -- ./tank")).exits(1).stderr;
        let (before, probes) = looked.split_once("info probes\n").expect("they are reported");
        let (probes, after) = probes.split_once("(invigil)").expect("the program goes on then");
        assert!(probes.lines().all(|line| line.ends_with("  probe") == (how == "inline")), "{probes}");
        assert_eq!(probes.lines().count(), 3, "{probes}");
        [&ran.stderr, before, after].map(reported)
    });
    assert_eq!(inline, trap);
    // A property of a script is not a file of its own.
    std::fs::write(folder.path("delete"), "delete-monitor odd\n").unwrap();
    let run = folder.run("run --pedl tank.pedl --medl tank.medl --commands delete -- ./tank");
    run.stderr_has(&["`odd` comes from a PEDL or MEDL script and cannot be deleted alone"]);
}
