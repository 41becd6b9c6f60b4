//! The order in which definitions are made: what is named comes before what names it.

use super::ast::{Expr, Kind, Name};
use invigil_expr::diag::Diagnostic;
use std::collections::HashMap;

/// What a definition needs before it can be made.
pub(crate) type Needs = Vec<Vec<usize>>;

/// The numbers of all that is needed, before what needs it; or the numbers of a circle, in the order of the naming.
///
/// `needs[n]` are those that `n` names.
pub(crate) fn order(needs: &Needs) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; needs.len()];
    let mut done = Vec::with_capacity(needs.len());
    for root in 0..needs.len() {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::Open;
        // Each with how many of its needs have been looked at.
        let mut path = vec![(root, 0)];
        while let Some((at, looked)) = path.last_mut() {
            let at = *at;
            match needs[at].get(*looked) {
                Some(&next) => {
                    *looked += 1;
                    match marks[next] {
                        Mark::New => {
                            marks[next] = Mark::Open;
                            path.push((next, 0));
                        }
                        Mark::Open => {
                            let circle = path.iter().map(|(at, _)| *at).skip_while(|at| *at != next);
                            return Err(circle.collect());
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

/// The definitions that an expression names, by their numbers.
pub(crate) fn named<'a>(
    expr: &'a Expr,
    numbers: &'a HashMap<&str, usize>,
) -> impl Iterator<Item = usize> + 'a {
    expr.nodes.iter().filter_map(|node| match &node.kind {
        Kind::Path(path) => numbers.get(path.as_name()?).copied(),
        _ => None,
    })
}

/// Complains about definitions that need each other.
pub(crate) fn circular(circle: &[Name]) -> Diagnostic {
    const MOST: usize = 5;
    let Some(first) = circle.first() else {
        return Diagnostic::error(Default::default(), "a circle of definitions");
    };
    let mut way: Vec<String> = circle.iter().chain([first]).map(|name| format!("`{}`", name.text)).collect();
    if way.len() > 2 * MOST {
        way.splice(MOST..way.len() - MOST, ["…".to_owned()]);
    }
    let message = match circle {
        [_] => format!("`{}` is defined by itself", first.text),
        _ => format!("these definitions need each other: {}", way.join(" → ")),
    };
    let problem = Diagnostic::error(first.span, message).label("needs itself");
    let others = circle.iter().skip(1).take(MOST);
    let problem = others.fold(problem, |problem, name| problem.related(name.span, "is on the way"));
    problem.help("an auxiliary variable of MEDL can carry a value from one instant to the next")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_come_first() {
        assert_eq!(order(&vec![vec![2, 1], vec![2], vec![]]), Ok(vec![2, 1, 0]));
        assert_eq!(order(&vec![vec![1], vec![2, 3], vec![], vec![1]]), Err(vec![1, 3]));
        assert_eq!(order(&vec![vec![0]]), Err(vec![0]));
        let long: Needs = (0..100_000).map(|at| if at < 99_999 { vec![at + 1] } else { vec![] }).collect();
        assert_eq!(order(&long).unwrap()[0], 99_999);
    }
}
