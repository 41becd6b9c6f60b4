//! The block language: compiling, and running with a small budget.

use invigil_expr::compare::ValueReader;
use invigil_expr::compile::{Block, BlockRole, Compiler, HostFunction, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_expr::fault::{EvalResult, FaultKind};
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine, NoopHost};
use invigil_expr::program::{CodeId, Program};
use invigil_expr::text::TextArenas;
use invigil_expr::value::Value;

const BUDGET: u64 = 20_000;
const HEAP_LIMIT: usize = 32 << 20;
const HOSTS: &[HostFunction] = &[HostFunction::new("debugger", 1)];

/// The initialization of the environment in which guards and updates run.
const PRELUDE: &str = "\
N = 3
maxSize = 16
items = [1, 'two', (3, 4.5), None]
names = {'a': 1, 'b': [2], 3: 'c'}
seen = {1, 2, 'x'}
word = 'a text that is too long for an inline value'

def twice(x):
    return x + x
";

const EVENT_TEXT: &str = "event text that is too long";

/// No input causes a panic, whatever the role of the block. A block that compiles terminates and frees its objects,
/// and its result does not depend on whether its output is observed.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(block) = parse(SourceId(0), &text) else { return };
    run_as_initialization(&block);
    let prelude = parse(SourceId(1), PRELUDE).expect("the prelude parses");
    let states = ["init".to_owned(), "sink".to_owned()];
    for role in [BlockRole::Guard, BlockRole::Update { states: &states }, BlockRole::Functions] {
        run_in_environment(&prelude, &block, role);
    }
}

fn parse(source: SourceId, text: &str) -> Option<Block> {
    let mut diagnostics = Vec::new();
    let block = Block::parse(Snippet::file(source, text), &mut diagnostics);
    block.filter(|_| !diagnostics.iter().any(Diagnostic::is_error))
}

fn run_as_initialization(block: &Block) {
    let mut compiler = Compiler::new(block.assigns.clone(), HOSTS);
    compiler.declare(block);
    compiler.functions(block);
    let compiled = compiler.block(block, &[], BlockRole::Initialization);
    let (program, diagnostics) = compiler.finish();
    if let Some(compiled) = compiled
        && !diagnostics.iter().any(Diagnostic::is_error)
    {
        compare(&program, &[compiled.code], block.assigns.len());
    }
}

fn run_in_environment(prelude: &Block, block: &Block, role: BlockRole<'_>) {
    let mut compiler = Compiler::new(prelude.assigns.clone(), HOSTS);
    compiler.declare(prelude);
    compiler.functions(prelude);
    let start = compiler.block(prelude, &[], BlockRole::Initialization).expect("the prelude compiles");
    if role == BlockRole::Functions {
        compiler.declare(block);
        compiler.functions(block);
    }
    let params = [("value".to_owned(), 0), ("name".to_owned(), 1), ("none".to_owned(), 2)];
    let compiled = compiler.block(block, &params, role);
    let (program, diagnostics) = compiler.finish();
    if let Some(compiled) = compiled
        && !diagnostics.iter().any(Diagnostic::is_error)
    {
        // Twice, because the first run may change the environment.
        compare(&program, &[start.code, compiled.code, compiled.code], prelude.assigns.len());
    }
}

/// The result of running some codes in sequence.
#[derive(Debug, PartialEq)]
struct Outcome {
    returned: Vec<Result<String, (FaultKind, String)>>,
    env: Vec<String>,
}

impl Outcome {
    /// Whether no run exceeded its budget. The work that counts against it depends on the host.
    fn within_limits(&self) -> bool {
        !self.returned.iter().any(|result| matches!(result, Err((FaultKind::Limit, _))))
    }
}

fn compare(program: &Program, codes: &[CodeId], env: usize) {
    let observed = execute(program, codes, env, &mut OutputHost);
    let unobserved = execute(program, codes, env, &mut NoopHost);
    if observed.within_limits() && unobserved.within_limits() {
        assert_eq!(observed, unobserved, "observing the output changes the result");
    }
}

fn execute<H: Host>(program: &Program, codes: &[CodeId], env: usize, host: &mut H) -> Outcome {
    let mut env = vec![Value::UNSET; env];
    let mut heap = Heap::with_limit(HEAP_LIMIT);
    let mut machine = Machine::with_budget(BUDGET);
    let params = [Value::int(7), Value::text(0, EVENT_TEXT.len() as u32), Value::NONE];
    let mut returned = Vec::new();
    for code in codes {
        let frame = Frame { env: &mut env, params: &params, text: EVENT_TEXT, heap: &mut heap };
        let result = machine.run(program, *code, frame, host);
        returned.push(match result {
            Ok(value) => {
                let texts = TextArenas { event: EVENT_TEXT, pool: &program.pool };
                Ok(show(ValueReader { heap: &heap, texts }, value))
            }
            Err(fault) => {
                assert!(fault.span.is_some(), "a fault without a span: {fault:?}");
                Err((fault.kind, fault.message))
            }
        });
        heap.sweep();
    }
    let shown =
        env.iter().map(|value| show(ValueReader { heap: &heap, texts: TextArenas::NONE }, *value)).collect();
    env.into_iter().for_each(|value| heap.release(value));
    heap.sweep();
    assert_eq!(heap.live_objects(), 0, "unreachable objects remain");
    Outcome { returned, env: shown }
}

fn show(view: ValueReader<'_>, value: Value) -> String {
    let mut out = String::new();
    match view.write_repr(&mut out, value) {
        Ok(()) => out,
        Err(fault) => fault.message,
    }
}

/// Host that observes all output.
struct OutputHost;

impl Host for OutputHost {
    fn wants_output(&self) -> bool {
        true
    }

    fn print(&mut self, _: &str) {}

    fn call(&mut self, _: usize, args: &[Value], view: ValueReader<'_>) -> EvalResult<Value> {
        args.iter().for_each(|arg| drop(show(view, *arg)));
        Ok(Value::NONE)
    }
}
