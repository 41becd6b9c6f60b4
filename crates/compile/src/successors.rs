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

/// Note of the generated code: some action raised a fault; its successor has no words yet.
pub(crate) const FAULTED: i64 = 1;
/// Note: an action with choices raised a fault; the interpreter must compute its outcomes.
pub(crate) const NEEDS_INTERPRETER: i64 = 2;
/// Flag of the single placeholder successor of such an action.
pub(crate) const PLACEHOLDER: u32 = 1;
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
    pub(crate) transition: Value,
    /// Address of the notes for the caller.
    pub(crate) notes: Value,
}

impl<'a, 'f> SuccessorEmitter<'_, 'a, 'f> {
    /// Emits all actions; the code returns the end of the transition infos that it has written. `calls` are the functions
    /// that were compiled separately.
    pub(crate) fn emit_all(
        &mut self,
        plan: &codegen_plan::CodegenPlan,
        calls: &mut impl Iterator<Item = FuncRef>,
    ) {
        let done = self.emit.builder.create_block();
        let end = self.emit.builder.append_block_param(done, I64);
        if self.emit.model_ranges.has_committed() {
            let (uncommitted, committed) =
                (self.emit.builder.create_block(), self.emit.builder.create_block());
            let is_committed = self.emit.emit_is_committed(&ConfigView::new(self.source));
            self.emit.branch_if(is_committed, committed.into(), uncommitted.into());
            let start = (self.words, self.transition);
            self.emit.builder.switch_to_block(committed);
            self.emit_ranks(&plan.committed, done, calls);
            (self.words, self.transition) = start;
            self.emit.builder.switch_to_block(uncommitted);
        }
        self.emit_ranks(&plan.uncommitted, done, calls);
        self.emit.builder.switch_to_block(done);
        self.emit.builder.ins().return_(&[end]);
    }

    /// Emits the ranks in order; the code stops after the first one with enabled actions.
    fn emit_ranks(&mut self, ranks: &[Rank], done: Block, calls: &mut impl Iterator<Item = FuncRef>) {
        for (index, rank) in ranks.iter().enumerate() {
            let is_last = index + 1 == ranks.len();
            let before = self.transition;
            for part in rank {
                match calls.next() {
                    Some(function) => self.emit_call(function),
                    None => self.emit_part(part),
                }
            }
            if !is_last {
                let has_successors = self.emit.builder.ins().icmp(IntCC::NotEqual, self.transition, before);
                let notes = self.emit.builder.ins().load(I64, MEMORY, self.notes, 0);
                let enabled = self.emit.and(notes, ENABLED as u64);
                let is_enabled = self.emit.compare(IntCC::NotEqual, enabled, 0);
                let is_done = self.emit.builder.ins().bor(has_successors, is_enabled);
                let next = self.emit.builder.create_block();
                let end = [BlockArg::from(self.transition)];
                self.emit.branch_if(is_done, Goto { block: done, arguments: &end }, next.into());
                self.emit.builder.switch_to_block(next);
            }
        }
        let end = [BlockArg::from(self.transition)];
        self.emit.jump(Goto { block: done, arguments: &end });
    }

    /// Emits the call of another function for some actions.
    fn emit_call(&mut self, function: FuncRef) {
        let call =
            self.emit.builder.ins().call(function, &[self.source, self.words, self.transition, self.notes]);
        let end = self.emit.builder.inst_results(call)[0];
        // Each successor has 8 bytes of transition info, and 8 bytes for each of its words.
        let written = self.emit.builder.ins().isub(end, self.transition);
        let width = self.emit.constant(self.emit.model_ranges.model.layout().words as i64);
        let offset = self.emit.builder.ins().imul(written, width);
        self.words = self.emit.builder.ins().iadd(self.words, offset);
        self.transition = end;
    }

    /// Emits some actions.
    pub(crate) fn emit_part(&mut self, part: &[ActionRun]) {
        for run in part {
            match run.process {
                None => run.actions.iter().for_each(|action| self.emit_action(*action)),
                Some(process) => self.emit_run(process, run),
            }
        }
    }

    /// Emits the actions of a process; the code evaluates those that leave its current location.
    fn emit_run(&mut self, process: u32, run: &ActionRun) {
        let model = self.emit.model_ranges.model;
        let groups = codegen_plan::group_by_location(model, run);
        let variable = model.parts().processes[process as usize].location;
        let slot = model.layout().slots[variable as usize];
        if slot.width == 0 {
            return groups
                .iter()
                .flat_map(|(_, actions)| actions)
                .for_each(|action| self.emit_action(*action));
        }
        let after = self.emit.builder.create_block();
        let end = [(); 2].map(|()| self.emit.builder.append_block_param(after, I64));
        let no_actions = self.emit.builder.create_block();
        let (word, bit) = slot.at(0);
        let word = ConfigView::new(self.source).word(self.emit, word as u32);
        let shifted = self.emit.shift_right(word, bit);
        let location = self.emit.and(shifted, slot.mask());
        let mut switch = Switch::new();
        let blocks: Vec<_> = groups.iter().map(|_| self.emit.builder.create_block()).collect();
        for ((location, _), block) in groups.iter().zip(&blocks) {
            switch.set_entry(u128::from(*location), *block);
        }
        switch.emit(&mut self.emit.builder, location, no_actions);
        let start = (self.words, self.transition);
        for ((_, actions), block) in groups.iter().zip(blocks) {
            (self.words, self.transition) = start;
            self.emit.builder.switch_to_block(block);
            actions.iter().for_each(|action| self.emit_action(*action));
            let arguments = self.block_arguments();
            self.emit.jump(Goto { block: after, arguments: &arguments });
        }
        (self.words, self.transition) = start;
        self.emit.builder.switch_to_block(no_actions);
        let arguments = self.block_arguments();
        self.emit.jump(Goto { block: after, arguments: &arguments });
        self.emit.builder.switch_to_block(after);
        [self.words, self.transition] = end;
    }

    /// Arguments of a jump that passes on where the next successor is written.
    fn block_arguments(&self) -> [BlockArg; 2] {
        [self.words.into(), self.transition.into()]
    }

    /// Emits an action. The code runs only if its first process is at its source location.
    fn emit_action(&mut self, id: ActionId) {
        let model = self.emit.model_ranges.model;
        let action = model.action(id);
        let after = self.emit.builder.create_block();
        let end = [(); 2].map(|()| self.emit.builder.append_block_param(after, I64));
        self.emit.fault = self.emit.builder.create_block();
        self.emit.builder.set_cold_block(self.emit.fault);
        self.emit.can_fault = false;
        let start = self.block_arguments();
        let if_disabled = Goto { block: after, arguments: &start };

        self.emit_guard(action, if_disabled);
        let view = ConfigView::new(self.source);
        if model.ranks().len() > 1 && action.effect.iter().any(may_require) {
            self.emit_note(ENABLED);
        }
        if effect::has_duplicates(self.emit.model_ranges, action) {
            self.emit_note(DUPLICATES);
        }
        let [words, transition] = [self.words, self.transition];
        self.emit_outcomes(id, &action.effect, view, if_disabled);

        if self.emit.can_fault {
            self.emit.builder.switch_to_block(self.emit.fault);
            [self.words, self.transition] = [words, transition];
            if effect::outcome_count(action) > 1 {
                self.emit_note(NEEDS_INTERPRETER);
                self.emit_transition(id, FAULT | PLACEHOLDER);
            } else {
                self.emit_note(FAULTED);
                self.emit_transition(id, FAULT);
            }
            let arguments = self.block_arguments();
            self.emit.jump(Goto { block: after, arguments: &arguments });
        }
        self.emit.builder.switch_to_block(after);
        [self.words, self.transition] = end;
    }

    /// Emits jumps to `if_disabled` unless the other processes are at their source locations and the guard is true.
    fn emit_guard(&mut self, action: &Action, if_disabled: Goto<'_>) {
        let view = ConfigView::new(self.source);
        let mut conditions =
            self.emit.emit_location_checks(&action.moves[1.min(action.moves.len())..], &view);
        let is_simple =
            self.emit.model_ranges.simple_range(&action.guard).is_some_and(|range| range.truth().is_none());
        let is_inlined = is_simple && !conditions.is_empty();
        if is_inlined {
            conditions.push(self.emit.emit_truth(&action.guard, Step::at(&view)));
        }
        let all_true = conditions.into_iter().reduce(|a, b| self.emit.builder.ins().band(a, b));
        if let Some(condition) = all_true {
            self.emit.jump_unless(condition, if_disabled);
        }
        if !is_inlined {
            self.emit.emit_require(&action.guard, Step::at(&view), if_disabled);
        }
    }

    /// Emits the rest of an effect and the writing of its successors; ends in a jump.
    fn emit_outcomes(
        &mut self,
        id: ActionId,
        statements: &[Statement],
        view: ConfigView,
        if_disabled: Goto<'_>,
    ) {
        let mut view = view;
        for (index, statement) in statements.iter().enumerate() {
            let Statement::Choose { place, low, high } = statement else {
                self.emit.emit_statement(statement, &mut view, if_disabled);
                continue;
            };
            if low == high {
                let only = self.emit.number(*low);
                self.emit.emit_assign(place, only, false, &mut view);
                continue;
            }
            let (source, notes) = (self.source, self.notes);
            let state = [self.words, self.transition];
            let end = effect::emit_choice_loop(
                self.emit,
                (*low, *high),
                state,
                |emit, value, [words, transition], next| {
                    emit.emit_assign(place, value, false, &mut view);
                    let mut inner = SuccessorEmitter { emit, source, words, transition, notes };
                    let arguments = inner.block_arguments();
                    inner.emit_outcomes(
                        id,
                        &statements[index + 1..],
                        view,
                        Goto { block: next, arguments: &arguments },
                    );
                },
            );
            let arguments = end.map(BlockArg::from);
            return self.emit.jump(Goto { block: if_disabled.block, arguments: &arguments });
        }
        self.emit_outcome(id, view, if_disabled);
    }

    /// Emits the moves of the processes and the writing of the successor.
    fn emit_outcome(&mut self, id: ActionId, view: ConfigView, if_disabled: Goto<'_>) {
        let model = self.emit.model_ranges.model;
        let action = model.action(id);
        let mut view = view;
        let mut location_changes: BTreeMap<u32, u64> = BTreeMap::new();
        for movement in &action.moves {
            let location = model.parts().processes[movement.process as usize].location;
            let slot = model.layout().slots[location as usize];
            let (word, bit) = slot.at(0);
            if slot.width == 0 {
                continue;
            }
            if action.effect.iter().any(|statement| effect::writes(statement, location)) {
                let target = self.emit.number(i64::from(movement.to));
                view.write(self.emit, location, BitPosition::Fixed(word as u32, bit), target);
            } else {
                // The location variable still has the source location.
                *location_changes.entry(word as u32).or_default() ^=
                    u64::from(movement.from ^ movement.to) << bit;
            }
        }
        for (word_index, bits) in location_changes.into_iter().filter(|(_, bits)| *bits != 0) {
            let word = view.word(self.emit, word_index);
            let bits = self.emit.constant(bits as i64);
            let word = self.emit.builder.ins().bxor(word, bits);
            view.set(word_index, word);
        }
        view.store(self.emit, self.words);
        self.emit_transition(id, 0);
        let arguments = self.block_arguments();
        self.emit.jump(Goto { block: if_disabled.block, arguments: &arguments });
    }

    /// Emits the transition info of the successor and advances to the next one.
    fn emit_transition(&mut self, id: ActionId, flags: u32) {
        let [a, b, c, d] = id.to_ne_bytes();
        let [e, f, g, h] = flags.to_ne_bytes();
        let info = self.emit.constant(i64::from_ne_bytes([a, b, c, d, e, f, g, h]));
        self.emit.builder.ins().store(MEMORY, info, self.transition, 0);
        let width = self.emit.model_ranges.model.layout().words as i64;
        self.words = self.emit.add(self.words, width * 8);
        self.transition = self.emit.add(self.transition, 8);
    }

    /// Emits code that sets a note for the caller.
    fn emit_note(&mut self, note: i64) {
        let notes = self.emit.builder.ins().load(I64, MEMORY, self.notes, 0);
        let note = self.emit.constant(note);
        let notes = self.emit.builder.ins().bor(notes, note);
        self.emit.builder.ins().store(MEMORY, notes, self.notes, 0);
    }
}

/// Whether a statement contains a `Require`, which may leave an enabled action without an outcome.
fn may_require(statement: &Statement) -> bool {
    match statement {
        Statement::Require(_) => true,
        Statement::If { then, otherwise, .. } => then.iter().chain(otherwise).any(may_require),
        _ => false,
    }
}
