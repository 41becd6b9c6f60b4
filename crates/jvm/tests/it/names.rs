//! What can be named in a Java program, and the messages about what cannot.

use crate::common::{Live, compiled};
use invigil_jvm::{ClassPath, Launch, Stream, constant};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_monitor::mac::JavaConstant;
use invigil_target::{StopReason, Termination, UnresolvedEvent};
use invigil_test_support::Folder;
use invigil_test_support::language::declare;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/names")
}

fn launch_in(classes: &Path, command: &[&str]) -> Launch {
    let mut launch = Launch::new("java")
        .args(["-XX:TieredStopAtLevel=1", "-Xverify:all", "-cp"])
        .args([classes])
        .args(command.iter().copied());
    launch.stdout = Stream::File(tempfile::tempfile().unwrap().into());
    launch
}

fn launch(command: &[&str]) -> Launch {
    launch_in(&compiled(&folder(), &["-g"]), command)
}

/// The events of writes to these variables, and of changes that are not writes.
#[track_caller]
fn reported(names: &[&str], command: &[&str]) -> Vec<String> {
    let mut catalog = EventCatalog::default();
    for name in names {
        declare(&mut catalog, EventKind::Write, name, &["ret"]);
    }
    let mut live = Live::start(&launch(command), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    live.events
}

/// The changes of a variable that is reached through objects: `=1` for a write, `1` for another change.
#[track_caller]
fn changes(name: &str, command: &[&str]) -> Vec<String> {
    let by_path = format!("{name} by path");
    let reported = reported(&[name, &by_path], command);
    let shown = reported.iter().map(|reported| match reported.contains(" by path") {
        true => reported.rsplit_once('=').unwrap().1.trim_end_matches(')').to_owned(),
        false => format!("={}", reported.rsplit_once('=').unwrap().1.trim_end_matches(')')),
    });
    shown.collect()
}

#[test]
fn writes_to_fields_of_every_type_are_reported() {
    let all = ["z", "b", "c", "s", "i", "l", "f", "d", "t"].map(|name| format!("names.Types.{name}"));
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    let reported: Vec<String> = reported(&names, &["names.Types"])
        .iter()
        .map(|reported| reported.replace("write names.Types.", ""))
        .collect();
    let expected = [
        "z(ret=Bool)",
        "b(ret=-1)",
        "c(ret=c)",
        "s(ret=-300)",
        "i(ret=70000)",
        "l(ret=1099511627776)",
        "f(ret=1.5)",
        "d(ret=2.5)",
        "t(ret=a text that is longer than fourteen bytes)",
        "t(ret=None)",
    ];
    assert_eq!(reported, expected);
}

#[test]
fn writes_to_locals_of_every_type_are_reported() {
    let all = ["z", "b", "c", "s", "i", "l", "f", "d", "t", "given", "inner"];
    let all = all.map(|name| format!("Types.locals(int).{name}"));
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    let reported: Vec<String> = reported(&names, &["names.Types"])
        .iter()
        .map(|reported| reported.replace("write Types.locals(int).", ""))
        .collect();
    let expected = [
        "z(ret=Bool)",
        "b(ret=5)",
        "c(ret=x)",
        "s(ret=10)",
        "i(ret=5)",
        "i(ret=6)",
        "i(ret=1006)",
        "l(ret=15)",
        "f(ret=1.25)",
        "d(ret=0.625)",
        "t(ret=text 5)",
        "given(ret=9)",
        "inner(ret=0)",
        "l(ret=15)",
        "inner(ret=10)",
        "l(ret=25)",
    ];
    assert_eq!(reported, expected);
}

#[test]
fn scopes_select_calls() {
    let reported = |scope: &str| {
        let name = format!("Types.twice(int) {scope}");
        let mut catalog = EventCatalog::default();
        declare(&mut catalog, EventKind::Before, &name, &["arg 1"]);
        declare(&mut catalog, EventKind::After, &name, &["arg 1", "ret"]);
        let mut live = Live::start(&launch(&["names.Types"]), catalog);
        assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
        let short = |reported: &String| reported.replace(&name, "twice");
        live.events.iter().map(short).collect::<Vec<String>>()
    };
    let one =
        ["twice(arg 1=1)", "after twice(arg 1=1, ret=2)", "twice(arg 1=2)", "after twice(arg 1=2, ret=4)"];
    let two = ["twice(arg 1=101)", "after twice(arg 1=101, ret=202)"];
    assert_eq!(reported("in names.Types.caller(int)"), one);
    assert_eq!(reported("not in Types.caller(int)"), two);
    assert_eq!(reported("in names"), [&one[..], &two].concat());
    assert_eq!(reported("not in Types"), [""; 0]);
}

#[test]
fn locked_write_and_report_are_atomic() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Write, "Types.shared locked", &["ret", "now=Types.shared"]);
    let mut live = Live::start(&launch(&["names.Types"]), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    assert_eq!(live.events.len(), 200);
    for reported in &live.events {
        let (ret, now) = reported.split_once("ret=").unwrap().1.split_once(", now=").unwrap();
        assert_eq!(ret, now.trim_end_matches(')'), "nobody else writes before the report: {reported}");
    }
}

#[test]
fn path_from_static_field_is_tracked() {
    let all = changes("Holder.top.leaf.value", &["names.Holder", "static"]);
    // The failing constructor has written to the variable, too.
    assert_eq!(all, ["=1", "=2", "=3", "=4", "=5", "Unset", "7", "=8", "=9", "Unset"]);
}

#[test]
fn path_from_all_instances_is_tracked() {
    let all = changes("names.Holder.leaf.value", &["names.Holder", "all"]);
    assert_eq!(all, ["=1", "=2", "=11", "=12", "=3", "=4", "Unset", "=5"]);
}

#[test]
fn collected_object_makes_variable_undefined() {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Write, "Holder.make().one.leaf.value", &["ret"]);
    declare(&mut catalog, EventKind::Write, "Holder.make().one.leaf.value by path", &["ret"]);
    declare(&mut catalog, EventKind::Before, "Types.tick", &[]);
    let mut live = Live::start(&launch(&["names.Holder", "dies"]), catalog);
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
    live.events.retain(|reported| !reported.starts_with("Types.tick"));
    let name = "Holder.make().one.leaf.value";
    let expected = [
        format!("write {name}(ret=1)"),
        format!("write {name}(ret=2)"),
        format!("write {name}(ret=3)"),
        format!("write {name} by path(ret=Unset)"),
    ];
    assert_eq!(live.events, expected);
}

// ---- what cannot be named -----------------------------------------------------------------------------------

/// The message about a name.
fn said(classes: &Path, kind: EventKind, name: &str) -> String {
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, kind, name, &["ret"]);
    let (_, unknown) = Live::try_start(&launch_in(classes, &["names.Types"]), catalog);
    let words =
        |unknown: &UnresolvedEvent| format!("{}; {} {}\n", unknown.reason, unknown.help, unknown.pending);
    unknown.iter().map(words).collect()
}

#[test]
fn misspelled_names_suggest_the_nearest() {
    let classes = compiled(&folder(), &["-g"]);
    let write = |name| said(&classes, EventKind::Write, name);
    for (name, words, nearest) in [
        ("Tpyes.i", "no class `Tpyes`", "`Types`"),
        ("Types.zz", "no field `zz`", "`z`"),
        ("Types.locals(int).inenr", "no local variable `inenr`", "`inner`"),
        ("Types.lcoals(int).inner", "no method `lcoals`", "`locals`"),
        ("Types.locals(long).inner", "has these parameters", "`locals(int)`"),
        ("Holder.top.laef.value", "no field `laef`", "`leaf`"),
        ("Holder.top.leaf.vaule", "no field `vaule`", "`value`"),
        ("Hodler.top.leaf.value", "no class `Hodler.top.leaf`", "`Holder`"),
        ("Holder.make().one.laef.value", "no field `laef`", "`leaf`"),
        ("Holder.make().noe.leaf.value", "no local variable `noe`", "`one`"),
        ("Types.i.j", "of type `int`", "fields of objects"),
        ("Types.locals(int).t.hash", "not on the class path", "class files"),
        ("Types.i in Tpyes", "no class or package `Tpyes`", "`Types`"),
    ] {
        let said = write(name);
        assert!(said.contains(words) && said.contains(nearest), "{name}: {said}");
    }
    assert_eq!(said(&classes, EventKind::After, "Types.twice(int) in Types"), "");
    assert!(said(&classes, EventKind::After, "Types.tick() in Types").contains("returns nothing"));
}

#[test]
fn locals_need_debug_information() {
    let classes = compiled(&folder(), &["-g:none"]);
    for name in ["Types.locals(int).inner", "Holder.make().one.leaf.value"] {
        let said = said(&classes, EventKind::Write, name);
        assert!(said.contains("no local variable") && said.contains("javac -g"), "{name}: {said}");
    }
}

#[test]
fn constants_are_read_from_class_files() {
    let folder = Folder::new();
    let source = "package a; public class K extends Up implements Side { static final int I = 7; \
                  static final long L = 8L; static final float F = 1.5f; static final double D = 2.5; \
                  static final char C = 'c'; static final boolean Z = true; static final byte B = -1; \
                  static final short S = 300; static final String T = \"text\"; static int no = 1; \
                  final int each = 2; static final Object O = new Object(); } \
                  class Up { static final int UP = 9; } interface Side { int SIDE = 10; }";
    folder.write("K.java", source);
    folder.run("javac", ["-d", "classes", "K.java"]);
    folder.run("jar", ["--create", "--file", "k.jar", "-C", "classes", "."]);
    for class_path in ["classes", "k.jar", "nowhere:k.jar"] {
        let path = ClassPath::new(class_path, folder.path());
        let of = |name: &str| constant(&path, name);
        assert_eq!(of("a.K.I"), Some(JavaConstant::Int(7)));
        assert_eq!(of("K.L"), Some(JavaConstant::Long(8)));
        assert_eq!(of("K.F"), Some(JavaConstant::Float(1.5)));
        assert_eq!(of("K.D"), Some(JavaConstant::Double(2.5)));
        assert_eq!(of("K.C"), Some(JavaConstant::Char(u16::from(b'c'))));
        assert_eq!(of("K.Z"), Some(JavaConstant::Boolean(true)));
        assert_eq!(of("K.B"), Some(JavaConstant::Int(-1)));
        assert_eq!(of("K.S"), Some(JavaConstant::Int(300)));
        assert_eq!(of("K.T"), Some(JavaConstant::Text("text".to_owned())));
        assert_eq!(of("K.UP"), Some(JavaConstant::Int(9)));
        assert_eq!(of("K.SIDE"), Some(JavaConstant::Int(10)));
        for none in ["K.no", "K.each", "K.O", "K.X", "X.I", "I", "b.K.I"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}

// ---- class files that cannot be used -------------------------------------------------------------------------

/// The compiled programs, with one class file changed.
fn changed(class: &str, change: impl FnOnce(&mut Vec<u8>)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let from = compiled(&folder(), &["-g"]).join("names");
    fs::create_dir(copy.path().join("names")).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), copy.path().join("names").join(file.file_name())).unwrap();
    }
    let damaged = copy.path().join("names").join(class);
    let mut bytes = fs::read(&damaged).unwrap();
    change(&mut bytes);
    fs::write(damaged, bytes).unwrap();
    copy
}

#[test]
fn malformed_class_file_is_not_woven() {
    let cut = changed("Holder$Leaf.class", |bytes| bytes.truncate(bytes.len() / 2));
    let newer = changed("Holder$Leaf.class", |bytes| bytes[7] = 99);
    for (folder, words) in [(cut, "truncated"), (newer, "newer")] {
        let mut catalog = EventCatalog::default();
        declare(&mut catalog, EventKind::Write, "Leaf.value", &["ret"]);
        declare(&mut catalog, EventKind::Before, "Holder.main", &[]);
        let mut launch = launch_in(folder.path(), &["names.Holder", "all"]);
        launch.stderr = Stream::File(tempfile::tempfile().unwrap().into());
        let (mut live, unknown) = Live::try_start(&launch, catalog);
        let said: String = unknown.iter().map(|unknown| unknown.reason.as_str()).collect();
        assert!(said.contains("cannot be used") && said.contains(words), "{said}");
        // Java does not load it either, so the program reports the error.
        assert_eq!(live.run(), StopReason::Ended(Termination::Exited(1)));
        assert_eq!(live.events, ["Holder.main()"]);
    }
}

#[test]
fn too_long_method_is_skipped_with_warning() {
    use invigil_target::prelude::*;
    let folder = Folder::new();
    // Each statement is six bytes long: with a probe, the method would be much too long.
    let long = "x = 1;\n".repeat(9000);
    let source = format!(
        "class Long {{ static int x; static void fill() {{ {long} }} static void one() {{ x = 2; }} \
         public static void main(String[] args) {{ fill(); one(); Done.done(); }} }} class Done {{ static void done() {{}} }}"
    );
    folder.write("Long.java", source);
    folder.run("javac", ["-g:none", "Long.java"]);
    let mut catalog = EventCatalog::default();
    declare(&mut catalog, EventKind::Write, "Long.x", &["ret"]);
    declare(&mut catalog, EventKind::Before, "Done.done", &[]);
    let mut live = Live::start(&launch_in(folder.path(), &["Long"]), catalog);
    live.run_to("done");
    assert_eq!(live.events, ["write Long.x(ret=2)", "Done.done()"]);
    let facts = live.target.info();
    assert!(facts.iter().any(|(_, words)| words.contains("Long.fill()V is not instrumented")), "{facts:?}");
    assert_eq!(live.run(), StopReason::Ended(Termination::Exited(0)));
}
