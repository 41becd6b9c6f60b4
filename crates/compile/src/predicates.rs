//! Code for predicates over steps: bad predicates, and labels of automata.

use crate::config_view::ConfigView;
use crate::function_emitter::{FunctionEmitter, Goto, MEMORY};
use crate::value::Step;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_explore::BAD;
use invigil_model::{Expression, Model};

/// Maximum number of actions whose enabledness a compiled predicate may test, because their guards are inlined.
const MAX_ENABLED_ACTIONS: usize = 64;

/// Whether a predicate is compiled. If it tests enabledness in a model with priorities, or of too many actions, it is
/// interpreted.
pub(crate) fn is_compiled(model: &Model, predicate: &Expression) -> bool {
    let mut tested = 0;
    predicate.visit(&mut |nested| {
        if let Expression::Enabled(actions) = nested {
            tested += actions.len();
        }
    });
    tested == 0 || (tested <= MAX_ENABLED_ACTIONS && model.ranks().len() <= 1)
}

/// Emits code that marks the successors for which a predicate holds or raises a fault; there must be at least one.
///
/// The parameters are addresses: the source, the words of the first successor, its transition info, and the end of
/// the transition infos.
pub(crate) fn emit_bad_marker(emit: &mut FunctionEmitter<'_, '_>, parameters: &[Value], bad: &[&Expression]) {
    let [source, words, transitions, end] = parameters else { return };
    let [head, test, hit, next, done] = [(); 5].map(|()| emit.builder.create_block());
    let [target_words, entry] = [(); 2].map(|()| emit.builder.append_block_param(head, I64));
    emit.jump(Goto { block: head, arguments: &[(*words).into(), (*transitions).into()] });

    emit.builder.switch_to_block(head);
    let flags = emit.builder.ins().load(I32, MEMORY, entry, 4);
    emit.branch_if(flags, next.into(), test.into());

    emit.builder.switch_to_block(test);
    let action = emit.builder.ins().uload32(MEMORY, entry, 0);
    emit.fault = hit;
    let (source, target) = (ConfigView::new(*source), ConfigView::new(target_words));
    for predicate in bad {
        let other = emit.builder.create_block();
        let step = Step { source: &source, action: Some(action), target: &target };
        emit.emit_branch(predicate, step, hit.into(), other.into());
        emit.builder.switch_to_block(other);
    }
    emit.jump(next.into());

    emit.builder.switch_to_block(hit);
    let flags = emit.builder.ins().iconst(I32, i64::from(BAD));
    emit.builder.ins().store(MEMORY, flags, entry, 4);
    emit.jump(next.into());

    emit.builder.switch_to_block(next);
    let width = emit.model_ranges.model.layout().words as i64;
    let (next_words, entry) = (emit.add(target_words, width * 8), emit.add(entry, 8));
    let is_done = emit.builder.ins().icmp(IntCC::Equal, entry, *end);
    emit.branch_if(is_done, done.into(), Goto { block: head, arguments: &[next_words.into(), entry.into()] });

    emit.builder.switch_to_block(done);
    let zero = emit.constant(0);
    emit.builder.ins().return_(&[zero]);
}

/// Emits code that returns one bit for each label that holds, or only the highest bit if one of them raises a fault.
/// There are at most 63 labels.
///
/// The parameters are the source, the target, and the index of the action.
pub(crate) fn emit_labels(emit: &mut FunctionEmitter<'_, '_>, parameters: &[Value], labels: &[&Expression]) {
    let [source, target, action] = parameters else { return };
    let (source, target) = (ConfigView::new(*source), ConfigView::new(*target));
    let mut all = emit.constant(0);
    for (index, label) in (0..).zip(labels) {
        let truth = emit.emit_truth(label, Step { source: &source, action: Some(*action), target: &target });
        let bit = emit.builder.ins().uextend(I64, truth);
        let bit = emit.shift_left(bit, index);
        all = emit.builder.ins().bor(all, bit);
    }
    emit.builder.ins().return_(&[all]);
    if emit.can_fault {
        emit.builder.switch_to_block(emit.fault);
        emit.builder.set_cold_block(emit.fault);
        let fault = emit.constant(i64::MIN);
        emit.builder.ins().return_(&[fault]);
    }
}
