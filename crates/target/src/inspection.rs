//! Threads, frames, variables and sources.

use crate::error::TargetResult;
use std::path::PathBuf;

/// A thread of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id in the operating system or virtual machine.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its current location as text.
    pub location: String,
    /// Whether commands apply to it.
    pub selected: bool,
}

/// A position in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as a path that can be opened here.
    pub file: PathBuf,
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one; zero if unknown.
    pub column: u32,
}

/// A name with its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value, or the reason why it is not available, as in `<optimized out>`.
    pub value: String,
}

/// A frame of the selected thread's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address of its current instruction.
    pub address: u64,
    /// The function, as the user would write it.
    pub function: String,
    /// Whether the function is inlined into its caller.
    pub inlined: bool,
    /// The arguments.
    pub arguments: Vec<Variable>,
    /// Its position in the sources, if known.
    pub line: Option<SourceLine>,
    /// The file that contains the code, if there is no source position.
    pub object: Option<PathBuf>,
}

/// Inspection of a stopped target: threads, frames, variables, sources.
pub trait Inspection {
    /// The threads.
    fn threads(&mut self) -> Vec<Thread>;

    /// Selects the thread that commands apply to.
    fn select_thread(&mut self, id: u32) -> TargetResult;

    /// The frames of the selected thread, innermost first, at most `limit`.
    fn frames(&mut self, limit: usize) -> TargetResult<Vec<Frame>>;

    /// The location of the selected thread as text: `queue_push (faulty.c:29)`. A target may override this to avoid
    /// reading argument values.
    fn current_location(&mut self) -> String {
        let Some(frame) = self.frames(1).ok().and_then(|frames| frames.into_iter().next()) else {
            return String::new();
        };
        match frame.line {
            Some(line) => {
                let file = line.file.file_name().unwrap_or_default().to_string_lossy();
                format!("{} ({file}:{})", frame.function, line.line)
            }
            None => frame.function,
        }
    }

    /// Selects a frame for expressions, counted from the innermost, which is zero.
    fn select_frame(&mut self, depth: usize) -> TargetResult;

    /// The selected frame.
    fn selected_frame(&self) -> usize;

    /// The local variables of the selected frame.
    fn locals(&mut self) -> TargetResult<Vec<Variable>>;

    /// The value of an expression of the target's language, as text.
    fn evaluate(&mut self, expression: &str) -> TargetResult<String>;

    /// The type of an expression, as text.
    fn type_of(&mut self, expression: &str) -> TargetResult<String>;

    /// Assigns a value: `set("N", "3")`.
    fn assign(&mut self, lvalue: &str, value: &str) -> TargetResult;

    /// The source position of a location, or of the selected frame.
    fn source_line(&mut self, location: Option<&str>) -> TargetResult<Option<SourceLine>>;

    /// The functions whose names start with a prefix, for completion.
    fn complete_function(&mut self, prefix: &str) -> Vec<String>;

    /// Facts about the target for the command `info`: its path, process, images, signals.
    fn info(&mut self) -> Vec<(String, String)>;
}

/// Inspection of a program that runs on the processor itself.
pub trait NativeInspection {
    /// Memory from the address that an expression denotes, formatted as by the command `x/FMT`.
    fn examine_memory(
        &mut self,
        expression: &str,
        count: usize,
        format: char,
        size: usize,
    ) -> TargetResult<Vec<String>>;

    /// The registers of the selected frame.
    fn registers(&mut self) -> TargetResult<Vec<Variable>>;
}
