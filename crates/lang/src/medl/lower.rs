//! Compiles a MEDL script to the input of a checker.

use super::ast::{ActionCall, Definition, DefinitionKind, Guard, Script, Update};
use super::names::{Symbol, SymbolTable};
use crate::mac::ast::{Expr, Literal, Name, NodeKind};
use crate::mac::lower::{Build, ExpressionCompiler};
use crate::mac::order::{self, Dependencies};
use crate::pedl::{self, ScriptExport};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{ExprId, GuardId, MethodCall as ProgramCall, ScriptDef, Type};
use std::collections::{HashMap, HashSet};

/// A compiled script: names are resolved and types are checked.
#[derive(Clone, Debug)]
pub struct RequirementScript {
    /// The title, if any.
    pub title: Option<String>,
    /// The input of a checker.
    pub parts: ScriptDef,
    /// The properties by number, with the positions of their definitions.
    pub properties: Vec<(String, Span)>,
    /// The alarms by number, with the positions of their definitions.
    pub alarms: Vec<(String, Span)>,
    /// The actions by number, with the positions of their imports.
    pub actions: Vec<(String, Span)>,
    /// The methods of the target that the actions call, if any.
    pub calls: Vec<Option<ProgramCall>>,
}

/// Compiles a script: resolves its names, checks its types and builds the input of a checker.
///
/// If the PEDL script is given, imports are checked against its exports. Otherwise only the values that an import
/// declares, as in `import event e(int)`, are known.
///
/// Returns a result if no error is among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl;
///
/// let text = "ReqSpec import event opened; var int count; alarm often = start(count > 3);
///             opened -> { count' = cuont + 1; } End";
/// let (script, _) = medl::parse(SourceId(0), text);
/// let (lowered, diagnostics) = medl::lower(&script, None);
/// assert!(lowered.is_none());
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `count`?"));
///
/// let (script, _) = medl::parse(SourceId(0), &text.replace("cuont", "count"));
/// let (lowered, _) = medl::lower(&script, None);
/// assert_eq!(lowered.unwrap().alarms[0].0, "often");
/// ```
pub fn lower(
    script: &Script,
    recogniser: Option<&pedl::MonitoringScript>,
) -> (Option<RequirementScript>, Vec<Diagnostic>) {
    lower_with(script, recogniser.map(|recogniser| recogniser.exports.as_slice()))
}

/// As [`lower`], with the exports of a PEDL script that may have errors.
pub(crate) fn lower_with(
    script: &Script,
    exports: Option<&[ScriptExport]>,
) -> (Option<RequirementScript>, Vec<Diagnostic>) {
    let mut lowering = Lowering { build: Build::default(), names: SymbolTable::new(exports) };
    lowering.script(script);
    let Lowering { build, names } = lowering;
    let is_usable = !build.has_errors();
    let (parts, diagnostics) = build.finish();
    if !is_usable {
        return (None, diagnostics);
    }
    let located = |kind: DefinitionKind| {
        let of_kind = script.definitions.iter().filter(move |one| one.kind == kind);
        of_kind.map(|one| (one.name.text.clone(), one.name.span)).collect()
    };
    let lowered = RequirementScript {
        title: script.title.as_ref().map(|title| title.text.clone()),
        parts,
        properties: located(DefinitionKind::Property),
        alarms: located(DefinitionKind::Alarm),
        calls: names.actions.iter().map(|(name, _)| called_method(script, name)).collect(),
        actions: names.actions,
    };
    (Some(lowered), diagnostics)
}

/// Returns the method of the target that an action calls.
fn called_method(script: &Script, action: &str) -> Option<ProgramCall> {
    let import = script.imports.iter().find(|import| import.name.text == action)?;
    let ActionCall { names, arguments, .. } = import.call.as_ref()?;
    let (method, of) = names.split_last()?;
    let of: Vec<&str> = of.iter().map(|name| name.text.as_str()).collect();
    let arguments = arguments.iter().map(Literal::constant).collect::<Option<_>>()?;
    Some(ProgramCall { receiver: of.join("."), method: method.text.clone(), arguments })
}

struct Lowering<'a> {
    build: Build,
    names: SymbolTable<'a>,
}

impl<'a> Lowering<'a> {
    fn script(&mut self, script: &Script) {
        for import in &script.imports {
            self.names.import(import, &mut self.build);
        }
        for variable in &script.variables {
            self.names.variable(variable, &mut self.build);
        }
        for definition in &script.definitions {
            self.names.add(&definition.name, Symbol::Uncompiled, &mut self.build);
        }
        self.definitions(script);
        for guard in &script.guards {
            self.guard(guard);
        }
        if !self.build.has_errors() {
            self.report_unused(script);
        }
    }

    fn compiler(&mut self) -> ExpressionCompiler<'_, SymbolTable<'a>> {
        ExpressionCompiler { build: &mut self.build, names: &mut self.names }
    }

    fn definitions(&mut self, script: &Script) {
        let all = &script.definitions;
        let order = match order::order(&dependencies(script)) {
            Ok(order) => order,
            Err(cycle) => {
                let cycle: Vec<Name> = cycle.into_iter().filter_map(|at| node_name(script, at)).collect();
                self.build.diagnostics.push(order::cycle_diagnostic(&cycle));
                return;
            }
        };
        let mut compiled = vec![Symbol::Uncompiled; all.len()];
        for at in order.into_iter().filter(|at| *at < all.len()) {
            compiled[at] = self.definition(&all[at]).unwrap_or(Symbol::Uncompiled);
            self.names.set_compiled(&all[at].name, compiled[at]);
        }
        // Definitions are numbered in source order.
        for (definition, symbol) in all.iter().zip(compiled) {
            let name = &definition.name.text;
            let parts = &mut self.build.parts;
            match (definition.kind, symbol) {
                (DefinitionKind::Property, Symbol::Condition(condition)) => {
                    _ = parts.condition(condition).and_then(|condition| parts.property(name, condition));
                }
                (DefinitionKind::Alarm, Symbol::Event(event)) => {
                    _ = parts.event(event).and_then(|event| parts.alarm(name, event));
                }
                _ => {}
            }
        }
    }

    fn definition(&mut self, definition: &Definition) -> Option<Symbol> {
        let name = &definition.name.text;
        if definition.kind.is_event() {
            let event = self.compiler().event(&definition.expr)?;
            if let Some(carrier) = definition.expr.carrier(definition.expr.nodes.len() - 1) {
                self.names.set_carrier(name, carrier);
            }
            return self.build.parts.define_event(name, event).ok().map(Symbol::Event);
        }
        let condition = self.compiler().condition(&definition.expr, &format!("`{name}`"))?;
        self.build.parts.define_condition(name, condition).ok().map(Symbol::Condition)
    }

    fn guard(&mut self, guard: &Guard) {
        let trigger = self.compiler().event(&guard.trigger);
        let guard_id = trigger.and_then(|trigger| self.build.parts.guard(trigger).ok());
        let mut assigned: HashMap<&str, Span> = HashMap::new();
        for update in &guard.updates {
            if self.build.is_full() {
                return;
            }
            if let Update::Assign(name, _) = update
                && let Some(first) = assigned.insert(&name.text, name.span)
            {
                let message = format!("this guard sets `{}` twice", name.text);
                let diagnostic = Diagnostic::warning(name.span, message).label("this update takes effect");
                self.build.diagnostics.push(diagnostic.related(first, "first update").help("remove one"));
            }
            self.update(update, guard_id);
        }
    }

    fn update(&mut self, update: &Update, guard: Option<GuardId>) -> Option<()> {
        match update {
            Update::Assign(name, expr) => {
                let value = self.compiler().value(expr);
                let (variable, ty) = self.names.auxiliary(&name.text, name.span, &mut self.build)?;
                let value = value?;
                self.check_assignment(name, ty, expr, value)?;
                let result = self.build.parts.assign(guard?, variable, value);
                self.build.or_report_mismatch(expr.span(), result)
            }
            Update::Print(expr) => {
                let value = self.compiler().value(expr)?;
                self.build.parts.print(guard?, value).ok()
            }
            Update::Invoke(name) => {
                let action = self.names.action(name, &mut self.build)?;
                self.build.parts.invoke(guard?, action).ok()
            }
        }
    }

    /// Checks that an assignment loses no information.
    fn check_assignment(&mut self, name: &Name, ty: Type, expr: &Expr, value: ExprId) -> Option<()> {
        let from = self.build.parts.type_of(value).ok()?;
        // `float` variables are stored as `double`.
        if from.widens_to(ty) || ty == Type::Float && from == Type::Double || is_small(expr, ty) {
            return Some(());
        }
        let message = format!("`{}` is a variable of type `{ty}`, but this value is a `{from}`", name.text);
        let diagnostic = Diagnostic::error(expr.span(), message).label("type mismatch");
        self.build.report(match from.is_number() && ty.is_number() {
            true => diagnostic.help(format!("write `({ty}) (…)`, or declare the variable as `{from}`")),
            false => diagnostic.help(format!("declare the variable as `{from}`")),
        })
    }

    /// Reports unused names, and variables that are never set.
    fn report_unused(&mut self, script: &Script) {
        let used = &self.names.used;
        let diagnostics = &mut self.build.diagnostics;
        for import in script.imports.iter().filter(|import| !used.contains(&import.name.text)) {
            let message = format!("the {} `{}` is not used", import.kind.word(), import.name.text);
            let diagnostic = Diagnostic::warning(import.name.span, message).label("imported but not used");
            diagnostics.push(diagnostic.help("use it in a definition or a guard, or remove it"));
        }
        let named = |one: &&Definition| matches!(one.kind, DefinitionKind::Event | DefinitionKind::Condition);
        for one in script.definitions.iter().filter(named).filter(|one| !used.contains(&one.name.text)) {
            let message = format!("the {} `{}` is not used", one.kind.word(), one.name.text);
            let diagnostic = Diagnostic::warning(one.name.span, message).label("defined but not used");
            let meant = if one.kind == DefinitionKind::Event { "alarm" } else { "property" };
            diagnostics.push(diagnostic.help(format!("did you mean `{meant}`?")));
        }
        let set: HashSet<&str> = assignments(script).map(|(name, ..)| name.text.as_str()).collect();
        for variable in script.variables.iter().filter(|variable| used.contains(&variable.name.text)) {
            let name = &variable.name.text;
            if !set.contains(name.as_str()) && name != super::names::NOW {
                let diagnostic = Diagnostic::warning(variable.name.span, format!("`{name}` is never set"));
                let help = format!("set it in a guard: `e -> {{ {name}' = …; }}`");
                diagnostics.push(diagnostic.label("always undefined").help(help));
            }
        }
    }
}

/// Whether this is an integer literal that fits a smaller type: Java allows assigning those.
fn is_small(expr: &Expr, ty: Type) -> bool {
    let [node] = expr.nodes.as_slice() else { return false };
    let NodeKind::Literal(Literal::Int(value)) = node.kind else { return false };
    match ty {
        Type::Byte => i8::try_from(value).is_ok(),
        Type::Short => i16::try_from(value).is_ok(),
        Type::Char => u16::try_from(value).is_ok(),
        _ => false,
    }
}

/// The variables that guards set, each with the guard's trigger and the new value.
fn assignments(script: &Script) -> impl Iterator<Item = (&Name, &Expr, &Expr)> {
    script.guards.iter().flat_map(|guard| {
        guard.updates.iter().filter_map(|update| match update {
            Update::Assign(name, expr) => Some((name, &guard.trigger, expr)),
            Update::Print(_) | Update::Invoke(_) => None,
        })
    })
}

/// The dependencies of each definition within an instant; after them, those of each variable's new value.
fn dependencies(script: &Script) -> Dependencies {
    let all = &script.definitions;
    let definitions: HashMap<&str, usize> =
        all.iter().enumerate().map(|(at, one)| (one.name.text.as_str(), at)).collect();
    let variables: HashMap<&str, usize> = script
        .variables
        .iter()
        .enumerate()
        .map(|(at, one)| (one.name.text.as_str(), all.len() + at))
        .collect();
    let of = |expr: &Expr| -> Vec<usize> {
        let primed = expr.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Primed(name) => variables.get(name.as_str()).copied(),
            _ => None,
        });
        order::references(expr, &definitions).chain(primed).collect()
    };
    let mut dependencies: Dependencies = all.iter().map(|one| of(&one.expr)).collect();
    dependencies.resize(all.len() + script.variables.len(), Vec::new());
    for (name, trigger, value) in assignments(script) {
        if let Some(at) = variables.get(name.text.as_str()) {
            dependencies[*at].extend(of(trigger).into_iter().chain(of(value)));
        }
    }
    dependencies
}

/// The name and position of an index in [`dependencies`].
fn node_name(script: &Script, at: usize) -> Option<Name> {
    if let Some(definition) = script.definitions.get(at) {
        return Some(definition.name.clone());
    }
    let variable = script.variables.get(at - script.definitions.len())?;
    let set = assignments(script).find(|(name, ..)| name.text == variable.name.text);
    let span = set.map_or(variable.name.span, |(name, ..)| name.span);
    Some(Name { text: format!("{}'", variable.name.text), span })
}
