//! `invigil decent run`: properties, formulae and scripts as black boxes of specifications.

use crate::common::{Folder, Ran};

/// The third round with the stove on is too many.
const CALM: &str = "\
initialization { n = 0 }
state init accepting {
    transition {
        event stove() { return n < 2 }
        success { n = n + 1 } init
        failure burnt
    }
}
state burnt non-accepting
";

fn folder(file: &str) -> Folder {
    let spec = format!(
        "component kitchen: stove, door\ncomponent hall: motion\n\
         calm @ kitchen = black box \"{file}\"\nroot @ hall = G(@calm | motion)\n"
    );
    Folder::new().file("home.dec", spec)
}

const HOT: &str = "stove:t,motion:f>stove:t,motion:f>stove:f,motion:f>stove:t,motion:t>stove:f,motion:f";

fn run(folder: &Folder, trace: &str) -> Ran {
    folder.shell(&format!("invigil decent run home.dec --trace '{trace}'"))
}

#[test]
fn property_box_gives_value_in_each_round() {
    let folder = folder("calm.prop").file("calm.prop", CALM);
    run(&folder, HOT).exits(1).stdout_has(&["false at instant 5"]);
    run(&folder, "stove:t,motion:f>stove:t,motion:f").exits(0).stdout_has(&["unknown"]);
    // The boxes restart in each run of a directory.
    let twice = "stove:t\nstove:t\n";
    for run in 0..2 {
        std::fs::create_dir_all(folder.path("runs")).unwrap();
        std::fs::write(folder.path(&format!("runs/{run}-a.trace")), twice).unwrap();
        std::fs::write(folder.path(&format!("runs/{run}-b.trace")), "motion:f\nmotion:f\n").unwrap();
    }
    folder
        .run("decent run home.dec --traces runs")
        .exits(0)
        .stdout_has(&["run 0: unknown", "run 1: unknown"]);
}

#[test]
fn formula_and_script_boxes_give_value_in_each_round() {
    let folder = self::folder("calm.ltl").file("calm.ltl", "G(door -> Y stove)\n");
    run(&folder, "stove:t,door:f>stove:f,door:t,motion:f>stove:f,door:t,motion:f")
        .exits(1)
        .stdout_has(&["false at instant 3"]);
    let pedl = "MonScr export event Hot; export condition Open; timestamp 1; monmeth void stove(); monobj boolean door;
        event Hot = startM(stove()); condition Open = door; End";
    let medl = "ReqSpec import event Hot; import condition Open;
        property early = Open => currentTime < 3; alarm never = Hot when Open; End";
    let folder = self::folder("calm.medl").file("calm.pedl", pedl);
    run(&folder, HOT).exits(2).stderr_has(&["home.dec:3:1", "calm.medl: no such file"]);
    let folder = folder.file("calm.medl", medl);
    let open = "stove:f,door:t,motion:f";
    run(&folder, &format!("{open}>{open}>{open}")).exits(1).stdout_has(&["false at instant 3"]);
    run(&folder, "stove:f,door:f,motion:f>stove:t,door:t,motion:f")
        .exits(1)
        .stdout_has(&["false at instant 2"]);
    run(&folder, "stove:t,door:f,motion:f>stove:t,door:f,motion:f").exits(0).stdout_has(&["unknown"]);
    std::fs::remove_file(folder.path("calm.pedl")).unwrap();
    run(&folder, HOT)
        .exits(2)
        .stderr_has(&["calm.pedl: no such file", "a monitoring script of the same name"]);
}

#[test]
fn errors_in_boxes_have_positions() {
    let folder = folder("sub/calm.prop");
    run(&folder, HOT).exits(2).stderr_has(&[
        "home.dec:3:1",
        "cannot read the black box `calm`: sub/calm.prop: no such file",
        "in the directory of the specification",
    ]);
    std::fs::create_dir(folder.path("sub")).unwrap();
    let write = |text: &str| std::fs::write(folder.path("sub/calm.prop"), text).unwrap();
    write(&CALM.replace("burnt\n    }", "brunt\n    }"));
    run(&folder, HOT).exits(2).stderr_has(&["sub/calm.prop:6:17", "did you mean `burnt`?"]);
    write(&CALM.replace("stove()", "stoves()"));
    run(&folder, HOT).exits(2).stderr_has(&[
        "sub/calm.prop:3:5",
        "kitchen does not observe `stoves`",
        "did you mean `stove`?",
    ]);
    write(&CALM.replace("n < 2", "n < 2 / n"));
    run(&folder, HOT)
        .exits(2)
        .stderr_has(&["sub/calm.prop:4:", "in round 1: the black box has no verdict from here on"]);
    write(CALM);
    run(&folder, "@calm:t")
        .exits(2)
        .stderr_has(&["round 1: `@calm` is the verdict of a black box and cannot be observed"]);
    let folder = self::folder("judge.py");
    run(&folder, "@calm:f,motion:f")
        .exits(1)
        .stderr_has(&["note: `judge.py` cannot be run here", "as the observation `@calm`"]);
}
