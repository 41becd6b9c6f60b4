//! Compiler from source text to a [`Program`].
//!
//! [`Block::parse`] parses all blocks of a property, so that the variables that they share are known. A
//! [`Compiler`] for these variables then compiles the blocks one by one.

mod call;
mod control;
mod emit;
mod expression;
mod finish;
mod name_analysis;
mod statement;
mod template;

use crate::diag::{Diagnostic, SourceId, Span};
use crate::program::{CodeId, Operand, Program, Space};
use crate::show::FormatSpec;
use crate::value::Value;
use emit::Emitter;
use ruff_python_ast::PySourceType;
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::{ParseErrorType, parse_unchecked_source};
use ruff_text_size::{Ranged, TextRange};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum size of a block or file of functions in bytes.
const MAX_SOURCE: usize = 256 << 10;

/// Source text of a block and its position in the file.
#[derive(Clone, Copy)]
pub struct Snippet<'a> {
    /// The file.
    pub source_id: SourceId,
    /// The text without its indentation in the file.
    pub text: &'a str,
    /// Maps a byte offset in `text` to one in the file.
    pub locate: &'a dyn Fn(u32) -> u32,
}

impl<'a> Snippet<'a> {
    /// A whole file.
    pub fn file(source: SourceId, text: &'a str) -> Snippet<'a> {
        Snippet { source_id: source, text, locate: &|at| at }
    }

    fn span(&self, range: TextRange) -> Span {
        let start = (self.locate)(range.start().to_u32());
        // The end may be at the start of a line whose indentation was removed: map the last byte instead.
        let end = match range.is_empty() {
            true => start,
            false => (self.locate)(range.end().to_u32() - 1) + 1,
        };
        Span::new(self.source_id, start, end.max(start))
    }
}

/// A parsed block or file of functions, with its use of names.
pub struct Block {
    module: ModModule,
    source: SourceId,
    map: Vec<u32>,
    /// The names that it assigns, in order of the first assignment.
    pub assigns: Vec<String>,
    /// The names that it may read before it assigns them, each with its first position.
    pub reads: BTreeMap<String, Span>,
    /// The names that its functions declare `global`.
    pub globals: Vec<String>,
    /// Whether it has a `return`.
    pub has_return: bool,
}

impl Block {
    /// Parses a block. Errors are added to `diagnostics`; `None` if the block is unusable.
    pub fn parse(snippet: Snippet<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<Block> {
        let whole = TextRange::up_to((snippet.text.len().min(u32::MAX as usize) as u32).into());
        if snippet.text.len() > MAX_SOURCE {
            let span = snippet.span(TextRange::up_to(1.into()));
            diagnostics.push(
                Diagnostic::error(span, "this block is too long")
                    .label(format!("{} bytes, {MAX_SOURCE} at most", snippet.text.len())),
            );
            return None;
        }
        let parsed = parse_unchecked_source(snippet.text, PySourceType::Python);
        let mut usable = true;
        for error in parsed.errors() {
            let span = snippet.span(error.location.intersect(whole).unwrap_or_default());
            match &error.error {
                // The published Raft property has such a `try`.
                ParseErrorType::OtherError(message) if message.starts_with("Expected `except`") => {
                    diagnostics.push(
                        Diagnostic::warning(span, "`try` without `except`: all errors in it are ignored")
                            .help("write `except: pass` to make this explicit"),
                    )
                }
                error => {
                    usable = false;
                    diagnostics.push(Diagnostic::error(span, lower_first(&error.to_string())));
                }
            }
        }
        if !usable {
            return None;
        }
        let mut block = Block {
            module: parsed.into_syntax(),
            source: snippet.source_id,
            map: (0..=snippet.text.len() as u32).map(|at| (snippet.locate)(at)).collect(),
            assigns: Vec::new(),
            reads: BTreeMap::new(),
            globals: Vec::new(),
            has_return: false,
        };
        name_analysis::analyse(&mut block, diagnostics);
        Some(block)
    }

    pub(crate) fn span(&self, node: impl Ranged) -> Span {
        let range = node.range();
        let at = |byte: u32| self.map.get(byte as usize).copied().unwrap_or(0);
        let start = at(range.start().to_u32());
        let end = if range.is_empty() { start } else { at(range.end().to_u32() - 1) + 1 };
        Span::new(self.source, start, end.max(start))
    }

    /// The functions that the block defines, with their positions.
    pub fn functions(&self) -> impl Iterator<Item = (&str, Span)> {
        self.module.body.iter().filter_map(|stmt| match stmt {
            Stmt::FunctionDef(def) => Some((def.name.as_str(), self.span(&def.name))),
            _ => None,
        })
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// Role of a block, which determines what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRole<'a> {
    /// Initializes the environment; may define functions.
    Initialization,
    /// Condition of a transition. With a `return` it must not change the environment.
    Guard,
    /// Changes the environment; may `return "state"` to select the target state.
    Update {
        /// The names of the states.
        states: &'a [String],
    },
    /// Contains only functions.
    Functions,
    /// A reaction: changes the environment, may define functions, returns no value.
    Reaction,
}

/// A function of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// Its name in blocks.
    pub name: &'static str,
    /// Minimum number of arguments.
    pub min_args: usize,
    /// Maximum number of arguments.
    pub max_args: usize,
    /// The argument that is a callback, if there is one.
    pub callback: Option<Callback>,
}

impl HostFunction {
    /// A function with a fixed number of arguments and no callback.
    pub const fn new(name: &'static str, arguments: usize) -> HostFunction {
        HostFunction::ranging(name, arguments, arguments)
    }

    /// A function that takes from `min_args` to `max_args` arguments.
    pub const fn ranging(name: &'static str, min_args: usize, max_args: usize) -> HostFunction {
        HostFunction { name, min_args, max_args, callback: None }
    }

    /// Makes the argument at `position` a callback of at most `arguments` arguments.
    pub const fn calling(self, position: usize, arguments: usize) -> HostFunction {
        HostFunction { callback: Some(Callback { position, arguments }), ..self }
    }
}

/// An argument that is a function. Blocks pass its bare name; the host receives the name.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    /// Index of the argument.
    pub position: usize,
    /// Maximum number of parameters of the function.
    pub arguments: usize,
}

/// A compiled block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledBlock {
    /// The code.
    pub code: CodeId,
    /// The event parameters that it reads.
    pub params: BTreeSet<usize>,
    /// The states that it may return.
    pub states: BTreeSet<usize>,
}

/// Compiles the blocks of one property into one [`Program`].
///
/// ```
/// use invigil_expr::compile::{Block, Compiler, BlockRole, Snippet};
/// use invigil_expr::diag::Sources;
/// use invigil_expr::heap::Heap;
/// use invigil_expr::machine::{Frame, Machine, NoopHost};
/// use invigil_expr::value::Value;
///
/// let mut sources = Sources::default();
/// let text = "return N < maxSize";
/// let source = sources.add("guard", text);
/// let mut diagnostics = Vec::new();
/// let block = Block::parse(Snippet::file(source, text), &mut diagnostics).unwrap();
///
/// let mut compiler = Compiler::new(vec!["N".into(), "maxSize".into()], &[]);
/// let guard = compiler.block(&block, &[], BlockRole::Guard).unwrap();
/// let (program, diagnostics) = compiler.finish();
/// assert!(diagnostics.is_empty());
///
/// let (mut heap, mut env) = (Heap::default(), [Value::int(3), Value::int(16)]);
/// let frame = Frame { env: &mut env, params: &[], text: "", heap: &mut heap };
/// let holds = Machine::default().run(&program, guard.code, frame, &mut NoopHost).unwrap();
/// assert_eq!(holds.as_bool(), Some(true));
/// ```
pub struct Compiler {
    pub(crate) program: Program,
    pub(crate) env: Vec<String>,
    /// The number of variables at the start of `env` that always have a value.
    pub(crate) initialized: usize,
    pub(crate) host_functions: &'static [HostFunction],
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) arities: Vec<(u16, Span)>,
    /// The event parameters of the shared scope of functions, if there is one.
    pub(crate) shared: Option<Vec<(String, usize)>>,
}

impl Compiler {
    /// A compiler for blocks that share the variables `env` and may call `host_functions`.
    pub fn new(env: Vec<String>, host_functions: &'static [HostFunction]) -> Compiler {
        let initialized = env.len();
        Compiler {
            program: Program::default(),
            env,
            initialized,
            host_functions,
            diagnostics: Vec::new(),
            arities: Vec::new(),
            shared: None,
        }
    }

    /// Lets functions use the environment, which they change with `global`, and these parameters.
    pub fn sharing(mut self, params: &[(String, usize)]) -> Compiler {
        self.shared = Some(params.to_vec());
        self
    }

    /// Declares that only the first `count` variables always have a value when a block starts.
    pub fn initialized(mut self, count: usize) -> Compiler {
        self.initialized = count;
        self
    }

    /// Declares the functions of a block, so that all blocks and functions can call them.
    ///
    /// [`Compiler::functions`] compiles their bodies.
    pub fn declare(&mut self, block: &Block) {
        for stmt in &block.module.body {
            let Stmt::FunctionDef(def) = stmt else { continue };
            let name = def.name.as_str();
            let span = block.span(&def.name);
            let earlier = self.program.functions.iter().position(|(function, _)| function == name);
            if let Some(earlier) = earlier {
                self.diagnostics.push(
                    Diagnostic::error(span, format!("function `{name}` is defined twice"))
                        .related(self.arities[earlier].1, "first here"),
                );
                continue;
            }
            // The code follows later; calls need only the number.
            let code = CodeId(self.program.codes.len() as u32);
            self.program.codes.push(Default::default());
            self.program.functions.push((name.into(), code));
            self.arities.push((def.parameters.len() as u16, span));
        }
    }

    /// Compiles the functions of a block that was [declared](Compiler::declare).
    pub fn functions(&mut self, block: &Block) {
        for stmt in &block.module.body {
            if let Stmt::FunctionDef(def) = stmt {
                let compiled = self
                    .program
                    .functions
                    .iter()
                    .zip(&self.arities)
                    .find(|((name, _), (_, span))| {
                        name == def.name.as_str() && *span == block.span(&def.name)
                    })
                    .map(|((_, code), _)| *code);
                if let Some(code) = compiled {
                    let compiled = Emitter::function(self, block, def);
                    self.program.codes[code.0 as usize] = compiled;
                }
            }
        }
    }

    /// Compiles a block. `params` are the event parameters that it may read, with their positions.
    pub fn block(
        &mut self,
        block: &Block,
        params: &[(String, usize)],
        role: BlockRole<'_>,
    ) -> Option<CompiledBlock> {
        let errors = self.errors();
        let (code, params, states) = Emitter::block(self, block, params, role);
        let id = CodeId(self.program.codes.len() as u32);
        self.program.codes.push(code);
        (self.errors() == errors).then_some(CompiledBlock { code: id, params, states })
    }

    /// The number of errors so far.
    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    /// Returns the program and all diagnostics.
    pub fn finish(self) -> (Program, Vec<Diagnostic>) {
        (self.program, self.diagnostics)
    }

    /// Adds a constant; equal constants are shared.
    pub(crate) fn constant(&mut self, value: Value) -> Option<Operand> {
        let consts = &mut self.program.consts;
        let at = consts.iter().position(|constant| constant.bits() == value.bits()).unwrap_or_else(|| {
            consts.push(value);
            consts.len() - 1
        });
        Operand::new(Space::Const, at)
    }

    /// Adds a constant string.
    pub(crate) fn text(&mut self, text: &str) -> Value {
        Value::short(text).unwrap_or_else(|| {
            let pool = &mut self.program.pool;
            let start = pool.find(text).unwrap_or_else(|| {
                pool.push_str(text);
                pool.len() - text.len()
            });
            Value::pool(start as u32, text.len() as u32)
        })
    }

    pub(crate) fn name(&mut self, name: &str) -> u16 {
        let names = &mut self.program.names;
        let at = names.iter().position(|other| other == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        at as u16
    }

    /// Adds a format; equal formats are shared.
    pub(crate) fn format(&mut self, format: FormatSpec) -> u16 {
        let formats = &mut self.program.formats;
        let at = formats.iter().position(|other| *other == format).unwrap_or_else(|| {
            formats.push(format);
            formats.len() - 1
        });
        at as u16
    }
}
