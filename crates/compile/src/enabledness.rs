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
    /// Whether some process is at a committed location.
    pub(crate) fn is_committed(&mut self, view: &ConfigView) -> Value {
        let model = self.model_ranges.model;
        let mut any = self.to.ins().iconst(I8, 0);
        for process in &model.parts().processes {
            let locations = (0..).zip(&process.locations);
            let committed: Vec<i64> =
                locations.filter(|(_, location)| location.is_committed).map(|(at, _)| at).collect();
            if committed.is_empty() {
                continue;
            }
            let slot = model.layout().slots[process.location as usize];
            let spot = match slot.width {
                0 => BitPosition::Nowhere,
                _ => BitPosition::Fixed(slot.at(0).0 as u32, slot.at(0).1),
            };
            let at = view.read(self, process.location, spot).value;
            for run in committed.chunk_by(|a, b| a + 1 == *b) {
                let distance = self.add(at, -run[0]);
                let is_one = self.compare(IntCC::UnsignedLessThan, distance, run.len() as i64);
                any = self.to.ins().bor(any, is_one);
            }
        }
        any
    }

    /// Conditions that are all true if every process is at its source location. Locations in the same word are compared
    /// together.
    pub(crate) fn is_there(&mut self, moves: &[Move], view: &ConfigView) -> Vec<Value> {
        let model = self.model_ranges.model;
        let mut there: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for by in moves {
            let slot = model.layout().slots[model.parts().processes[by.process as usize].location as usize];
            let (word, bit) = slot.at(0);
            let (mask, bits) = there.entry(word as u32).or_default();
            *mask |= slot.mask() << bit;
            *bits |= u64::from(by.from) << bit;
        }
        let mut conditions = Vec::new();
        for (word, (mask, bits)) in there {
            let word = view.word(self, word);
            let masked = self.and(word, mask);
            conditions.push(self.compare(IntCC::Equal, masked, bits as i64));
        }
        conditions
    }

    /// Whether one of some actions is enabled, in a model without priorities. An action whose guard raises a fault is
    /// enabled.
    pub(crate) fn enabled(&mut self, actions: &[ActionId], view: &ConfigView) -> Value {
        let model = self.model_ranges.model;
        let after = self.to.create_block();
        let truth = self.to.append_block_param(after, I8);
        let (yes, no) = (self.to.ins().iconst(I8, 1), self.to.ins().iconst(I8, 0));
        let is_calm = self.model_ranges.has_committed().then(|| {
            let (is_committed, one) = (self.is_committed(view), self.to.ins().iconst(I8, 1));
            self.to.ins().bxor(is_committed, one)
        });
        let hit = self.to.create_block();
        let outside = (core::mem::replace(&mut self.fault, hit), self.can_fault);
        for &action in actions {
            let on = self.to.create_block();
            let by = model.action(action);
            let mut conditions = self.is_there(&by.moves, view);
            conditions.extend(is_calm.filter(|_| !model.is_from_committed(action)));
            for condition in conditions {
                self.unless(condition, on.into());
            }
            self.branch(&by.guard, Step::at(view), hit.into(), on.into());
            self.to.switch_to_block(on);
        }
        (self.fault, self.can_fault) = outside;
        self.jump(Goto { block: after, with: &[no.into()] });
        self.to.switch_to_block(hit);
        self.jump(Goto { block: after, with: &[yes.into()] });
        self.to.switch_to_block(after);
        truth
    }
}
