//! A cockpit over the fake program.

use crate::fake::{Arg, Fake, Log, Op};
use invigil_check::report::Style;
use invigil_cockpit::{Bell, Cockpit, Failed, Files, Loaded, Setting, Voice, Workshop};
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::report::render;
use invigil_lang::{prop, scn};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_session::Options;
use invigil_session::subject::{Done, Subject};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) const QUEUE: &str = "\
slice on queue
initialization { N = 0; max = 0 }
state init accepting {
    transition { event queue_new(queue, size: int) { max = size } success ready }
}
state ready accepting {
    transition {
        event queue_push(queue) { return N < max }
        success { N = N + 1; print(\"pushed\", N) } ready
        failure sink
    }
}
state sink non-accepting
";

/// A program that makes a queue and pushes too often: `i` counts.
fn pushing() -> Vec<Op> {
    vec![
        Op::Call("queue_new", vec![("queue", Arg::Number(7)), ("size", Arg::Number(2))]),
        Op::Set("i", 0),
        Op::Call("queue_push", vec![("queue", Arg::Number(7)), ("c", Arg::Variable("i"))]),
        Op::Add("i", 1),
        Op::JumpIfLess("i", 4, 2),
    ]
}

const SOURCE: &str = "queue_new(7, 2);\ni = 0;\nqueue_push(7, i);\ni += 1;\nif (i < 4) goto 3;\nexit(0);\n";

struct Shop {
    log: Rc<RefCell<Log>>,
    source: PathBuf,
    ops: Vec<Op>,
}

impl Workshop for Shop {
    fn load(&mut self, files: &Files) -> Result<Loaded, String> {
        let (mut sources, mut catalog) = (Sources::default(), Catalog::default());
        let (mut automata, mut written) = (Vec::new(), Vec::new());
        let mut problems: Vec<Diagnostic> = Vec::new();
        for path in &files.properties {
            let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let (property, found) =
                prop::parse(sources.add(path.file_name().unwrap().to_str().unwrap(), text.as_str()), &text);
            problems.extend(found);
            let (automaton, found) = prop::lower::lower(&name, &property, &[], &mut catalog);
            problems.extend(found);
            automata.extend(automaton.map(Arc::new));
            written.push(invigil_lang::Written::Prop(property));
        }
        let all: Vec<&Automaton> = automata.iter().map(|automaton| &**automaton).collect();
        let mut scenarios = Vec::new();
        for path in &files.scenarios {
            let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let (scenario, found) = scn::parse(sources.add("scenario", text.as_str()), &text);
            problems.extend(found);
            let (scenario, found) = scn::lower("scenario", &scenario, &all);
            problems.extend(found);
            scenarios.extend(scenario.map(Arc::new));
        }
        if problems.iter().any(Diagnostic::is_error) {
            return Err(render(&sources, &problems, false));
        }
        let given = (0..automata.len()).collect();
        let (scripts, warnings) = (Vec::new(), String::new());
        let places = Vec::new();
        Ok(Loaded { automata, written, given, catalog, scripts, places, scenarios, sources, warnings })
    }

    fn begin(&mut self) -> Done<Box<dyn Subject>> {
        Ok(Box::new(Fake::new(self.ops.clone(), self.source.clone(), Rc::clone(&self.log))))
    }
}

/// A cockpit with its folder, and what was said while the program ran.
pub(crate) struct Test {
    pub(crate) cockpit: Cockpit,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) log: Rc<RefCell<Log>>,
    pub(crate) heard: Rc<RefCell<Vec<String>>>,
}

pub(crate) fn open(property: &str, scenario: Option<&str>, asks: bool) -> Result<Test, Failed> {
    open_program(pushing(), property, scenario, asks)
}

pub(crate) fn open_program(
    ops: Vec<Op>,
    property: &str,
    scenario: Option<&str>,
    asks: bool,
) -> Result<Test, Failed> {
    open_with(ops, property, scenario, asks, false)
}

/// A program that was running before we came.
pub(crate) fn attached(property: &str) -> Result<Test, Failed> {
    open_with(pushing(), property, None, true, true)
}

fn open_with(
    ops: Vec<Op>,
    property: &str,
    scenario: Option<&str>,
    asks: bool,
    attached: bool,
) -> Result<Test, Failed> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (log, heard): (Rc<RefCell<Log>>, Rc<RefCell<Vec<String>>>) = Default::default();
    let source = file("prog.c", SOURCE);
    let lines = Rc::clone(&heard);
    let setting = Setting {
        workshop: Box::new(Shop { log: Rc::clone(&log), source, ops }),
        files: Files {
            properties: if property.is_empty() { Vec::new() } else { vec![file("queue.prop", property)] },
            functions: Vec::new(),
            scenarios: scenario.iter().map(|text| file("s.scn", text)).collect(),
            scripts: Vec::new(),
        },
        options: Options::default(),
        record: None,
        voice: Voice {
            out: Rc::new(move |line: &str| lines.borrow_mut().push(line.to_owned())),
            properties: true,
            scenarios: true,
            notes: true,
            style: Style::default(),
        },
        style: Style::default(),
        bell: Bell::default(),
        console: None,
        asks,
        attached,
    };
    let (cockpit, _, _) = Cockpit::open(setting)?;
    Ok(Test { cockpit, folder, log, heard })
}

/// The usual program and property, with nobody to ask.
pub(crate) fn queue() -> Test {
    open(QUEUE, None, false).unwrap_or_else(|failed| panic!("{}", failed.words()))
}

impl Test {
    /// What a command says.
    #[track_caller]
    pub(crate) fn says(&mut self, line: &str) -> String {
        self.cockpit.run(line).unwrap_or_else(|words| panic!("`{line}`: {words}"))
    }

    /// Runs a command, which says all of this.
    #[track_caller]
    pub(crate) fn shows(&mut self, line: &str, parts: &[&str]) -> String {
        let said = self.says(line);
        for part in parts {
            assert!(said.contains(part), "`{line}` should say `{part}`:\n{said}");
        }
        said
    }

    /// Runs a command, which complains.
    #[track_caller]
    pub(crate) fn refuses(&mut self, line: &str, part: &str) {
        match self.cockpit.run(line) {
            Ok(said) => panic!("`{line}` should not be done:\n{said}"),
            Err(words) => assert!(words.contains(part), "`{line}` should complain `{part}`: {words}"),
        }
    }
}
