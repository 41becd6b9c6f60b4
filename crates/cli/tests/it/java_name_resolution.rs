//! Unknown names in Java programs are reported with positions and suggestions; start failures are reported.

use crate::common::Folder;
use invigil_test_support::java;

const TANK: &str = "\
class Valve {
    int number;
    double flow;
}

class Tank {
    Valve valve = new Valve();
    int level;

    int fill(int amount) {
        level += amount;
        valve.number++;
        return level;
    }

    public static void main(String[] args) {
        Tank tank = new Tank();
        tank.fill(3);
        tank.fill(4);
        System.out.println(\"level \" + tank.level);
    }
}
";

const PEDL: &str = "\
MonScr Tank
    export event filled, opened;
    export condition high;
    monmeth int Tank.fill(int);
    monobj int Tank.level;
    monobj int Tank.valve.number;
    event filled = endM(Tank.fill(int));
    event opened = update(Tank.valve.number);
    condition high = Tank.level > 5;
End
";

const MEDL: &str = "\
ReqSpec Tank
    import event filled, opened;
    import condition high;
    property low = !high;
    alarm twice = opened when high;
End
";

fn folder() -> Folder {
    let folder = Folder::new().file("Tank.java", TANK).file("tank.pedl", PEDL).file("tank.medl", MEDL);
    java::compile(&[folder.path("Tank.java")], &["-g"], &folder.path("classes"));
    folder
}

const RUN: &str = "run --batch --pedl tank.pedl --medl tank.medl -- java -cp classes Tank";

#[test]
fn unknown_names_in_scripts_are_errors() {
    for (right, wrong, words) in [
        (
            "Tank.fill(int)",
            "Tank.fil(int)",
            ["no method `fil`", "did you mean `fill`?", "tank.pedl:4:17", "^"],
        ),
        ("Tank.level", "Tank.levl", ["no field `levl`", "did you mean `level`?", "tank.pedl:5:16", "^"]),
        (
            "valve.number",
            "valve.numbr",
            ["no field `numbr`", "did you mean `number`?", "tank.pedl:6:16", "^"],
        ),
        ("Tank.level", "Tnk.level", ["no class `Tnk`", "did you mean `Tank`?", "tank.pedl:5:16", "^"]),
        (
            "int Tank.level",
            "boolean Tank.level",
            ["`Tank.level` is of type `int`", "declared as `boolean` here", "tank.pedl:5:20", "write `int`"],
        ),
        (
            "monmeth int",
            "monmeth boolean",
            ["`Tank.fill(int)` returns `int`", "tank.pedl:4:21", "write `int`", "^"],
        ),
    ] {
        let mut pedl = PEDL.replace(right, wrong);
        if wrong == "boolean Tank.level" {
            pedl = pedl.replace("Tank.level > 5", "Tank.level");
        }
        let folder = folder().file("tank.pedl", pedl);
        folder.run(RUN).exits(2).stderr_has(&words);
        let ran = folder.run("mac instrument tank.pedl classes -o woven").exits(2);
        ran.stderr_has(&[words[0], words[2]]);
    }
}

/// Numbers may be declared wider than they are.
#[test]
fn wider_numeric_types_are_accepted() {
    let pedl = PEDL.replace("int Tank.level", "long Tank.level");
    folder().file("tank.pedl", pedl).run(RUN).exits(1).stderr_has(&["low", "violated"]);
}

/// The report lists requirements only: neither actions nor derived events.
#[test]
fn script_report_names_requirements() {
    let medl = MEDL
        .replace("End", "    import action drain;\n    filled -> { invoke drain; print \"filled\"; }\nEnd");
    let folder = folder().file("tank.medl", medl);
    let ran = folder.run(&RUN.replace("--batch", "--batch --on-violation continue")).exits(1);
    let ran = ran.stderr_has(&["low", "violated", "action drain invoked 2 times", "#low is false\n"]);
    assert!(!ran.stderr.contains("\ndrain") && !ran.stderr.contains("\nTank "), "{}", ran.stderr);
    let json = folder.run(&RUN.replace("--batch", "--json --on-violation continue")).exits(1);
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let names: Vec<&str> =
        report["properties"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["low", "twice"]);
    assert_eq!(report["actions"], serde_json::json!([{ "name": "drain", "invoked": 2 }]));
}

#[test]
fn field_paths_in_parameters_are_resolved() {
    let prop = |path: &str| {
        format!(
            "state init accepting {{\n    transition {{ event Tank.fill(\"{path}\" as n: int) {{ return n < 9 }} \
             failure bad }}\n}}\nstate bad non-accepting\n"
        )
    };
    let run = |path: &str| {
        folder().file("a.prop", prop(path)).run("run --batch -p a.prop -- java -cp classes Tank")
    };
    run("this.valve.number").exits(0);
    run("valve.number").exits(0);
    for path in ["this.valve.numbr", "valve.numbr", "this.valve.numbr + amount"] {
        let words = ["the class `Valve` has no field `numbr`", "did you mean `number`?", "a.prop:2:35", "^"];
        run(path).exits(2).stderr_has(&words);
    }
    run("this.levl").exits(2).stderr_has(&["the class `Tank` has no field `levl`", "did you mean `level`?"]);
    run("amount.size").exits(2).stderr_has(&["a value of type `int` has no `size`"]);
}

#[test]
fn field_paths_in_formulae_are_resolved() {
    let run = |path: &str| {
        folder().shell(&format!(
            "invigil run --batch -p 'ltl:G(\"before Tank.fill\" -> \"{path} < 9\")' -- java -cp classes Tank"
        ))
    };
    run("this.valve.number").exits(0);
    run("this.valve.numbr").exits(2).stderr_has(&[
        "the class `Valve` has no field `numbr`",
        "did you mean `number`?",
        "<command line>:1:30",
        "^^^^^^^^^^^^^^^^",
    ]);
}

/// A missing main class is an error, not a satisfied property.
#[test]
fn java_start_failures_are_reported() {
    let folder = folder();
    for java in ["java -cp nowhere Tank", "java -cp classes Tnk", "java -jar nowhere.jar"] {
        let ran = folder.run(&format!("run --batch --pedl tank.pedl --medl tank.medl -- {java}")).exits(3);
        ran.stderr_has(&["Java ended before the program started"]);
    }
    let ran = folder.run("run --batch -- java -cp nowhere Tank").exits(3);
    ran.stderr_has(&["its main class was not loaded", "see its output for the reason"]);
}
