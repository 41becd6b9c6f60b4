//! What expressions mean: names are looked up, constants computed.

use super::ast::{Expr, ExprKind, Name, Sync};
use super::lower::{Lowering, Synced, is_at};
use super::variables::Symbol;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Expression, Place, Step, Unary};

impl<'a> Lowering<'a> {
    /// An expression as it is seen in a process, by its number in the file.
    pub(super) fn expression(&mut self, written: &Expr, process: usize) -> Option<Expression> {
        self.within(written, Some(process))
    }

    /// The value of an expression that may read no variable.
    pub(super) fn constant(&mut self, written: &Expr, process: Option<usize>) -> Option<i64> {
        let expression = self.within(written, process)?;
        if let Expression::Constant(value) = expression {
            return Some(value);
        }
        let problem = match self.nothing_reads(&expression) {
            true => match self.nothing.value(&expression, Step::at(&[])) {
                Ok(value) => return Some(value),
                Err(reason) => Diagnostic::error(written.span, reason.to_string()).label("has no value"),
            },
            false => Diagnostic::error(written.span, "this is not known before the model runs")
                .label("expected a constant")
                .help("numbers and constants (`const byte N = 3;`) are known"),
        };
        self.report(problem);
        None
    }

    fn nothing_reads(&self, expression: &Expression) -> bool {
        let mut reads = false;
        expression.visit(&mut |inside| reads |= matches!(inside, Expression::Read(_)));
        !reads
    }

    fn within(&mut self, written: &Expr, process: Option<usize>) -> Option<Expression> {
        Some(match &written.kind {
            ExprKind::Number(value) => Expression::Constant(*value),
            ExprKind::At(of, state) => {
                let at = self.process_called(of)?;
                // Whoever asks for a state outside of processes asks before there are any.
                let state = self.state_called(at, state)?;
                match self.processes.get(at).and_then(|scope| scope.location) {
                    Some(location) => is_at(location, state),
                    None => {
                        let problem = Diagnostic::error(of.span, "the model cannot look at its property")
                            .label("this process is the property")
                            .help("properties watch; they are not part of the model");
                        self.report(problem);
                        return None;
                    }
                }
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.within(operand, process)?;
                self.folded(Expression::unary(*operator, operand))
            }
            ExprKind::Binary(operator, both) => {
                let left = self.within(&both.0, process);
                let right = self.within(&both.1, process);
                self.folded(Expression::binary(*operator, left?, right?))
            }
            ExprKind::Run(operator, operands, _) => {
                let operands: Vec<Option<Expression>> =
                    operands.iter().map(|operand| self.within(operand, process)).collect();
                let operands: Vec<Expression> = operands.into_iter().collect::<Option<_>>()?;
                self.balanced(*operator, operands)
            }
            ExprKind::Name(_) | ExprKind::Element(..) | ExprKind::Of(..) => {
                match self.resolved(written, process)? {
                    Resolved::Constant(value) => Expression::Constant(value),
                    Resolved::Place(place, _) => Expression::Read(place),
                }
            }
        })
    }

    /// Operands with one operator between them as a tree that is shallow.
    fn balanced(&self, operator: Binary, mut parts: Vec<Expression>) -> Expression {
        while parts.len() > 1 {
            let mut pairs = parts.into_iter();
            let mut joined = Vec::new();
            while let Some(left) = pairs.next() {
                joined.push(match pairs.next() {
                    Some(right) => self.folded(Expression::binary(operator, left, right)),
                    None => left,
                });
            }
            parts = joined;
        }
        parts.pop().unwrap_or(Expression::Constant(1))
    }

    /// The value of an operator whose operands are constants, if it has one.
    fn folded(&self, expression: Expression) -> Expression {
        let is_constant = |operand: &Expression| matches!(operand, Expression::Constant(_));
        let is_known = match &expression {
            Expression::Unary(Unary::Not | Unary::Negate | Unary::Complement, operand) => {
                is_constant(operand)
            }
            Expression::Binary(_, both) => is_constant(&both.0) && is_constant(&both.1),
            _ => false,
        };
        match is_known.then(|| self.nothing.value(&expression, Step::at(&[]))) {
            Some(Ok(value)) => Expression::Constant(value),
            // Division by zero stays what it is: a fault, where it happens.
            _ => expression,
        }
    }

    /// What may be assigned to.
    pub(super) fn place(&mut self, written: &Expr, process: usize) -> Option<Place> {
        match self.resolved(written, Some(process))? {
            Resolved::Place(place, false) => Some(place),
            _ => {
                let problem = Diagnostic::error(written.span, "a constant cannot be changed");
                self.report(problem.label("declared with `const`").help("declare it without `const`"));
                None
            }
        }
    }

    /// Finds the variable or constant that an expression names.
    fn resolved(&mut self, written: &Expr, process: Option<usize>) -> Option<Resolved> {
        let (name, span, index, scope, from) = match &written.kind {
            ExprKind::Name(name) => (name, written.span, None, process, None),
            ExprKind::Element(name, index) => (&name.text, name.span, Some(index), process, None),
            ExprKind::Of(of, name, index) => {
                let at = self.process_called(of)?;
                (&name.text, name.span, index.as_ref(), Some(at), Some(of))
            }
            // The parser lets nothing else through.
            _ => return None,
        };
        let symbol = self.symbol(name, span, scope, from)?;
        // An index belongs to the process in which it is written.
        let index = match index {
            Some(index) => Some(Box::new(self.within(index, process)?)),
            None => None,
        };
        match symbol {
            Symbol::Constant(value) if index.is_none() => Some(Resolved::Constant(value)),
            Symbol::Variable { id, is_array, is_constant } if is_array == index.is_some() => {
                Some(Resolved::Place(Place { variable: id, index }, is_constant))
            }
            Symbol::Constant(_) | Symbol::Variable { .. } => {
                let problem = match index {
                    Some(_) => Diagnostic::error(written.span, format!("`{name}` is no array"))
                        .label("one value, without an index"),
                    None => Diagnostic::error(written.span, format!("`{name}` is an array"))
                        .label("which element?")
                        .help(format!("write `{name}[0]`")),
                };
                self.report(problem);
                None
            }
            Symbol::Channel(_) => {
                let problem = Diagnostic::error(span, format!("`{name}` is a channel"))
                    .label("expected a variable")
                    .help(format!("channels are used in `sync {name}!x;` and `sync {name}?x;`"));
                self.report(problem);
                None
            }
            Symbol::Process(_) => {
                let problem = Diagnostic::error(span, format!("`{name}` is a process"))
                    .label("expected a variable")
                    .help(format!("write `{name}.STATE` for where it is, `{name}->x` for what it knows"));
                self.report(problem);
                None
            }
        }
    }

    /// What a name stands for: in a process, in the process only (`from->name`), or outside.
    fn symbol(
        &mut self,
        name: &str,
        span: Span,
        process: Option<usize>,
        from: Option<&Name>,
    ) -> Option<Symbol> {
        let local = process.and_then(|at| self.processes.get(at)).and_then(|scope| scope.names.get(name));
        let found = match from {
            Some(_) => local,
            None => local.or_else(|| self.globals.get(name)),
        };
        if let Some((_, symbol)) = found {
            return Some(*symbol);
        }
        let file = self.file;
        let mut others: Vec<&str> = Vec::new();
        if let Some(at) = process {
            others.extend(file.processes[at].variables.iter().map(|variable| variable.name.text.as_str()));
        }
        if from.is_none() {
            others.extend(file.variables.iter().map(|variable| variable.name.text.as_str()));
        }
        self.unknown("variable", name, span, others);
        None
    }

    /// One side of a synchronisation.
    pub(super) fn sync(&mut self, sync: &'a Sync, process: usize) -> Option<Synced> {
        let name = &sync.channel;
        if self.property == Some(process) {
            let problem = Diagnostic::error(sync.span, "a property process does not synchronise");
            self.report(problem.label("not supported").help("look at the states of the processes instead"));
            return None;
        }
        let Some((_, Symbol::Channel(channel))) = self.globals.get(name.text.as_str()).copied() else {
            let file = self.file;
            let others = file.channels.iter().map(|channel| channel.name.text.as_str());
            self.unknown("channel", &name.text, name.span, others);
            return None;
        };
        let declared = &self.file.channels[channel];
        if let Some(carries) = &declared.carries
            && carries.len() != sync.values.len()
        {
            let message = format!("`{}` carries {} here", name.text, values(sync.values.len()));
            let problem = Diagnostic::error(sync.span, message)
                .label(format!("expected {}", values(carries.len())))
                .related(declared.name.span, "declared here");
            self.report(problem);
            return None;
        }
        let mut synced = Synced { channel, is_send: sync.is_send, values: Vec::new(), places: Vec::new() };
        for value in &sync.values {
            if sync.is_send {
                synced.values.push(self.expression(value, process)?);
            } else if matches!(value.kind, ExprKind::Name(_) | ExprKind::Element(..) | ExprKind::Of(..)) {
                synced.places.push(self.place(value, process)?);
            } else {
                let problem = Diagnostic::error(value.span, "what is received needs a variable");
                self.report(problem.label("expected a variable or an element of an array"));
                return None;
            }
        }
        Some(synced)
    }
}

enum Resolved {
    Constant(i64),
    /// A place, and whether it never changes.
    Place(Place, bool),
}

pub(super) fn values(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "1 value".to_owned(),
        _ => format!("{count} values"),
    }
}
