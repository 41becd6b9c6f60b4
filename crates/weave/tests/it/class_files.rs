//! Contents of class files, the sites that plans visit, and captures that are unavailable.

use crate::common::programs::Programs;
use crate::common::{HELPER, Java};
use invigil_weave::{CallSide, Capture, Class, Constant, Probe, ProbePlan, Site, SiteKind, SiteKinds, weave};

/// Compiles one class of the corpus, with some options.
fn compile(test: &str, name: &str, options: &[&str]) -> Option<Vec<u8>> {
    let java = Java::find(test)?;
    let source = format!("{}/tests/java/corpus/{name}.java", env!("CARGO_MANIFEST_DIR"));
    java.run("javac", &[options, &["-d", "plain", &source]].concat());
    Some(std::fs::read(java.folder.join(format!("plain/{name}.class"))).unwrap())
}

#[test]
fn class_read_yields_names_and_constants() {
    let Some(bytes) = compile("reading", "Reading", &["-g", "-parameters"]) else { return };
    let class = Class::read(&bytes).unwrap();
    assert_eq!(class.name, "Reading");
    assert_eq!(class.parent.as_deref(), Some("java/lang/Thread"));
    assert_eq!(class.interfaces, ["java/io/Serializable", "java/lang/Runnable"]);
    assert_eq!(class.source.as_deref(), Some("Reading.java"));
    assert_eq!(class.access & 0x401, 0x401, "public abstract");
    let constants: Vec<_> = class.fields.iter().map(|field| (field.name.as_str(), &field.constant)).collect();
    assert_eq!(
        constants,
        [
            ("INT", &Some(Constant::Int(42))),
            ("LONG", &Some(Constant::Long(1 << 40))),
            ("FLOAT", &Some(Constant::Float(1.5))),
            ("DOUBLE", &Some(Constant::Double(-0.25))),
            ("TEXT", &Some(Constant::Text("größe\0😀".to_owned()))),
            ("YES", &Some(Constant::Int(1))),
            ("plain", &None),
        ]
    );
    let plain = class.fields.last().unwrap();
    assert_eq!((plain.descriptor.as_str(), plain.access), ("[I", 0x42));

    let method = |name: &str| class.methods.iter().find(|method| method.name == name).unwrap();
    assert!(!method("nothing").has_code && !method("far").has_code && method("<init>").has_code);
    assert_eq!(method("nothing").parameters, ["first"]);
    assert_eq!(method("far").descriptor, "(Ljava/lang/String;)J");
    let count = method("count");
    let locals: Vec<_> = count
        .locals
        .iter()
        .map(|local| (local.slot, local.name.as_str(), local.descriptor.as_str()))
        .collect();
    for expected in [(0, "limit", "I"), (1, "what", "Ljava/lang/Object;"), (2, "total", "I"), (3, "i", "I")] {
        assert!(locals.contains(&expected), "{locals:?}");
    }
    let lines: Vec<_> = count.lines.iter().map(|line| line.line).collect();
    assert_eq!((count.lines[0].pc, lines), (0, vec![18, 19, 20, 19, 22]));
}

/// Records the visited sites, and requests an unavailable capture at each.
struct RecordingPlan {
    sites: Vec<String>,
    wants: SiteKinds,
    capture: Capture,
}

impl ProbePlan for RecordingPlan {
    fn site_kinds(&mut self, class: &str) -> SiteKinds {
        assert_eq!(class, "Reading");
        self.wants
    }

    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let line = site.line.map_or("-".to_owned(), |line| line.to_string());
        let what = match site.kind {
            SiteKind::Local { name, slot, .. } => format!("{name}@{slot}"),
            SiteKind::Call { name, when: CallSide::Before, .. } => format!("before {name}"),
            SiteKind::Call { name, when: CallSide::After, .. } => format!("after {name}"),
            kind => format!("{kind:?}"),
        };
        self.sites.push(format!("{}:{line} {what}", site.method));
        vec![Probe::new(self.sites.len() as u32, [self.capture])]
    }
}

fn greedy(bytes: &[u8], wants: SiteKinds, capture: Capture) -> (Vec<String>, Vec<String>) {
    let mut plan = RecordingPlan { sites: Vec::new(), wants, capture };
    let woven = weave(bytes, HELPER, &mut plan).unwrap();
    (plan.sites, woven.map_or(Vec::new(), |woven| woven.skipped.iter().map(ToString::to_string).collect()))
}

#[test]
fn plan_visits_sites_in_code_order() {
    let Some(bytes) = compile("sites", "Reading", &["-g"]) else { return };
    let (sites, skipped) = greedy(&bytes, SiteKinds::ALL, Capture::Thrown);
    let expected = [
        "<init>:4 Enter",
        "<init>:4 before <init>",
        "<init>:4 after <init>",
        "<init>:4 Return",
        "<init>:- ExceptionalExit",
        "count:18 Enter",
        "count:18 total@2",
        "count:19 i@3",
        "count:20 total@2",
        "count:19 i@3",
        "count:22 Return",
        "count:- ExceptionalExit",
    ];
    assert_eq!(sites, expected);
    // Two of them have an exception.
    assert_eq!(skipped.len(), expected.len() - 2);
    assert_eq!(skipped[0], "<init>()V is not instrumented: nothing is thrown at this site");

    let some = SiteKinds { locals: true, ..SiteKinds::NOTHING };
    let (sites, skipped) = greedy(&bytes, some, Capture::Argument(2));
    assert_eq!(sites, ["count:18 total@2", "count:19 i@3", "count:20 total@2", "count:19 i@3"]);
    assert!(skipped[0].ends_with("the method has fewer parameters than the probe captures"), "{skipped:?}");
    assert_eq!(greedy(&bytes, SiteKinds::NOTHING, Capture::This), (vec![], vec![]));
    let (_, skipped) = greedy(&bytes, SiteKinds::ALL, Capture::Result);
    assert!(skipped.iter().all(|words| words.ends_with("there is no result at this site")), "{skipped:?}");
}

/// Without debug information, parameters are visited nevertheless: by slot, or by name if the class has the names.
#[test]
fn parameters_are_visited_without_debug_information() {
    let sites = |test, options: &[&str]| {
        let bytes = compile(test, "Locals", options)?;
        struct Names(Vec<String>);
        impl ProbePlan for Names {
            fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
                if let SiteKind::Local { slot, name, descriptor } = site.kind {
                    self.0.push(format!("{} {slot} {name:?} {descriptor}", site.method));
                }
                Vec::new()
            }
        }
        let mut names = Names(Vec::new());
        assert_eq!(weave(&bytes, HELPER, &mut names), Ok(None));
        Some(names.0)
    };
    let Some(unnamed) = sites("unnamed", &["-g:none"]) else { return };
    assert_eq!(unnamed, ["sum 0 \"\" I", "real 0 \"\" F"]);
    assert_eq!(sites("named", &["-g:none", "-parameters"]).unwrap(), ["sum 0 \"n\" I", "real 0 \"f\" F"]);
}

/// Class files of versions without frames; the old verifier must accept them.
#[test]
fn class_files_without_frames_are_woven() {
    use crate::common::plans::{Everywhere, all};
    let Some(programs) = Programs::compile("class_files_without_frames_are_woven", &[]) else { return };
    let corpus = format!("{}/tests/java/corpus", env!("CARGO_MANIFEST_DIR"));
    let sources = ["Fields", "Locals", "Methods", "Locks"].map(|name| format!("{corpus}/{name}.java"));
    let mut arguments = vec!["--release", "8", "-Xlint:-options", "-g", "-d", "plain"];
    arguments.extend(sources.iter().map(String::as_str));
    programs.java.run("javac", &arguments);
    for entry in std::fs::read_dir(programs.java.folder.join("plain")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[7] = 49;
        std::fs::write(path, bytes).unwrap();
    }
    programs.weave("woven", &mut Everywhere { locks: true, ..Everywhere::new(SiteKinds::ALL, all) });
    for main in ["Fields", "Locals", "Methods", "Locks"] {
        let (out, log) = programs.run("woven", main);
        assert_eq!(programs.run("plain", main).0, out);
        assert!(log.lines().count() > 10, "{log}");
    }
}

/// A class of Java 1.4, written by hand: compilers of that time made subroutines of `finally`.
///
/// ```text
/// static int run(int n) { f = n; subroutine; subroutine; return f; }     subroutine: f = f * 2
/// ```
fn with_subroutine() -> Vec<u8> {
    let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
    let pool = [
        text("Old"),
        vec![7, 0, 1],
        text("java/lang/Object"),
        vec![7, 0, 3],
        text("f"),
        text("I"),
        vec![12, 0, 5, 0, 6],
        vec![9, 0, 2, 0, 7],
        text("run"),
        text("(I)I"),
        text("Code"),
        text("main"),
        text("([Ljava/lang/String;)V"),
        vec![12, 0, 9, 0, 10],
        vec![10, 0, 2, 0, 14],
    ];
    let method = |name: u8, descriptor: u8, code: &[u8]| {
        let length = code.len() as u8;
        let head =
            [0, 9, 0, name, 0, descriptor, 0, 1, 0, 11, 0, 0, 0, length + 12, 0, 2, 0, 2, 0, 0, 0, length];
        [&head, code, &[0, 0, 0, 0]].concat()
    };
    // iload_0; putstatic; jsr; jsr; getstatic; ireturn; astore_1; getstatic; iconst_2; imul; putstatic; ret 1
    let run = [
        0x1a, 0xb3, 0, 8, 0xa8, 0, 10, 0xa8, 0, 7, 0xb2, 0, 8, 0xac, 0x4c, 0xb2, 0, 8, 5, 0x68, 0xb3, 0, 8,
        0xa9, 1,
    ];
    // iconst_5; invokestatic; pop; return
    let main = [8, 0xb8, 0, 15, 0x57, 0xb1];
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 48, 0, pool.len() as u8 + 1];
    class.extend(pool.concat());
    class.extend([0, 33, 0, 2, 0, 4, 0, 0]);
    class.extend([0, 1, 0, 8, 0, 5, 0, 6, 0, 0]);
    class.extend([0, 2]);
    class.extend(method(9, 10, &run));
    class.extend(method(12, 13, &main));
    class.extend([0, 0]);
    class
}

#[test]
fn subroutines_are_woven() {
    use crate::common::plans::{Labelled, all};
    let Some(programs) = Programs::compile("subroutines_are_woven", &[]) else { return };
    programs.java.write("plain/Old.class", &with_subroutine());
    let heard = programs.heard("Old", Labelled::new(|site| vec![all(site)]));
    let expected = "\
        enter main null String[]
        before run null null 5
        enter run null 5
        field Old.f null null 5 5
        field Old.f null null 10 5
        field Old.f null null 20 5
        return run null 5 20
        after run null null 5 20
        return main null String[]";
    let expected: Vec<_> = expected.lines().map(str::trim).collect();
    assert_eq!(heard.lines().collect::<Vec<_>>(), expected);
}
