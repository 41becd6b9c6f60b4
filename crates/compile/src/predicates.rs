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
const MOST_ENABLED: usize = 64;

/// Whether a predicate is compiled. If it tests enabledness in a model with priorities, or of too many actions, it is
/// interpreted.
pub(crate) fn is_compiled(model: &Model, predicate: &Expression) -> bool {
    let mut looks = 0;
    predicate.visit(&mut |inside| {
        if let Expression::Enabled(actions) = inside {
            looks += actions.len();
        }
    });
    looks == 0 || (looks <= MOST_ENABLED && model.ranks().len() <= 1)
}

/// Code that marks the successors for which a predicate holds or raises a fault; there must be at least one.
///
/// The parameters are the source, the words of the first successor, its transition info, and the end of the latter.
pub(crate) fn judge(emit: &mut FunctionEmitter<'_, '_>, parameters: &[Value], bad: &[&Expression]) {
    let [source, words, taken, end] = parameters else { return };
    let [head, look, hit, next, done] = [(); 5].map(|()| emit.to.create_block());
    let [at, entry] = [(); 2].map(|()| emit.to.append_block_param(head, I64));
    emit.jump(Goto { block: head, with: &[(*words).into(), (*taken).into()] });

    emit.to.switch_to_block(head);
    let flags = emit.to.ins().load(I32, MEMORY, entry, 4);
    emit.split(flags, next.into(), look.into());

    emit.to.switch_to_block(look);
    let action = emit.to.ins().uload32(MEMORY, entry, 0);
    emit.fault = hit;
    let (source, target) = (ConfigView::new(*source), ConfigView::new(at));
    for predicate in bad {
        let on = emit.to.create_block();
        let step = Step { source: &source, action: Some(action), target: &target };
        emit.branch(predicate, step, hit.into(), on.into());
        emit.to.switch_to_block(on);
    }
    emit.jump(next.into());

    emit.to.switch_to_block(hit);
    let flags = emit.to.ins().iconst(I32, i64::from(BAD));
    emit.to.ins().store(MEMORY, flags, entry, 4);
    emit.jump(next.into());

    emit.to.switch_to_block(next);
    let width = emit.model_ranges.model.layout().words as i64;
    let (later, entry) = (emit.add(at, width * 8), emit.add(entry, 8));
    let is_over = emit.to.ins().icmp(IntCC::Equal, entry, *end);
    emit.split(is_over, done.into(), Goto { block: head, with: &[later.into(), entry.into()] });

    emit.to.switch_to_block(done);
    let zero = emit.constant(0);
    emit.to.ins().return_(&[zero]);
}

/// Code that returns one bit for each of at most 63 labels that hold; only the highest bit if one of them raises a
/// fault.
///
/// The parameters are the source, the target, and the index of the action.
pub(crate) fn labels(emit: &mut FunctionEmitter<'_, '_>, parameters: &[Value], labels: &[&Expression]) {
    let [source, target, action] = parameters else { return };
    let (source, target) = (ConfigView::new(*source), ConfigView::new(*target));
    let mut all = emit.constant(0);
    for (at, label) in (0..).zip(labels) {
        let truth = emit.truth(label, Step { source: &source, action: Some(*action), target: &target });
        let bit = emit.to.ins().uextend(I64, truth);
        let bit = emit.up(bit, at);
        all = emit.to.ins().bor(all, bit);
    }
    emit.to.ins().return_(&[all]);
    if emit.can_fault {
        emit.to.switch_to_block(emit.fault);
        emit.to.set_cold_block(emit.fault);
        let wrong = emit.constant(i64::MIN);
        emit.to.ins().return_(&[wrong]);
    }
}
