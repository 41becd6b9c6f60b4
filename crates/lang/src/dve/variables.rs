//! Variables, constants and channels.

use super::ast::{Initial, Type, Variable};
use super::lower::{Lowering, Names};
use invigil_expr::diag::Diagnostic;
use invigil_model::layout::MAX_WORDS;
use invigil_model::{Domain, VariableId};

/// The maximum number of elements of an array.
const MAX_ELEMENTS: i64 = MAX_WORDS as i64 * 8;
/// The maximum number of messages in the buffer of a channel.
const MAX_MESSAGES: i64 = 255;

/// What a declared name refers to.
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
    pub(super) arrays: Vec<VariableId>,
}

impl Type {
    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Type::Byte => (0, 255),
            Type::Int => (-32768, 32767),
        }
    }

    fn domain(self) -> Domain {
        let (low, high) = self.range();
        Domain::Integer { low, high }
    }
}

impl<'a> Lowering<'a> {
    /// Declares the top-level symbols, and the names of processes.
    pub(super) fn declare_globals(&mut self) {
        let file = self.file;
        for variable in &file.variables {
            self.declare_variable(variable, None);
        }
        for at in 0..file.channels.len() {
            let buffer = self.declare_channel(at);
            self.buffers.push(buffer);
        }
        for (at, process) in file.processes.iter().enumerate() {
            let Some(name) = &process.name else { continue };
            if let Some((earlier, _)) = self.globals.insert(&name.text, (name.span, Symbol::Process(at))) {
                self.report_duplicate(name, earlier);
            }
        }
        self.shared_count = self.parts.variables.len();
    }

    /// Declares the variables of a process.
    pub(super) fn declare_locals(&mut self, process: usize) {
        let file = self.file;
        for variable in &file.processes[process].variables {
            self.declare_variable(variable, Some(process));
        }
    }

    pub(super) fn add_location(&mut self, name: &str, states: Vec<String>, initial: i64) -> VariableId {
        let domain = Domain::Names(states);
        self.add_variable(invigil_model::Variable::scalar(name, domain, initial))
    }

    fn add_variable(&mut self, variable: invigil_model::Variable) -> VariableId {
        self.parts.variables.push(variable);
        self.parts.variables.len() as VariableId - 1
    }

    fn declare_variable(&mut self, syntax: &'a Variable, process: Option<usize>) {
        let length = match &syntax.length {
            Some(length) => match self.constant_size(length, process, MAX_ELEMENTS) {
                Some(0) | None => {
                    let diagnostic = Diagnostic::error(length.span, "an array needs at least one element");
                    // Other errors have been reported already.
                    if !self.diagnostics.iter().any(|reported| reported.span == length.span) {
                        self.report(diagnostic.label("no elements"));
                    }
                    return;
                }
                Some(length) => Some(length),
            },
            None => None,
        };
        let Some(initial) = self.initial_values(syntax, length, process) else { return };
        let name = &syntax.name;
        let symbol = match (syntax.is_constant, length) {
            (true, None) => Symbol::Constant(initial[0]),
            _ => {
                let full = match process {
                    Some(process) => format!("{}.{}", self.name_of(process), name.text),
                    None => name.text.clone(),
                };
                // Constants need only the bits of their values.
                let domain = match (syntax.is_constant, initial.iter().min(), initial.iter().max()) {
                    (true, Some(&low), Some(&high)) => Domain::Integer { low, high },
                    _ => syntax.value_type.domain(),
                };
                self.bits += initial.len() as u64 * if syntax.value_type == Type::Byte { 8 } else { 16 };
                if self.bits > MAX_WORDS as u64 * 64 {
                    let diagnostic =
                        Diagnostic::error(name.span, "the variables of the model need too much space")
                            .label("limit reached here")
                            .help(format!("the limit is {} bytes in total", MAX_WORDS * 8));
                    if !self.diagnostics.iter().any(|reported| reported.message == diagnostic.message) {
                        self.report(diagnostic);
                    }
                    return;
                }
                let id = self.add_variable(match length {
                    Some(_) => invigil_model::Variable::array(full, domain, initial),
                    None => invigil_model::Variable::scalar(full, domain, initial[0]),
                });
                Symbol::Variable { id, is_array: length.is_some(), is_constant: syntax.is_constant }
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

    /// Evaluates a constant that is used as a size; at most `max`.
    fn constant_size(&mut self, syntax: &super::ast::Expr, process: Option<usize>, max: i64) -> Option<u32> {
        let size = self.constant(syntax, process)?;
        if (0..=max).contains(&size) {
            return u32::try_from(size).ok();
        }
        let diagnostic = Diagnostic::error(syntax.span, format!("{size} is not a valid size"))
            .label(format!("valid sizes: 0 to {max}"));
        self.report(diagnostic);
        None
    }

    /// Returns the initial values of a variable.
    fn initial_values(
        &mut self,
        syntax: &Variable,
        length: Option<u32>,
        process: Option<usize>,
    ) -> Option<Vec<i64>> {
        let (low, high) = syntax.value_type.range();
        let mut values = Vec::new();
        match (&syntax.initial, length) {
            (None, _) if syntax.is_constant => {
                let diagnostic = Diagnostic::error(syntax.name.span, "a constant needs a value");
                self.report(diagnostic.label("no value").help(format!("write `{} = 0`", syntax.name.text)));
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
                let diagnostic = Diagnostic::error(value.span, "an array needs a list of values");
                self.report(diagnostic.label("single value").help("write `= { 1, 2, 3 }`"));
                return None;
            }
            (Some(Initial::Many(_, span)), None) => {
                let diagnostic = Diagnostic::error(*span, "only arrays have lists of values");
                let help = format!("write `{}[3] = {{ 1, 2, 3 }}`, or one value", syntax.name.text);
                self.report(diagnostic.label("list").help(help));
                return None;
            }
        }
        for (at, (expr, value)) in values.iter().enumerate() {
            if !(low..=high).contains(value) {
                let diagnostic =
                    Diagnostic::error(expr.span, format!("`{}` cannot hold {value}", syntax.name.text));
                self.report(diagnostic.label(format!("valid values: {low} to {high}")));
                return None;
            }
            // Published models have excess zeros at the end of arrays.
            if at >= length.unwrap_or(1) as usize && *value != 0 {
                let diagnostic = Diagnostic::error(expr.span, "more values than elements");
                let length = length.unwrap_or(1);
                self.report(diagnostic.label(format!("`{}` has {length} elements", syntax.name.text)));
                return None;
            }
        }
        let mut values: Vec<i64> = values.into_iter().map(|(_, value)| value).collect();
        values.resize(length.unwrap_or(1) as usize, 0);
        Some(values)
    }

    /// Declares a channel, and the variables of its buffer if it has one.
    fn declare_channel(&mut self, at: usize) -> Option<Buffer> {
        let channel = &self.file.channels[at];
        let name = &channel.name;
        if let Some((earlier, _)) = self.globals.insert(&name.text, (name.span, Symbol::Channel(at))) {
            self.report_duplicate(name, earlier);
        }
        let capacity = channel.capacity.as_ref()?;
        let size = self.constant_size(capacity, None, MAX_MESSAGES)?;
        let Some(value_types) = &channel.value_types else {
            let diagnostic = Diagnostic::error(capacity.span, "a buffered channel needs a type");
            let help = format!("write `channel {{byte}} {}[{size}];`", name.text);
            self.report(diagnostic.label("missing type").help(help));
            return None;
        };
        if size == 0 {
            return None;
        }
        self.bits += value_types.len() as u64 * u64::from(size) * 16;
        let mut arrays = Vec::new();
        for (number, value_type) in (1..).zip(value_types) {
            let full = match value_types.len() {
                1 => name.text.clone(),
                _ => format!("{}.{number}", name.text),
            };
            let empty = vec![0; size as usize];
            arrays.push(self.add_variable(invigil_model::Variable::array(full, value_type.domain(), empty)));
        }
        let length = Domain::Integer { low: 0, high: i64::from(size) };
        let length = invigil_model::Variable::scalar(format!("{}.length", name.text), length, 0);
        Some(Buffer { capacity: size, length: self.add_variable(length), arrays })
    }
}
