//! A debugger session over the fake target.

use crate::prompt::fake_target::{Arg, Fake, Log, Op};
use invigil_check::report::Style;
use invigil_cockpit::{
    Files, InterruptHandle, LiveDebugger, LoadedFiles, MessageSink, OpenError, SessionConfig, SessionFactory,
};
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::report::render;
use invigil_lang::{prop, scn};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_session::SessionOptions;
use invigil_target::{Target, TargetResult};
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

/// A program that creates a queue of capacity 2 and pushes four times, counted by `i`.
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

struct FakeFactory {
    log: Rc<RefCell<Log>>,
    source: PathBuf,
    ops: Vec<Op>,
}

impl SessionFactory for FakeFactory {
    fn load(&mut self, files: &Files) -> Result<LoadedFiles, String> {
        let (mut sources, mut catalog) = (Sources::default(), EventCatalog::default());
        let (mut automata, mut property_sources) = (Vec::new(), Vec::new());
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
            property_sources.push(invigil_lang::PropertySource::Prop(property));
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
        let file_of_property = (0..automata.len()).collect();
        let (scripts, warnings) = (Vec::new(), String::new());
        let entity_spans = Vec::new();
        Ok(LoadedFiles {
            automata,
            property_sources,
            file_of_property,
            catalog,
            scripts,
            entity_spans,
            scenarios,
            sources,
            warnings,
        })
    }

    fn start_target(&mut self) -> TargetResult<Box<dyn Target>> {
        Ok(Box::new(Fake::new(self.ops.clone(), self.source.clone(), Rc::clone(&self.log))))
    }
}

/// A debugger with its folder, and the messages printed while the target ran.
pub(crate) struct Test {
    pub(crate) debugger: LiveDebugger,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) log: Rc<RefCell<Log>>,
    pub(crate) printed: Rc<RefCell<Vec<String>>>,
}

pub(crate) fn open(property: &str, scenario: Option<&str>, asks: bool) -> Result<Test, OpenError> {
    open_program(pushing(), property, scenario, asks)
}

pub(crate) fn open_program(
    ops: Vec<Op>,
    property: &str,
    scenario: Option<&str>,
    asks: bool,
) -> Result<Test, OpenError> {
    open_with(ops, property, scenario, asks, false)
}

/// A session that attached to a running process.
pub(crate) fn attached(property: &str) -> Result<Test, OpenError> {
    open_with(pushing(), property, None, true, true)
}

fn open_with(
    ops: Vec<Op>,
    property: &str,
    scenario: Option<&str>,
    asks: bool,
    attached: bool,
) -> Result<Test, OpenError> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (log, printed): (Rc<RefCell<Log>>, Rc<RefCell<Vec<String>>>) = Default::default();
    let source = file("prog.c", SOURCE);
    let lines = Rc::clone(&printed);
    let config = SessionConfig {
        factory: Box::new(FakeFactory { log: Rc::clone(&log), source, ops }),
        files: Files {
            properties: if property.is_empty() { Vec::new() } else { vec![file("queue.prop", property)] },
            functions: Vec::new(),
            scenarios: scenario.iter().map(|text| file("s.scn", text)).collect(),
            scripts: Vec::new(),
        },
        options: SessionOptions::default(),
        record: None,
        messages: MessageSink {
            out: Rc::new(move |line: &str| lines.borrow_mut().push(line.to_owned())),
            properties: true,
            scenarios: true,
            notes: true,
            style: Style::default(),
        },
        style: Style::default(),
        interrupt: InterruptHandle::default(),
        console: None,
        asks_for_confirmation: asks,
        attached,
    };
    let (debugger, _, _) = LiveDebugger::open(config)?;
    Ok(Test { debugger, folder, log, printed })
}

/// The standard program and property, without confirmation questions.
pub(crate) fn queue() -> Test {
    open(QUEUE, None, false).unwrap_or_else(|failed| panic!("{}", failed.message()))
}

impl Test {
    /// Executes a command and returns its output.
    #[track_caller]
    pub(crate) fn output_of(&mut self, line: &str) -> String {
        self.debugger.run(line).unwrap_or_else(|words| panic!("`{line}`: {words}"))
    }

    /// Executes a command and asserts that its output contains all parts.
    #[track_caller]
    pub(crate) fn shows(&mut self, line: &str, parts: &[&str]) -> String {
        let output = self.output_of(line);
        for part in parts {
            assert!(output.contains(part), "`{line}` does not show `{part}`:\n{output}");
        }
        output
    }

    /// Executes a command and asserts that it fails with a message that contains `part`.
    #[track_caller]
    pub(crate) fn fails_with(&mut self, line: &str, part: &str) {
        match self.debugger.run(line) {
            Ok(output) => panic!("`{line}` succeeded:\n{output}"),
            Err(error) => {
                let words = error.to_string();
                assert!(words.contains(part), "`{line}` does not fail with `{part}`: {words}");
            }
        }
    }
}
