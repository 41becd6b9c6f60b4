//! Compiler from script definitions to programs.

use super::cell::Cell;
use super::code::{Op, Opcode};
use super::fold;
use super::ids::*;
use super::layout::{DeclaredCells, Layout, import_number};
use super::operator::Binary;
use super::order::{Cycle, EvaluationOrder, Item, definition, root};
use super::program::{Effect, Lists, Program, Sources, Unit};
use super::script_def::{EventOrigin, Expr, GuardAction, Occurrence, ScriptDef};
use super::value::Type;
use super::walk::{Node, Walk};
use alloc::vec::Vec;

/// Compiles a script.
pub(super) fn compile(script: ScriptDef) -> Result<Program, Vec<Cycle>> {
    let order = EvaluationOrder::new(&script)?;
    let mut layout = Layout::default();
    let folded = fold::constants(&script);
    let mut compiler = Compiler {
        declared: DeclaredCells::new(&script, &folded, &mut layout),
        sources: Sources::new(&script),
        folded,
        exprs: alloc::vec![0; script.exprs.len()],
        occurrences: alloc::vec![0; script.occurrences.len()],
        event_units: alloc::vec![0; script.events.len()],
        condition_units: alloc::vec![0; script.conditions.len()],
        late_units: alloc::vec![0; script.conditions.len()],
        script: &script,
        order,
        layout,
        ops: Vec::new(),
        units: Vec::new(),
        reads: Vec::new(),
    };
    let mut walk = Walk::default();
    for item in core::mem::take(&mut compiler.order.items) {
        compiler.unit(item, &mut walk);
    }
    let Compiler { sources, declared, layout, ops, units, reads, .. } = compiler;
    let exports = script.exported_events.iter().map(|id| match script.events[id.at()].origin {
        EventOrigin::Defined(event) => script.occurrences[event.at()].1,
        EventOrigin::Imported(_) => None,
    });
    let exports = exports.map(|carrier| carrier.map_or_else(Vec::new, |it| declared.carried(&script, it)));
    Ok(Program {
        exports: exports.collect(),
        readers: Lists::new(sources.unit(units.len() as u32), reads),
        ops,
        units,
        sources,
        cells: layout.cells,
        kept: layout.kept.into(),
        texts: layout.texts,
        now: declared.now,
        variables: declared.variables,
        methods: declared.methods,
        auxiliaries: declared.auxiliaries,
        imported_events: declared.imported_events,
        imported_conditions: declared.imported_conditions,
        properties: declared.properties,
        script,
    })
}

struct Compiler<'p> {
    script: &'p ScriptDef,
    order: EvaluationOrder,
    sources: Sources,
    folded: Vec<Option<Cell>>,
    declared: DeclaredCells,
    layout: Layout,
    ops: Vec<Op>,
    units: Vec<Unit>,
    /// Dependencies: source and unit.
    reads: Vec<(u32, u32)>,
    event_units: Vec<u32>,
    condition_units: Vec<u32>,
    late_units: Vec<u32>,
    /// The cells of the nodes of the current unit.
    exprs: Vec<u32>,
    occurrences: Vec<u32>,
}

impl Compiler<'_> {
    fn unit(&mut self, item: Item, walk: &mut Walk) {
        self.layout.begin();
        let first = self.ops.len() as u32;
        let mut value = 0;
        if let Some(root) = root(self.script, item) {
            let folded = &self.folded;
            let leaf = |node| matches!(node, Node::Expr(id) if folded[id.at()].is_some());
            for node in walk.postorder(self.script, root, leaf) {
                value = match *node {
                    Node::Expr(id) => {
                        self.exprs[id.at()] = self.expr(item, id);
                        self.exprs[id.at()]
                    }
                    Node::Event(id) => {
                        self.occurrences[id.at()] = self.occurrence(id);
                        self.occurrences[id.at()]
                    }
                };
            }
        }
        let Some(effect) = self.effect(item, value) else { return };
        let ops = first..self.ops.len() as u32;
        self.units.push(Unit { ops, effect, definition: definition(self.script, item) });
    }

    fn effect(&mut self, item: Item, value: u32) -> Option<Effect> {
        let unit = self.units.len() as u32;
        let number = |at: Option<usize>| at.map(|at| at as u32);
        Some(match item {
            Item::Event(id) => {
                self.event_units[id.at()] = unit;
                let export = number(self.script.exported_events.iter().position(|other| *other == id));
                Effect::Event { happens: value, cell: self.declared.events[id.at()], export }
            }
            Item::Condition(id) => {
                self.condition_units[id.at()] = unit;
                let export = number(self.script.exported_conditions.iter().position(|other| *other == id));
                Effect::Condition { value, cell: self.declared.conditions[id.at()], export }
            }
            Item::Late(id) => {
                self.late_units[id.at()] = unit;
                Effect::Condition { value, cell: self.declared.late[id.at()], export: None }
            }
            Item::Property(number) => {
                Effect::Property { value, cell: self.declared.properties[number as usize], number }
            }
            Item::Alarm(number) => Effect::Alarm { happens: value, number },
            // Variables are not units: they are complete when their updates are.
            Item::Auxiliary(_) => return None,
            Item::Update(at) => {
                let update = self.script.updates[at as usize];
                let trigger = self.event(self.script.guards[update.guard.at()]);
                match update.action {
                    GuardAction::Assign(to, _) => Effect::Assign { trigger, value, to: to.0 },
                    GuardAction::Print(expr) => {
                        Effect::Print { trigger, value, ty: self.script.exprs[expr.at()].1 }
                    }
                    GuardAction::Invoke(action) => Effect::Invoke { trigger, action: action.0 },
                }
            }
        })
    }

    /// Compiles an expression whose operands are compiled; returns its cell.
    fn expr(&mut self, item: Item, id: ExprId) -> u32 {
        if let Some(value) = self.folded[id.at()] {
            return self.layout.cell(value);
        }
        let sources = self.sources;
        let (expr, ty) = self.script.exprs[id.at()];
        match expr {
            Expr::Variable(id) => {
                self.read(sources.variable(id.0), self.declared.variables[id.at()].slot.cell)
            }
            Expr::Auxiliary { variable, primed } => {
                let cells = self.declared.auxiliaries[variable.at()];
                if !primed && self.order.reads_old(item, variable) {
                    self.read(sources.old(variable.0), cells.old.cell)
                } else {
                    self.read(sources.new_value(variable.0), cells.new.cell)
                }
            }
            Expr::Now => self.read(sources.now(), self.declared.now),
            Expr::Condition(id) => self.condition(item, id),
            Expr::Inside(id) => self.read(sources.method(id.0), self.declared.methods[id.at()].inside),
            Expr::Interval(begin, end) => {
                let out = self.layout.kept(Cell::FALSE);
                self.op(Opcode::Interval, out, [self.occurrences[begin.at()], self.occurrences[end.at()], 0])
            }
            Expr::Time(event) => {
                let out = self.layout.kept(Cell::UNDEFINED);
                self.op(Opcode::Time, out, [self.occurrences[event.at()], self.declared.now, 0])
            }
            Expr::Value(event, index) => self.value(event, index, ty),
            Expr::Binary(Binary::Add, left, right) if ty == Type::String => {
                let (left, right) = (self.shown(left), self.shown(right));
                let (out, text) = (self.layout.scratch(), self.layout.scratch_text());
                self.op(Opcode::Join, out, [left, right, text])
            }
            _ => {
                let (exprs, layout, ops) = (&self.exprs, &mut self.layout, &mut self.ops);
                let computed = fold::compute(
                    self.script,
                    id,
                    |operand| exprs[operand.at()],
                    |code, [a, b, c]| {
                        let out = layout.scratch();
                        ops.push(Op { code, out, a, b, c });
                        out
                    },
                );
                computed.unwrap_or(0)
            }
        }
    }

    fn condition(&mut self, item: Item, id: ConditionId) -> u32 {
        if self.script.conditions[id.at()].definition.is_none() {
            let source = self.sources.condition(import_number(&self.script.imported_conditions, id));
            return self.read(source, self.declared.conditions[id.at()]);
        }
        match self.order.as_read_by(item, id) {
            Item::Late(_) => {
                self.read(self.sources.unit(self.late_units[id.at()]), self.declared.late[id.at()])
            }
            _ => {
                self.read(self.sources.unit(self.condition_units[id.at()]), self.declared.conditions[id.at()])
            }
        }
    }

    fn value(&mut self, event: OccurrenceId, index: u32, ty: Type) -> u32 {
        let happens = self.occurrences[event.at()];
        let carrier = self.script.occurrences[event.at()].1;
        let carried = carrier.map_or_else(Vec::new, |carrier| self.declared.carried(self.script, carrier));
        let from = carried.get(index as usize).map_or(self.declared.undefined, |(cell, _)| *cell);
        let out = self.layout.kept(Cell::UNDEFINED);
        if ty == Type::String {
            let text = self.layout.kept_text("").0 as u32;
            self.op(Opcode::KeepText, out, [happens, from, text])
        } else {
            self.op(Opcode::Keep, out, [happens, from, 0])
        }
    }

    /// Compiles the conversion of an expression to a string.
    fn shown(&mut self, id: ExprId) -> u32 {
        let (cell, ty) = (self.exprs[id.at()], self.script.exprs[id.at()].1);
        if ty == Type::String {
            return cell;
        }
        let (out, text) = (self.layout.scratch(), self.layout.scratch_text());
        let ty = Type::ALL.iter().position(|other| *other == ty).unwrap_or(0);
        self.op(Opcode::Show, out, [cell, ty as u32, text])
    }

    /// Compiles an event expression; returns the cell of its occurrence.
    fn occurrence(&mut self, id: OccurrenceId) -> u32 {
        let sources = self.sources;
        let code = |code, compiler: &mut Self, operands: [u32; 3]| {
            let out = compiler.layout.scratch();
            compiler.op(code, out, operands)
        };
        match self.script.occurrences[id.at()].0 {
            Occurrence::Named(id) => self.event(id),
            Occurrence::Update(id) => {
                self.read(sources.variable(id.0), self.declared.variables[id.at()].updated)
            }
            Occurrence::StartMethod(id) => {
                self.read(sources.method(id.0), self.declared.methods[id.at()].started)
            }
            Occurrence::EndMethod(id) => {
                self.read(sources.method(id.0), self.declared.methods[id.at()].ended)
            }
            Occurrence::BoundaryMethod(id) => {
                let (started, ended) =
                    (self.declared.methods[id.at()].started, self.declared.methods[id.at()].ended);
                self.read(sources.method(id.0), started);
                code(Opcode::Either, self, [started, ended, 0])
            }
            Occurrence::Start(condition) => {
                let before = self.layout.kept(Cell::UNDEFINED);
                code(Opcode::Start, self, [self.exprs[condition.at()], 0, before])
            }
            Occurrence::End(condition) => {
                let before = self.layout.kept(Cell::UNDEFINED);
                code(Opcode::End, self, [self.exprs[condition.at()], 0, before])
            }
            Occurrence::Both(a, b) => {
                code(Opcode::Both, self, [self.occurrences[a.at()], self.occurrences[b.at()], 0])
            }
            Occurrence::Either(a, b) => {
                code(Opcode::Either, self, [self.occurrences[a.at()], self.occurrences[b.at()], 0])
            }
            Occurrence::When(event, condition) => {
                code(Opcode::When, self, [self.occurrences[event.at()], self.exprs[condition.at()], 0])
            }
        }
    }

    fn event(&mut self, id: ScriptEventId) -> u32 {
        let source = match self.script.events[id.at()].origin {
            EventOrigin::Imported(_) => self.sources.event(import_number(&self.script.imported_events, id)),
            EventOrigin::Defined(_) => self.sources.unit(self.event_units[id.at()]),
        };
        self.read(source, self.declared.events[id.at()])
    }

    /// Records that the current unit reads `cell`, which changes with `source`.
    fn read(&mut self, source: u32, cell: u32) -> u32 {
        self.reads.push((source, self.units.len() as u32));
        cell
    }

    fn op(&mut self, code: Opcode, out: u32, [a, b, c]: [u32; 3]) -> u32 {
        self.ops.push(Op { code, out, a, b, c });
        out
    }
}
