//! Compiles calls: functions of the program, built-in functions, functions of the host, and methods.

use super::Callback;
use super::emit::{Emitter, Variable};
use crate::diag::{Diagnostic, Span, nearest};
use crate::program::{Builtin, Method, Mutation, Op, Reg};
use ruff_python_ast::{Expr, ExprAttribute, ExprCall, ExprContext};
use ruff_text_size::Ranged;
use std::ops::RangeInclusive;

/// Whether an expression is the name `gdb`, which published properties use for the debugger.
pub(super) fn is_gdb(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(name) if name.id.as_str() == "gdb" && name.ctx == ExprContext::Load)
}

impl Emitter<'_> {
    pub(super) fn call(&mut self, call: &ExprCall, dst: Reg) {
        if let Some(keyword) = call.arguments.keywords.first() {
            self.error(keyword, "keyword arguments are not part of the block language");
            return;
        }
        match &*call.func {
            Expr::Name(name) => self.named_call(&name.id, call, dst),
            Expr::Attribute(attribute)
                if is_gdb(&attribute.value) && attribute.attr.as_str() == "execute" =>
            {
                self.named_call("debugger", call, dst);
            }
            Expr::Attribute(attribute) => self.method_call(attribute, call, dst),
            other => self.error(other, "this is not a function"),
        }
    }

    fn named_call(&mut self, name: &str, call: &ExprCall, dst: Reg) {
        let span = self.block.span(call.range());
        let args = &call.arguments.args;
        let n = args.len();
        if let Some(function) =
            self.compiler.program.functions.iter().position(|(function, _)| function == name)
        {
            let arity = usize::from(self.compiler.arities[function].0);
            if self.check_arity(name, arity..=arity, n, span) {
                let first = self.arguments(args);
                self.op(Op::Call { dst, function: function as u16, first }, span);
            }
        } else if name == "print" {
            self.print(args, span);
            let none = self.constant(crate::value::Value::NONE);
            self.op(Op::Move { dst, a: none }, span);
        } else if let Some(function) = self.compiler.host_functions.iter().position(|host| host.name == name)
        {
            let host = self.compiler.host_functions[function];
            if self.check_arity(name, host.min_args..=host.max_args, n, span) {
                let first = match host.callback {
                    Some(callback) => self.arguments_with(args, callback),
                    None => self.arguments(args),
                };
                self.op(Op::Host { function: function as u8, dst, first, n: n as u16 }, span);
            }
        } else if let Some((builtin, _, arity)) =
            Builtin::ALL.iter().find(|(_, candidate, _)| *candidate == name)
        {
            if self.check_arity(name, arity.clone(), n, span) {
                let first = self.arguments(args);
                // The result replaces the first argument: no register must keep a reference to an object that a
                // later statement may change in place.
                let result = if n == 0 { dst } else { first };
                self.op(Op::Builtin { builtin: *builtin, dst: result, first, n: n as u16 }, span);
                if result != dst {
                    self.op(Op::Move { dst, a: Emitter::reg(result) }, span);
                }
            }
        } else {
            self.report_unknown_function(name, self.block.span(call.func.range()));
        }
    }

    /// Evaluates arguments into registers. The callback is passed as the name of its function.
    fn arguments_with(&mut self, args: &[Expr], callback: Callback) -> Reg {
        let first = self.registers(args.len());
        for (at, arg) in args.iter().enumerate() {
            let dst = first + at as u16;
            if at != callback.position {
                self.expr_into(arg, dst);
                continue;
            }
            let span = self.block.span(arg.range());
            let Expr::Name(name) = arg else {
                self.report(
                    Diagnostic::error(span, "expected the name of a function")
                        .help("define it with `def`, and write its name without parentheses"),
                );
                continue;
            };
            let functions = &self.compiler.program.functions;
            match functions.iter().position(|(function, _)| function == name.id.as_str()) {
                Some(function) => self.check_callback_arity(function, callback.arguments, span),
                None => self.report_unknown_function(&name.id, span),
            }
            let text = self.compiler.text(&name.id);
            let a = self.constant(text);
            self.op(Op::Move { dst, a }, span);
        }
        first
    }

    /// Reports a callback that takes more than `max_args` arguments.
    fn check_callback_arity(&mut self, function: usize, max_args: usize, span: Span) {
        let (arity, position) = self.compiler.arities[function];
        if usize::from(arity) > max_args {
            let limit = match max_args {
                0 => "without arguments".to_owned(),
                _ => format!("with at most {max_args}"),
            };
            let name = &self.compiler.program.functions[function].0;
            let diagnostic = Diagnostic::error(span, format!("`{name}` takes {arity} arguments"))
                .label(format!("it is called {limit}"))
                .related(position, "defined here");
            self.report(diagnostic);
        }
    }

    fn report_unknown_function(&mut self, name: &str, span: Span) {
        let builtins = Builtin::ALL.iter().map(|(_, name, _)| *name);
        let functions = self.compiler.program.functions.iter().map(|(name, _)| name.as_str());
        let hosts = self.compiler.host_functions.iter().map(|host| host.name);
        let near = nearest(name, builtins.chain(functions).chain(hosts).chain(["print"]));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "define it with `def` in `initialization`, or in a file given with `--functions`".into(),
        };
        self.report(Diagnostic::error(span, format!("there is no function `{name}`")).help(help));
    }

    /// Checks the number of arguments of a call.
    fn check_arity(&mut self, name: &str, arity: RangeInclusive<usize>, n: usize, span: Span) -> bool {
        if arity.contains(&n) {
            return true;
        }
        let (low, high) = (arity.start(), arity.end());
        let expected = match (low, high) {
            (1, 1) => "1 argument".into(),
            (low, high) if low == high => format!("{low} arguments"),
            (low, high) => format!("{low} to {high} arguments"),
        };
        self.report(Diagnostic::error(span, format!("`{name}` takes {expected}, got {n}")));
        false
    }

    fn method_call(&mut self, attribute: &ExprAttribute, call: &ExprCall, dst: Reg) {
        let span = self.block.span(call.range());
        let name = attribute.attr.as_str();
        let args = &call.arguments.args;
        if let Some((method, _, arity)) = Method::ALL.iter().find(|(_, candidate, _)| *candidate == name) {
            if !self.check_arity(name, arity.clone(), args.len(), span) {
                return;
            }
            let first = self.registers(1 + args.len());
            self.expr_into(&attribute.value, first);
            for (i, arg) in args.iter().enumerate() {
                self.expr_into(arg, first + 1 + i as u16);
            }
            let n = 1 + args.len() as u16;
            self.op(Op::Method { method: *method, dst: first, first, n }, span);
            self.op(Op::Move { dst, a: Emitter::reg(first) }, span);
        } else if Mutation::METHODS.iter().any(|(_, candidate, _)| *candidate == name) {
            self.report(
                Diagnostic::error(span, format!("`{name}` changes its variable"))
                    .label("only allowed as a statement or as the right side of `=`")
                    .help("split this into two statements"),
            );
        } else {
            let methods = Method::ALL.iter().map(|(_, name, _)| *name);
            let near = nearest(name, methods.chain(Mutation::METHODS.iter().map(|(_, name, _)| *name)));
            let span = self.block.span(attribute.attr.range());
            let mut diagnostic = Diagnostic::error(span, format!("there is no method `{name}`"));
            if let Some(near) = near {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            self.report(diagnostic);
        }
    }

    /// Compiles `variable.method(…)` if the method changes the variable; returns the register of its result.
    pub(super) fn mutating_call(&mut self, expr: &Expr) -> Option<Reg> {
        let Expr::Call(call) = expr else { return None };
        let Expr::Attribute(attribute) = &*call.func else { return None };
        let name = attribute.attr.as_str();
        let (mutation, _, arity) = Mutation::METHODS.iter().find(|(_, candidate, _)| *candidate == name)?;
        let args = &call.arguments.args;
        let first = self.registers(args.len().max(1));
        if self.check_arity(name, arity.clone(), args.len(), self.block.span(call.range())) {
            for (i, arg) in args.iter().enumerate() {
                self.expr_into(arg, first + i as u16);
            }
            self.change(&attribute.value, *mutation, first, args.len() as u16, expr);
        }
        Some(first)
    }

    /// Compiles `expr` if it is a `print(…)` statement.
    pub(super) fn print_call(&mut self, expr: &Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        let is_print = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "print")
            && call.arguments.keywords.is_empty()
            && !self.compiler.program.functions.iter().any(|(function, _)| function == "print");
        if is_print {
            self.print(&call.arguments.args, self.block.span(call.range()));
        }
        is_print
    }

    fn print(&mut self, args: &[Expr], span: Span) {
        let skip = args
            .iter()
            .all(|arg| self.cannot_fault(arg))
            .then(|| self.op(Op::SkipUnlessPrinting { to: 0 }, span));
        let first = self.arguments(args);
        self.op(Op::Print { first, n: args.len() as u16 }, span);
        if let Some(skip) = skip {
            self.patch_jump(skip);
        }
    }

    /// Whether the evaluation of an expression cannot fault, so that it may be skipped.
    fn cannot_fault(&self, expr: &Expr) -> bool {
        match expr {
            Expr::StringLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_) => true,
            Expr::NumberLiteral(literal) => match &literal.value {
                ruff_python_ast::Number::Int(int) => int.as_i64().is_some(),
                ruff_python_ast::Number::Float(_) => true,
                ruff_python_ast::Number::Complex { .. } => false,
            },
            Expr::Name(name) => self.find(&name.id).is_some_and(|variable| {
                matches!(variable, Variable::Param(_)) || self.known.contains(&variable)
            }),
            Expr::Call(_) | Expr::BinOp(_) | Expr::FString(_) => self.is_text(expr),
            _ => false,
        }
    }

    /// Whether an expression is statically known to be a string, and cannot fault.
    fn is_text(&self, expr: &Expr) -> bool {
        match expr {
            Expr::StringLiteral(_) => true,
            Expr::Call(call) => match (&*call.func, &*call.arguments.args) {
                (Expr::Name(name), [arg]) => {
                    matches!(name.id.as_str(), "str" | "repr")
                        && call.arguments.keywords.is_empty()
                        && !self
                            .compiler
                            .program
                            .functions
                            .iter()
                            .any(|(function, _)| function == name.id.as_str())
                        && self.cannot_fault(arg)
                }
                _ => false,
            },
            Expr::BinOp(sum) => {
                sum.op == ruff_python_ast::Operator::Add
                    && self.is_text(&sum.left)
                    && self.is_text(&sum.right)
            }
            Expr::FString(f_string) => f_string.value.elements().all(|element| match element {
                ruff_python_ast::InterpolatedStringElement::Literal(_) => true,
                ruff_python_ast::InterpolatedStringElement::Interpolation(part) => {
                    part.format_spec.is_none() && self.cannot_fault(&part.expression)
                }
            }),
            _ => false,
        }
    }

    /// The arguments of `range(…)`, if `iterable` is a call of it.
    pub(super) fn range_arguments<'e>(&mut self, iterable: &'e Expr) -> Option<&'e [Expr]> {
        let Expr::Call(call) = iterable else { return None };
        let Expr::Name(name) = &*call.func else { return None };
        let is_range = name.id.as_str() == "range"
            && !self.compiler.program.functions.iter().any(|(function, _)| function == "range")
            && call.arguments.keywords.is_empty();
        let args = &*call.arguments.args;
        (is_range && (1..=3).contains(&args.len())).then_some(args)
    }
}
