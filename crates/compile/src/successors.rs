//! Code of the successor function of a model.

use crate::codegen_plan::{self, ActionRun, Rank};
use crate::config_view::{BitPosition, ConfigView};
use crate::effect;
use crate::function_emitter::{FunctionEmitter, Goto, MEMORY};
use crate::value::Step;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, FuncRef, InstBuilder, Value};
use cranelift_frontend::Switch;
use invigil_explore::FAULT;
use invigil_model::{Action, ActionId, Statement};
use std::collections::BTreeMap;

/// Note: some action raised a fault; its successor has no words yet.
pub(crate) const FAULTED: i64 = 1;
/// Note: an action with choices raised a fault; the interpreter must compute its outcomes.
pub(crate) const NEEDS_INTERPRETER: i64 = 2;
/// Flag of the single placeholder successor of such an action.
pub(crate) const UNKNOWN: u32 = 1;
/// Note: some successors may be duplicates.
pub(crate) const DUPLICATES: i64 = 4;
/// Note: an action is enabled that may have no outcome.
const ENABLED: i64 = 8;

/// Emits code that computes successors, and tracks where the next one is written.
pub(crate) struct SuccessorEmitter<'e, 'a, 'f> {
    pub(crate) emit: &'e mut FunctionEmitter<'a, 'f>,
    pub(crate) source: Value,
    /// Address for the words of the next successor.
    pub(crate) words: Value,
    /// Address for its transition info.
    pub(crate) taken: Value,
    /// Address of the notes.
    pub(crate) notes: Value,
}

impl<'a, 'f> SuccessorEmitter<'_, 'a, 'f> {
    /// Code for all actions; returns the end of what it has written. `calls` are the functions that were compiled
    /// separately.
    pub(crate) fn all(
        &mut self,
        plan: &codegen_plan::CodegenPlan,
        calls: &mut impl Iterator<Item = FuncRef>,
    ) {
        let done = self.emit.to.create_block();
        let end = self.emit.to.append_block_param(done, I64);
        if self.emit.model_ranges.has_committed() {
            let (calm, committed) = (self.emit.to.create_block(), self.emit.to.create_block());
            let is_committed = self.emit.is_committed(&ConfigView::new(self.source));
            self.emit.split(is_committed, committed.into(), calm.into());
            let at = (self.words, self.taken);
            self.emit.to.switch_to_block(committed);
            self.ranks(&plan.committed, done, calls);
            (self.words, self.taken) = at;
            self.emit.to.switch_to_block(calm);
        }
        self.ranks(&plan.calm, done, calls);
        self.emit.to.switch_to_block(done);
        self.emit.to.ins().return_(&[end]);
    }

    /// Code for the ranks in order, up to the first one with enabled actions.
    fn ranks(&mut self, ranks: &[Rank], done: Block, calls: &mut impl Iterator<Item = FuncRef>) {
        for (at, rank) in ranks.iter().enumerate() {
            let is_last = at + 1 == ranks.len();
            let before = self.taken;
            for part in rank {
                match calls.next() {
                    Some(function) => self.call(function),
                    None => self.part(part),
                }
            }
            if !is_last {
                let is_some = self.emit.to.ins().icmp(IntCC::NotEqual, self.taken, before);
                let notes = self.emit.to.ins().load(I64, MEMORY, self.notes, 0);
                let enabled = self.emit.and(notes, ENABLED as u64);
                let is_enabled = self.emit.compare(IntCC::NotEqual, enabled, 0);
                let is_over = self.emit.to.ins().bor(is_some, is_enabled);
                let on = self.emit.to.create_block();
                let end = [BlockArg::from(self.taken)];
                self.emit.split(is_over, Goto { block: done, with: &end }, on.into());
                self.emit.to.switch_to_block(on);
            }
        }
        let end = [BlockArg::from(self.taken)];
        self.emit.jump(Goto { block: done, with: &end });
    }

    /// Calls another function for some actions.
    fn call(&mut self, function: FuncRef) {
        let call = self.emit.to.ins().call(function, &[self.source, self.words, self.taken, self.notes]);
        let end = self.emit.to.inst_results(call)[0];
        // Each successor has 8 bytes of transition info, and 8 bytes for each of its words.
        let written = self.emit.to.ins().isub(end, self.taken);
        let width = self.emit.constant(self.emit.model_ranges.model.layout().words as i64);
        let more = self.emit.to.ins().imul(written, width);
        self.words = self.emit.to.ins().iadd(self.words, more);
        self.taken = end;
    }

    /// Code for some actions.
    pub(crate) fn part(&mut self, part: &[ActionRun]) {
        for run in part {
            match run.process {
                None => run.actions.iter().for_each(|action| self.action(*action)),
                Some(process) => self.run(process, run),
            }
        }
    }

    /// Code for the actions of a process that leave its current location.
    fn run(&mut self, process: u32, run: &ActionRun) {
        let model = self.emit.model_ranges.model;
        let by = codegen_plan::at_locations(model, run);
        let location = model.parts().processes[process as usize].location;
        let slot = model.layout().slots[location as usize];
        if slot.width == 0 {
            return by.iter().flat_map(|(_, actions)| actions).for_each(|action| self.action(*action));
        }
        let after = self.emit.to.create_block();
        let end = [(); 2].map(|()| self.emit.to.append_block_param(after, I64));
        let nothing = self.emit.to.create_block();
        let (word, bit) = slot.at(0);
        let word = ConfigView::new(self.source).word(self.emit, word as u32);
        let moved = self.emit.down(word, bit);
        let at = self.emit.and(moved, slot.mask());
        let mut switch = Switch::new();
        let blocks: Vec<_> = by.iter().map(|_| self.emit.to.create_block()).collect();
        for ((location, _), block) in by.iter().zip(&blocks) {
            switch.set_entry(u128::from(*location), *block);
        }
        switch.emit(&mut self.emit.to, at, nothing);
        let start = (self.words, self.taken);
        for ((_, actions), block) in by.iter().zip(blocks) {
            (self.words, self.taken) = start;
            self.emit.to.switch_to_block(block);
            actions.iter().for_each(|action| self.action(*action));
            let with = self.at();
            self.emit.jump(Goto { block: after, with: &with });
        }
        (self.words, self.taken) = start;
        self.emit.to.switch_to_block(nothing);
        let with = self.at();
        self.emit.jump(Goto { block: after, with: &with });
        self.emit.to.switch_to_block(after);
        [self.words, self.taken] = end;
    }

    fn at(&self) -> [BlockArg; 2] {
        [self.words.into(), self.taken.into()]
    }

    /// Code for an action whose first process is at its source location.
    fn action(&mut self, id: ActionId) {
        let model = self.emit.model_ranges.model;
        let action = model.action(id);
        let after = self.emit.to.create_block();
        let end = [(); 2].map(|()| self.emit.to.append_block_param(after, I64));
        self.emit.fault = self.emit.to.create_block();
        self.emit.to.set_cold_block(self.emit.fault);
        self.emit.can_fault = false;
        let start = self.at();
        let none = Goto { block: after, with: &start };

        self.guard(action, none);
        let view = ConfigView::new(self.source);
        if model.ranks().len() > 1 && action.effect.iter().any(may_require) {
            self.note(ENABLED);
        }
        if effect::has_duplicates(self.emit.model_ranges, action) {
            self.note(DUPLICATES);
        }
        let [words, taken] = [self.words, self.taken];
        self.outcomes(id, &action.effect, view, none);

        if self.emit.can_fault {
            self.emit.to.switch_to_block(self.emit.fault);
            [self.words, self.taken] = [words, taken];
            if effect::ways(action) > 1 {
                self.note(NEEDS_INTERPRETER);
                self.write_transition(id, FAULT | UNKNOWN);
            } else {
                self.note(FAULTED);
                self.write_transition(id, FAULT);
            }
            let with = self.at();
            self.emit.jump(Goto { block: after, with: &with });
        }
        self.emit.to.switch_to_block(after);
        [self.words, self.taken] = end;
    }

    /// Continues only if the other processes are at their source locations and the guard is true.
    fn guard(&mut self, action: &Action, none: Goto<'_>) {
        let view = ConfigView::new(self.source);
        let mut conditions = self.emit.is_there(&action.moves[1.min(action.moves.len())..], &view);
        let is_simple =
            self.emit.model_ranges.simple(&action.guard).is_some_and(|range| range.truth().is_none());
        let is_asked = is_simple && !conditions.is_empty();
        if is_asked {
            conditions.push(self.emit.truth(&action.guard, Step::at(&view)));
        }
        let joined = conditions.into_iter().reduce(|a, b| self.emit.to.ins().band(a, b));
        if let Some(condition) = joined {
            self.emit.unless(condition, none);
        }
        if !is_asked {
            self.emit.require(&action.guard, Step::at(&view), none);
        }
    }

    /// Code for the rest of an effect and for writing its successors; ends in a jump.
    fn outcomes(&mut self, id: ActionId, statements: &[Statement], view: ConfigView, none: Goto<'_>) {
        let mut view = view;
        for (at, statement) in statements.iter().enumerate() {
            let Statement::Choose { place, low, high } = statement else {
                self.emit.statement(statement, &mut view, none);
                continue;
            };
            if low == high {
                let only = self.emit.number(*low);
                self.emit.assign(place, only, false, &mut view);
                continue;
            }
            let (source, notes) = (self.source, self.notes);
            let state = [self.words, self.taken];
            let end = effect::count(self.emit, (*low, *high), state, |emit, value, [words, taken], next| {
                emit.assign(place, value, false, &mut view);
                let mut inside = SuccessorEmitter { emit, source, words, taken, notes };
                let with = inside.at();
                inside.outcomes(id, &statements[at + 1..], view, Goto { block: next, with: &with });
            });
            let with = end.map(BlockArg::from);
            return self.emit.jump(Goto { block: none.block, with: &with });
        }
        self.outcome(id, view, none);
    }

    /// Code for the arrival of the processes and for writing the successor.
    fn outcome(&mut self, id: ActionId, view: ConfigView, none: Goto<'_>) {
        let model = self.emit.model_ranges.model;
        let action = model.action(id);
        let mut view = view;
        let mut turned: BTreeMap<u32, u64> = BTreeMap::new();
        for by in &action.moves {
            let location = model.parts().processes[by.process as usize].location;
            let slot = model.layout().slots[location as usize];
            let (word, bit) = slot.at(0);
            if slot.width == 0 {
                continue;
            }
            if action.effect.iter().any(|statement| effect::writes(statement, location)) {
                let to = self.emit.number(i64::from(by.to));
                view.write(self.emit, location, BitPosition::Fixed(word as u32, bit), to);
            } else {
                // The location variable still has the source location.
                *turned.entry(word as u32).or_default() ^= u64::from(by.from ^ by.to) << bit;
            }
        }
        for (at, bits) in turned.into_iter().filter(|(_, bits)| *bits != 0) {
            let word = view.word(self.emit, at);
            let bits = self.emit.constant(bits as i64);
            let word = self.emit.to.ins().bxor(word, bits);
            view.set(at, word);
        }
        view.store(self.emit, self.words);
        self.write_transition(id, 0);
        let with = self.at();
        self.emit.jump(Goto { block: none.block, with: &with });
    }

    /// Writes the transition info of the successor and advances to the next one.
    fn write_transition(&mut self, id: ActionId, flags: u32) {
        let [a, b, c, d] = id.to_ne_bytes();
        let [e, f, g, h] = flags.to_ne_bytes();
        let both = self.emit.constant(i64::from_ne_bytes([a, b, c, d, e, f, g, h]));
        self.emit.to.ins().store(MEMORY, both, self.taken, 0);
        let width = self.emit.model_ranges.model.layout().words as i64;
        self.words = self.emit.add(self.words, width * 8);
        self.taken = self.emit.add(self.taken, 8);
    }

    /// Sets a note for the caller.
    fn note(&mut self, what: i64) {
        let notes = self.emit.to.ins().load(I64, MEMORY, self.notes, 0);
        let what = self.emit.constant(what);
        let notes = self.emit.to.ins().bor(notes, what);
        self.emit.to.ins().store(MEMORY, notes, self.notes, 0);
    }
}

/// Whether an enabled action may have no outcome.
fn may_require(statement: &Statement) -> bool {
    match statement {
        Statement::Require(_) => true,
        Statement::If { then, otherwise, .. } => then.iter().chain(otherwise).any(may_require),
        _ => false,
    }
}
