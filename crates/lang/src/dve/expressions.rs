//! Lowers expressions: resolves names, folds constants.

use super::ast::{Expr, ExprKind, Name, Sync};
use super::lower::{LoweredSync, Lowering, is_at};
use super::variables::Symbol;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Expression, LValue, Step, Unary};

impl<'a> Lowering<'a> {
    /// Lowers an expression in a process, given by its index in the file.
    pub(super) fn expression(&mut self, syntax: &Expr, process: usize) -> Option<Expression> {
        self.lower(syntax, Some(process))
    }

    /// Evaluates a constant expression.
    pub(super) fn constant(&mut self, syntax: &Expr, process: Option<usize>) -> Option<i64> {
        let expression = self.lower(syntax, process)?;
        if let Expression::Constant(value) = expression {
            return Some(value);
        }
        let diagnostic = match self.reads_nothing(&expression) {
            true => match self.empty_model.value(&expression, Step::at(&[])) {
                Ok(value) => return Some(value),
                Err(reason) => Diagnostic::error(syntax.span, reason.to_string()).label("has no value"),
            },
            false => Diagnostic::error(syntax.span, "this is not a constant")
                .label("expected a constant")
                .help("use numbers and constants (`const byte N = 3;`)"),
        };
        self.report(diagnostic);
        None
    }

    fn reads_nothing(&self, expression: &Expression) -> bool {
        let mut has_reads = false;
        expression.visit(&mut |inside| has_reads |= matches!(inside, Expression::Read(_)));
        !has_reads
    }

    fn lower(&mut self, syntax: &Expr, process: Option<usize>) -> Option<Expression> {
        Some(match &syntax.kind {
            ExprKind::Number(value) => Expression::Constant(*value),
            ExprKind::InState(owner, state) => {
                let at = self.process_called(owner)?;
                // Processes are declared after the top-level variables, which therefore cannot refer to locations.
                let state = self.state_called(at, state)?;
                match self.processes.get(at).and_then(|scope| scope.location) {
                    Some(location) => is_at(location, state),
                    None => {
                        let diagnostic =
                            Diagnostic::error(owner.span, "the model cannot refer to its property process")
                                .label("property process")
                                .help("a property process only observes the model");
                        self.report(diagnostic);
                        return None;
                    }
                }
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.lower(operand, process)?;
                self.fold(Expression::unary(*operator, operand))
            }
            ExprKind::Binary(operator, operands) => {
                let left = self.lower(&operands.0, process);
                let right = self.lower(&operands.1, process);
                self.fold(Expression::binary(*operator, left?, right?))
            }
            ExprKind::Chain(operator, operands, _) => {
                let operands: Vec<Option<Expression>> =
                    operands.iter().map(|operand| self.lower(operand, process)).collect();
                let operands: Vec<Expression> = operands.into_iter().collect::<Option<_>>()?;
                self.join_balanced(*operator, operands)
            }
            ExprKind::Name(_) | ExprKind::Element(..) | ExprKind::ProcessVariable(..) => {
                match self.resolve(syntax, process)? {
                    Resolved::Constant(value) => Expression::Constant(value),
                    Resolved::Variable(place, _) => Expression::Read(place),
                }
            }
        })
    }

    /// Joins operands of an associative operator as a balanced tree.
    fn join_balanced(&self, operator: Binary, mut parts: Vec<Expression>) -> Expression {
        while parts.len() > 1 {
            let mut pairs = parts.into_iter();
            let mut joined = Vec::new();
            while let Some(left) = pairs.next() {
                joined.push(match pairs.next() {
                    Some(right) => self.fold(Expression::binary(operator, left, right)),
                    None => left,
                });
            }
            parts = joined;
        }
        parts.pop().unwrap_or(Expression::Constant(1))
    }

    /// Folds an operator with constant operands.
    fn fold(&self, expression: Expression) -> Expression {
        let is_constant = |operand: &Expression| matches!(operand, Expression::Constant(_));
        let is_foldable = match &expression {
            Expression::Unary(Unary::Not | Unary::Negate | Unary::Complement, operand) => {
                is_constant(operand)
            }
            Expression::Binary(_, operands) => is_constant(&operands.0) && is_constant(&operands.1),
            _ => false,
        };
        match is_foldable.then(|| self.empty_model.value(&expression, Step::at(&[]))) {
            Some(Ok(value)) => Expression::Constant(value),
            // Division by zero is kept: it is a fault at run time.
            _ => expression,
        }
    }

    /// Resolves the target of an assignment.
    pub(super) fn assignment_target(&mut self, syntax: &Expr, process: usize) -> Option<LValue> {
        match self.resolve(syntax, Some(process))? {
            Resolved::Variable(place, false) => Some(place),
            _ => {
                let diagnostic = Diagnostic::error(syntax.span, "a constant cannot be changed");
                self.report(diagnostic.label("declared with `const`").help("declare it without `const`"));
                None
            }
        }
    }

    /// Resolves the variable or constant that an expression names.
    fn resolve(&mut self, syntax: &Expr, process: Option<usize>) -> Option<Resolved> {
        let (name, span, index, scope, owner) = match &syntax.kind {
            ExprKind::Name(name) => (name, syntax.span, None, process, None),
            ExprKind::Element(name, index) => (&name.text, name.span, Some(index), process, None),
            ExprKind::ProcessVariable(owner, name, index) => {
                let at = self.process_called(owner)?;
                (&name.text, name.span, index.as_ref(), Some(at), Some(owner))
            }
            // The parser only accepts these kinds.
            _ => return None,
        };
        let symbol = self.symbol(name, span, scope, owner)?;
        // An index is evaluated in the process that contains it.
        let index = match index {
            Some(index) => Some(Box::new(self.lower(index, process)?)),
            None => None,
        };
        match symbol {
            Symbol::Constant(value) if index.is_none() => Some(Resolved::Constant(value)),
            Symbol::Variable { id, is_array, is_constant } if is_array == index.is_some() => {
                Some(Resolved::Variable(LValue { variable: id, index }, is_constant))
            }
            Symbol::Constant(_) | Symbol::Variable { .. } => {
                let diagnostic = match index {
                    Some(_) => {
                        Diagnostic::error(syntax.span, format!("`{name}` is not an array")).label("scalar")
                    }
                    None => Diagnostic::error(syntax.span, format!("`{name}` is an array"))
                        .label("missing index")
                        .help(format!("write `{name}[0]`")),
                };
                self.report(diagnostic);
                None
            }
            Symbol::Channel(_) => {
                let diagnostic = Diagnostic::error(span, format!("`{name}` is a channel"))
                    .label("expected a variable")
                    .help(format!("channels are used in `sync {name}!x;` and `sync {name}?x;`"));
                self.report(diagnostic);
                None
            }
            Symbol::Process(_) => {
                let diagnostic = Diagnostic::error(span, format!("`{name}` is a process"))
                    .label("expected a variable")
                    .help(format!("write `{name}.STATE` for its location, `{name}->x` for its variables"));
                self.report(diagnostic);
                None
            }
        }
    }

    /// Resolves a name in a process or at the top level; with an owner (`P->x`), only in the process.
    fn symbol(
        &mut self,
        name: &str,
        span: Span,
        process: Option<usize>,
        owner: Option<&Name>,
    ) -> Option<Symbol> {
        let local = process.and_then(|at| self.processes.get(at)).and_then(|scope| scope.names.get(name));
        let found = match owner {
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
        if owner.is_none() {
            others.extend(file.variables.iter().map(|variable| variable.name.text.as_str()));
        }
        self.report_unknown("variable", name, span, others);
        None
    }

    /// Lowers one side of a synchronisation.
    pub(super) fn sync(&mut self, sync: &'a Sync, process: usize) -> Option<LoweredSync> {
        let name = &sync.channel;
        if self.property == Some(process) {
            let diagnostic = Diagnostic::error(sync.span, "a property process does not synchronise");
            self.report(diagnostic.label("not supported").help("use the states of the processes instead"));
            return None;
        }
        let Some((_, Symbol::Channel(channel))) = self.globals.get(name.text.as_str()).copied() else {
            let file = self.file;
            let others = file.channels.iter().map(|channel| channel.name.text.as_str());
            self.report_unknown("channel", &name.text, name.span, others);
            return None;
        };
        let declared = &self.file.channels[channel];
        if let Some(value_types) = &declared.value_types
            && value_types.len() != sync.values.len()
        {
            let message = format!("`{}` carries {} here", name.text, count_values(sync.values.len()));
            let diagnostic = Diagnostic::error(sync.span, message)
                .label(format!("expected {}", count_values(value_types.len())))
                .related(declared.name.span, "declared here");
            self.report(diagnostic);
            return None;
        }
        let mut lowered =
            LoweredSync { channel, is_send: sync.is_send, values: Vec::new(), targets: Vec::new() };
        for value in &sync.values {
            if sync.is_send {
                lowered.values.push(self.expression(value, process)?);
            } else if matches!(
                value.kind,
                ExprKind::Name(_) | ExprKind::Element(..) | ExprKind::ProcessVariable(..)
            ) {
                lowered.targets.push(self.assignment_target(value, process)?);
            } else {
                let diagnostic = Diagnostic::error(value.span, "a received value needs a variable");
                self.report(diagnostic.label("expected a variable or an element of an array"));
                return None;
            }
        }
        Some(lowered)
    }
}

/// What an expression that is a name refers to.
enum Resolved {
    Constant(i64),
    /// A variable or element, and whether it is constant.
    Variable(LValue, bool),
}

/// Returns a count of values in words.
pub(super) fn count_values(count: usize) -> String {
    match count {
        0 => "no value".to_owned(),
        1 => "1 value".to_owned(),
        _ => format!("{count} values"),
    }
}
