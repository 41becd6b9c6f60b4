//! Topological order of definitions.

use super::ast::{Expr, Name, NodeKind};
use invigil_expr::diag::Diagnostic;
use std::collections::HashMap;

/// For each definition, the ones that it refers to.
pub(crate) type Dependencies = Vec<Vec<usize>>;

/// Returns all definitions in dependency order; as an error, the definitions of a cycle in order of reference.
///
/// `dependencies[n]` lists the definitions that `n` refers to.
pub(crate) fn order(dependencies: &Dependencies) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; dependencies.len()];
    let mut done = Vec::with_capacity(dependencies.len());
    for root in 0..dependencies.len() {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        // Each with the number of its dependencies already visited.
        let mut path = vec![(root, 0)];
        while let Some((at, visited)) = path.last_mut() {
            let at = *at;
            match dependencies[at].get(*visited) {
                Some(&next) => {
                    *visited += 1;
                    match marks[next] {
                        Mark::New => {
                            marks[next] = Mark::Open;
                            path.push((next, 0));
                        }
                        Mark::Open => {
                            let cycle = path.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                            return Err(cycle.collect());
                        }
                        Mark::Done => {}
                    }
                }
                None => {
                    marks[at] = Mark::Done;
                    done.push(at);
                    path.pop();
                }
            }
        }
    }
    Ok(done)
}

/// The definitions that an expression refers to.
pub(crate) fn references<'a>(
    expr: &'a Expr,
    numbers: &'a HashMap<&str, usize>,
) -> impl Iterator<Item = usize> + 'a {
    expr.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Path(path) => numbers.get(path.as_name()?).copied(),
        _ => None,
    })
}

/// The diagnostic for a cycle of definitions.
pub(crate) fn cycle_diagnostic(cycle: &[Name]) -> Diagnostic {
    const MAX_SHOWN: usize = 5;
    let Some(first) = cycle.first() else {
        return Diagnostic::error(Default::default(), "cyclic definitions");
    };
    let mut names: Vec<String> = cycle.iter().chain([first]).map(|name| format!("`{}`", name.text)).collect();
    if names.len() > 2 * MAX_SHOWN {
        names.splice(MAX_SHOWN..names.len() - MAX_SHOWN, ["…".to_owned()]);
    }
    let message = match cycle {
        [_] => format!("`{}` is defined in terms of itself", first.text),
        _ => format!("these definitions depend on each other: {}", names.join(" → ")),
    };
    let diagnostic = Diagnostic::error(first.span, message).label("depends on itself");
    let others = cycle.iter().skip(1).take(MAX_SHOWN);
    let diagnostic =
        others.fold(diagnostic, |diagnostic, name| diagnostic.related(name.span, "part of the cycle"));
    diagnostic.help("break the cycle with an auxiliary variable of MEDL, which keeps a value from one instant to the next")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_precede_dependents() {
        assert_eq!(order(&vec![vec![2, 1], vec![2], vec![]]), Ok(vec![2, 1, 0]));
        assert_eq!(order(&vec![vec![1], vec![2, 3], vec![], vec![1]]), Err(vec![1, 3]));
        assert_eq!(order(&vec![vec![0]]), Err(vec![0]));
        let long: Dependencies =
            (0..100_000).map(|at| if at < 99_999 { vec![at + 1] } else { vec![] }).collect();
        assert_eq!(order(&long).unwrap()[0], 99_999);
    }
}
