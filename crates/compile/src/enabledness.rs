//! Code for locations of processes and enabledness of actions.

use crate::config_view::{BitPosition, ConfigView};
use crate::function_emitter::{FunctionEmitter, Goto};
use crate::ranges::ModelRanges;
use crate::value::Step;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I8;
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_model::{ActionId, Move};
use std::collections::BTreeMap;

impl ModelRanges<'_> {
    /// Whether a process has a committed location.
    pub(crate) fn has_committed(&self) -> bool {
        let processes = &self.model.parts().processes;
        processes.iter().flat_map(|process| &process.locations).any(|location| location.is_committed)
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits the test whether some process is at a committed location.
    pub(crate) fn emit_is_committed(&mut self, view: &ConfigView) -> Value {
        let model = self.model_ranges.model;
        let mut any = self.builder.ins().iconst(I8, 0);
        for process in &model.parts().processes {
            let locations = (0..).zip(&process.locations);
            let committed: Vec<i64> =
                locations.filter(|(_, location)| location.is_committed).map(|(index, _)| index).collect();
            if committed.is_empty() {
                continue;
            }
            let slot = model.layout().slots[process.location as usize];
            let position = match slot.width {
                0 => BitPosition::NoBits,
                _ => BitPosition::Fixed(slot.at(0).0 as u32, slot.at(0).1),
            };
            let location = view.read(self, process.location, position).value;
            for run in committed.chunk_by(|a, b| a + 1 == *b) {
                let distance = self.add(location, -run[0]);
                let is_in_run = self.compare(IntCC::UnsignedLessThan, distance, run.len() as i64);
                any = self.builder.ins().bor(any, is_in_run);
            }
        }
        any
    }

    /// Emits conditions that are all true if every process is at its source location. Locations in the same word are
    /// compared together.
    pub(crate) fn emit_location_checks(&mut self, moves: &[Move], view: &ConfigView) -> Vec<Value> {
        let model = self.model_ranges.model;
        let mut expected: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for movement in moves {
            let slot =
                model.layout().slots[model.parts().processes[movement.process as usize].location as usize];
            let (word, bit) = slot.at(0);
            let (mask, bits) = expected.entry(word as u32).or_default();
            *mask |= slot.mask() << bit;
            *bits |= u64::from(movement.from) << bit;
        }
        let mut conditions = Vec::new();
        for (word, (mask, bits)) in expected {
            let word = view.word(self, word);
            let masked = self.and(word, mask);
            conditions.push(self.compare(IntCC::Equal, masked, bits as i64));
        }
        conditions
    }

    /// Emits the test whether one of some actions is enabled, in a model without priorities. An action whose guard raises
    /// a fault counts as enabled.
    pub(crate) fn emit_enabled(&mut self, actions: &[ActionId], view: &ConfigView) -> Value {
        let model = self.model_ranges.model;
        let after = self.builder.create_block();
        let truth = self.builder.append_block_param(after, I8);
        let (yes, no) = (self.builder.ins().iconst(I8, 1), self.builder.ins().iconst(I8, 0));
        let is_uncommitted = self.model_ranges.has_committed().then(|| {
            let (is_committed, one) = (self.emit_is_committed(view), self.builder.ins().iconst(I8, 1));
            self.builder.ins().bxor(is_committed, one)
        });
        let hit = self.builder.create_block();
        let saved = (core::mem::replace(&mut self.fault, hit), self.can_fault);
        for &action in actions {
            let next = self.builder.create_block();
            let declaration = model.action(action);
            let mut conditions = self.emit_location_checks(&declaration.moves, view);
            conditions.extend(is_uncommitted.filter(|_| !model.is_from_committed(action)));
            for condition in conditions {
                self.jump_unless(condition, next.into());
            }
            self.emit_branch(&declaration.guard, Step::at(view), hit.into(), next.into());
            self.builder.switch_to_block(next);
        }
        (self.fault, self.can_fault) = saved;
        self.jump(Goto { block: after, arguments: &[no.into()] });
        self.builder.switch_to_block(hit);
        self.jump(Goto { block: after, arguments: &[yes.into()] });
        self.builder.switch_to_block(after);
        truth
    }
}
