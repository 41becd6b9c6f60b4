//! Traversal of definitions without recursion, because scripts may be nested deeply.

use super::ids::{ExprId, OccurrenceId};
use super::script_def::{Expr, Occurrence, ScriptDef};
use alloc::vec::Vec;

/// An expression or an event expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Expr(ExprId),
    Event(OccurrenceId),
}

/// Memory for traversals.
#[derive(Default)]
pub(super) struct Walk {
    exprs: Vec<u32>,
    occurrences: Vec<u32>,
    /// The number of the traversal; nodes marked with it have been visited.
    walk: u32,
    stack: Vec<(Node, bool)>,
    nodes: Vec<Node>,
}

impl Walk {
    /// The nodes below and including the root, each once, operands first. Leaves are not entered.
    pub(super) fn postorder(
        &mut self,
        script: &ScriptDef,
        root: Node,
        leaf: impl Fn(Node) -> bool,
    ) -> &[Node] {
        self.exprs.resize(script.exprs.len(), 0);
        self.occurrences.resize(script.occurrences.len(), 0);
        self.walk += 1;
        self.nodes.clear();
        self.stack.push((root, false));
        while let Some((node, expanded)) = self.stack.pop() {
            let mark = match node {
                Node::Expr(id) => &mut self.exprs[id.at()],
                Node::Event(id) => &mut self.occurrences[id.at()],
            };
            if *mark == self.walk {
                continue;
            }
            if expanded || leaf(node) {
                *mark = self.walk;
                self.nodes.push(node);
                continue;
            }
            self.stack.push((node, true));
            self.stack.extend(children(script, node).into_iter().rev().flatten().map(|child| (child, false)));
        }
        &self.nodes
    }
}

/// The operands of a node, in the order of the script.
pub(super) fn children(script: &ScriptDef, node: Node) -> [Option<Node>; 3] {
    let (expr, event) = (|id| Some(Node::Expr(id)), |id| Some(Node::Event(id)));
    match node {
        Node::Expr(id) => match script.exprs[id.at()].0 {
            Expr::Unary(_, a) | Expr::Cast(a) | Expr::Defined(a) => [expr(a), None, None],
            Expr::Binary(_, a, b) => [expr(a), expr(b), None],
            Expr::Choose(a, b, c) => [expr(a), expr(b), expr(c)],
            Expr::Interval(a, b) => [event(a), event(b), None],
            Expr::Time(a) | Expr::Value(a, _) => [event(a), None, None],
            Expr::Undefined
            | Expr::Constant(_)
            | Expr::Variable(_)
            | Expr::Auxiliary { .. }
            | Expr::Now
            | Expr::Condition(_)
            | Expr::Inside(_) => [None; 3],
        },
        Node::Event(id) => match script.occurrences[id.at()].0 {
            Occurrence::Start(a) | Occurrence::End(a) => [expr(a), None, None],
            Occurrence::Both(a, b) | Occurrence::Either(a, b) => [event(a), event(b), None],
            Occurrence::When(a, b) => [event(a), expr(b), None],
            Occurrence::Named(_)
            | Occurrence::Update(_)
            | Occurrence::StartMethod(_)
            | Occurrence::EndMethod(_)
            | Occurrence::BoundaryMethod(_) => [None; 3],
        },
    }
}
