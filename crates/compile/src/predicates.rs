//! Predicates over steps as code: what must not be reached, and the labels of automata.

use crate::emit::{Emit, Goto, MEMORY};
use crate::value::Step;
use crate::view::View;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_explore::BAD;
use invigil_model::{Expression, Model};

/// How many actions a compiled predicate may ask for whether they are enabled: their guards become part of it.
const MOST_ENABLED: usize = 64;

/// Whether code is generated for a predicate. What looks at enabled actions where there are priorities, or at very
/// many of them, is left to the interpreter.
pub(crate) fn is_compiled(model: &Model, predicate: &Expression) -> bool {
    let mut looks = 0;
    predicate.visit(&mut |inside| {
        if let Expression::Enabled(actions) = inside {
            looks += actions.len();
        }
    });
    looks == 0 || (looks <= MOST_ENABLED && model.ranks().len() <= 1)
}

/// Looks at successors of a source, at least one, and flags those for which a predicate holds or goes wrong.
///
/// The parameters are the source, the words of the first successor, how it is reached, and the end of that.
pub(crate) fn judge(emit: &mut Emit<'_, '_>, parameters: &[Value], bad: &[&Expression]) {
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
    let (source, target) = (View::new(*source), View::new(at));
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
    let width = emit.known.model.layout().words as i64;
    let (later, entry) = (emit.add(at, width * 8), emit.add(entry, 8));
    let is_over = emit.to.ins().icmp(IntCC::Equal, entry, *end);
    emit.split(is_over, done.into(), Goto { block: head, with: &[later.into(), entry.into()] });

    emit.to.switch_to_block(done);
    let zero = emit.constant(0);
    emit.to.ins().return_(&[zero]);
}

/// Gives a bit for each of at most 63 labels that holds; the highest bit alone if one of them goes wrong.
///
/// The parameters are the source, the target, and the number of the action.
pub(crate) fn labels(emit: &mut Emit<'_, '_>, parameters: &[Value], labels: &[&Expression]) {
    let [source, target, action] = parameters else { return };
    let (source, target) = (View::new(*source), View::new(*target));
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
