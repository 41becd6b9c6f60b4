//! Variables, constants and channels.

use super::ast::{Initial, Type, Variable};
use super::lower::{Lowering, Names};
use invigil_expr::diag::Diagnostic;
use invigil_model::layout::MAX_WORDS;
use invigil_model::{Domain, VariableId};

/// The maximum number of elements of an array, and of messages in a channel.
const MAX_ELEMENTS: i64 = MAX_WORDS as i64 * 8;
const MAX_MESSAGES: i64 = 255;

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    Constant(i64),
    Variable {
        id: VariableId,
        is_array: bool,
        is_constant: bool,
    },
    /// By its index in the file.
    Channel(usize),
    /// By its index in the file.
    Process(usize),
}

/// The variables of a buffered channel.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// The maximum number of messages.
    pub(super) capacity: u32,
    /// The number of messages.
    pub(super) length: VariableId,
    /// For each value of a message, an array over all messages.
    pub(super) cells: Vec<VariableId>,
}

impl Type {
    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Type::Byte => (0, 255),
            Type::Int => (-32768, 32767),
        }
    }

    fn kind(self) -> Domain {
        let (low, high) = self.range();
        Domain::Integer { low, high }
    }
}

impl<'a> Lowering<'a> {
    /// Declares the top-level symbols, and the names of processes.
    pub(super) fn globals(&mut self) {
        let file = self.file;
        for variable in &file.variables {
            self.variable(variable, None);
        }
        for at in 0..file.channels.len() {
            let buffer = self.channel(at);
            self.buffers.push(buffer);
        }
        for (at, process) in file.processes.iter().enumerate() {
            let Some(name) = &process.name else { continue };
            if let Some((earlier, _)) = self.globals.insert(&name.text, (name.span, Symbol::Process(at))) {
                self.report_duplicate(name, earlier);
            }
        }
        self.shared = self.parts.variables.len();
    }

    /// Declares the variables of a process.
    pub(super) fn locals(&mut self, process: usize) {
        let file = self.file;
        for variable in &file.processes[process].variables {
            self.variable(variable, Some(process));
        }
    }

    pub(super) fn add_location(&mut self, name: &str, states: Vec<String>, initial: i64) -> VariableId {
        let kind = Domain::Names(states);
        self.add_variable(invigil_model::Variable::scalar(name, kind, initial))
    }

    fn add_variable(&mut self, variable: invigil_model::Variable) -> VariableId {
        self.parts.variables.push(variable);
        self.parts.variables.len() as VariableId - 1
    }

    fn variable(&mut self, written: &'a Variable, process: Option<usize>) {
        let length = match &written.length {
            Some(length) => match self.size(length, process, MAX_ELEMENTS) {
                Some(0) | None => {
                    let problem = Diagnostic::error(length.span, "an array needs at least one element");
                    // Other errors have been reported already.
                    if !self.problems.iter().any(|reported| reported.span == length.span) {
                        self.report(problem.label("no elements"));
                    }
                    return;
                }
                Some(length) => Some(length),
            },
            None => None,
        };
        let Some(initial) = self.initial(written, length, process) else { return };
        let name = &written.name;
        let symbol = match (written.is_constant, length) {
            (true, None) => Symbol::Constant(initial[0]),
            _ => {
                let full = match process {
                    Some(process) => format!("{}.{}", self.name_of(process), name.text),
                    None => name.text.clone(),
                };
                // Constants need only the bits of their values.
                let kind = match (written.is_constant, initial.iter().min(), initial.iter().max()) {
                    (true, Some(&low), Some(&high)) => Domain::Integer { low, high },
                    _ => written.of.kind(),
                };
                self.bits += initial.len() as u64 * if written.of == Type::Byte { 8 } else { 16 };
                if self.bits > MAX_WORDS as u64 * 64 {
                    let problem =
                        Diagnostic::error(name.span, "the variables of the model need too much space")
                            .label("limit reached here")
                            .help(format!("the limit is {} bytes in total", MAX_WORDS * 8));
                    if !self.problems.iter().any(|reported| reported.message == problem.message) {
                        self.report(problem);
                    }
                    return;
                }
                let id = self.add_variable(match length {
                    Some(_) => invigil_model::Variable::array(full, kind, initial),
                    None => invigil_model::Variable::scalar(full, kind, initial[0]),
                });
                Symbol::Variable { id, is_array: length.is_some(), is_constant: written.is_constant }
            }
        };
        let names: &mut Names<'a> = match process {
            Some(process) => &mut self.processes[process].names,
            None => &mut self.globals,
        };
        if let Some((earlier, _)) = names.insert(&name.text, (name.span, symbol)) {
            self.report_duplicate(name, earlier);
        }
    }

    /// Evaluates a size, a constant up to `most`.
    fn size(&mut self, written: &super::ast::Expr, process: Option<usize>, most: i64) -> Option<u32> {
        let size = self.constant(written, process)?;
        if (0..=most).contains(&size) {
            return u32::try_from(size).ok();
        }
        let problem = Diagnostic::error(written.span, format!("{size} is not a valid size"))
            .label(format!("valid sizes: 0 to {most}"));
        self.report(problem);
        None
    }

    /// Returns the initial values of a variable.
    fn initial(
        &mut self,
        written: &Variable,
        length: Option<u32>,
        process: Option<usize>,
    ) -> Option<Vec<i64>> {
        let (low, high) = written.of.range();
        let mut values = Vec::new();
        match (&written.initial, length) {
            (None, _) if written.is_constant => {
                let problem = Diagnostic::error(written.name.span, "a constant needs a value");
                self.report(problem.label("no value").help(format!("write `{} = 0`", written.name.text)));
                return None;
            }
            (None, _) => {}
            (Some(Initial::One(value)), None) => values.push((value, self.constant(value, process)?)),
            (Some(Initial::Many(many, _)), Some(_)) => {
                for value in many {
                    values.push((value, self.constant(value, process)?));
                }
            }
            (Some(Initial::One(value)), Some(_)) => {
                let problem = Diagnostic::error(value.span, "an array needs a list of values");
                self.report(problem.label("single value").help("write `= { 1, 2, 3 }`"));
                return None;
            }
            (Some(Initial::Many(_, span)), None) => {
                let problem = Diagnostic::error(*span, "only arrays have lists of values");
                let help = format!("write `{}[3] = {{ 1, 2, 3 }}`, or one value", written.name.text);
                self.report(problem.label("list").help(help));
                return None;
            }
        }
        for (at, (expr, value)) in values.iter().enumerate() {
            if !(low..=high).contains(value) {
                let problem =
                    Diagnostic::error(expr.span, format!("`{}` cannot hold {value}", written.name.text));
                self.report(problem.label(format!("valid values: {low} to {high}")));
                return None;
            }
            // Published models have excess zeros at the end of arrays.
            if at >= length.unwrap_or(1) as usize && *value != 0 {
                let problem = Diagnostic::error(expr.span, "more values than elements");
                let length = length.unwrap_or(1);
                self.report(problem.label(format!("`{}` has {length} elements", written.name.text)));
                return None;
            }
        }
        let mut values: Vec<i64> = values.into_iter().map(|(_, value)| value).collect();
        values.resize(length.unwrap_or(1) as usize, 0);
        Some(values)
    }

    /// Declares a channel, and the variables of its buffer if it has one.
    fn channel(&mut self, at: usize) -> Option<Buffer> {
        let channel = &self.file.channels[at];
        let name = &channel.name;
        if let Some((earlier, _)) = self.globals.insert(&name.text, (name.span, Symbol::Channel(at))) {
            self.report_duplicate(name, earlier);
        }
        let capacity = channel.capacity.as_ref()?;
        let size = self.size(capacity, None, MAX_MESSAGES)?;
        let Some(carries) = &channel.carries else {
            let problem = Diagnostic::error(capacity.span, "a buffered channel needs a type");
            let help = format!("write `channel {{byte}} {}[{size}];`", name.text);
            self.report(problem.label("missing type").help(help));
            return None;
        };
        if size == 0 {
            return None;
        }
        self.bits += carries.len() as u64 * u64::from(size) * 16;
        let mut cells = Vec::new();
        for (number, of) in (1..).zip(carries) {
            let full = match carries.len() {
                1 => name.text.clone(),
                _ => format!("{}.{number}", name.text),
            };
            let empty = vec![0; size as usize];
            cells.push(self.add_variable(invigil_model::Variable::array(full, of.kind(), empty)));
        }
        let length = Domain::Integer { low: 0, high: i64::from(size) };
        let length = invigil_model::Variable::scalar(format!("{}.length", name.text), length, 0);
        Some(Buffer { capacity: size, length: self.add_variable(length), cells })
    }
}
