//! What is said of decentralized specifications with mistakes, and where; and that no text is too much.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::{decent, report};
use invigil_ltl::Budget;

/// What is said of a file: when it is read, or else when its monitors are made.
fn problems(text: &str) -> Vec<Diagnostic> {
    let (loaded, problems) = decent::load(SourceId(0), text);
    match loaded {
        Some(loaded) => loaded.network(Budget::default()).err().unwrap_or_default(),
        None => problems,
    }
}

fn caret<'a>(text: &'a str, problem: &Diagnostic) -> &'a str {
    &text[problem.span.start as usize..problem.span.end as usize]
}

#[test]
fn mistakes_say_what_and_where() {
    const HOUSE: &str = "component hall: door, bell\ncomponent cellar: light\n";
    for (text, message, place, help) in [
        ("m @ hal = F door", "there is no component `hal`", "hal", "did you mean `hall`?"),
        ("m = F dor", "no component observes `dor`", "dor", "did you mean `door`?"),
        ("m = F @n\nm2 = door", "there is no monitor `n`", "@n", "did you mean `m`?"),
        ("m = F @m", "`m` refers to itself", "@m", "a monitor can only refer to others"),
        (
            "m @ hall = door & light",
            "`m` is on hall, but `light` is observed by cellar",
            "light",
            "write a monitor for it, `m_light @ cellar = light`, and refer to it as `@m_light`",
        ),
        ("m = G(door -> )", "expected a formula, found `)`", ")", ""),
        ("m = ", "expected a formula, found the end", "", ""),
        (
            "m @ = door",
            "expected the name of a component, found `=`",
            "=",
            "write: name @ component = formula",
        ),
        ("m door", "expected `=`, found `door`", "door", "write: name @ component = formula"),
        ("componnt x: y", "expected `=`, found `x`", "componnt", "did you mean `component`?"),
        ("= door", "expected a statement, found `=`", "=", "write: name @ component = formula"),
        (
            "component: door",
            "expected the name of the component, found `:`",
            ":",
            "write: component name: proposition, proposition",
        ),
        (
            "component attic door",
            "expected `:` and what it observes, found `door`",
            "door",
            "write: component name: proposition, proposition",
        ),
        (
            "component attic: a b\nm = a",
            "expected `,` or the end of the line, found `b`",
            "b",
            "write: component name: proposition, proposition",
        ),
        (
            "component attic: light\nm = light",
            "`light` is observed by both cellar and attic",
            "light",
            "a proposition belongs to one component: rename one of them",
        ),
        (
            "component hall: x\nm = door",
            "there are two components `hall`",
            "hall",
            "name all that it observes in one place",
        ),
        ("m = door\nm = bell", "there are two monitors `m`", "m", "rename one of them"),
        ("m = door\nroot n", "there is no monitor `n`", "n", "did you mean `m`?"),
        ("m = door\nroot m\nroot m", "there is another root", "m", "keep one of them"),
        (
            "m = door\nn = bell",
            "nothing refers to `m`, nor to `n`: which is the root?",
            "n",
            "say which it is: root m",
        ),
        (
            "m = door & @n\nn = bell | @m",
            "every monitor is referred to by another: none is plainly the root",
            "",
            "say which it is: root name",
        ),
        ("", "there are no monitors", "", "write: name @ component = formula"),
        (
            "link hall => cellar",
            "expected `->` or `<->`, found `=`",
            "=",
            "write: link one -> other, or in both directions: link one <-> other",
        ),
        ("link hall -> celar\nm = door", "there is no component `celar`", "celar", "did you mean `cellar`?"),
        (
            "link hall -> cellar\nm @ hall = door & @l\nl = light",
            "`m` on hall depends on `l` on cellar, and no link leads from there to here",
            "@l",
            "add a link, or put one of them elsewhere",
        ),
        (
            "m = black box \"x.prop\"",
            "nobody says where the black box `m` runs",
            "m",
            "write: m @ component = black box …",
        ),
        (
            "m @ hall = black box x.prop",
            "expected the file, in quotes, found `x.prop`",
            "x.prop",
            "write: name @ component = black box \"file.prop\"",
        ),
        (
            "m @ hall = black box \"\"",
            "the file of the black box has no name",
            "\"\"",
            "write: name @ component = black box \"file.prop\"",
        ),
        ("m = automaton", "the automaton has no states", "m", "write at least: state start"),
        (
            "m = automaton\n  x when door",
            "expected `state`, found `x`",
            "x",
            "write: state name, or with a final verdict: state name = false",
        ),
        (
            "m = automaton\n  state a\n    b when door\n    a otherwise",
            "there is no state `b`",
            "b",
            "did you mean `a`?",
        ),
        (
            "m = automaton\n  state a\n    a if door",
            "expected `when` or `otherwise`, found `if`",
            "if",
            "write: target when condition, or: target otherwise",
        ),
        (
            "m = automaton\n  state a\n    a when door",
            "the state `a` does not say what is next in every case",
            "m",
            "add an edge: STATE otherwise",
        ),
        (
            "m = automaton\n  state a = maybe",
            "expected `true`, `false` or `?`, found `maybe`",
            "maybe",
            "write: state name, or with a final verdict: state name = false",
        ),
        (
            "m = automaton\n  state a\n    a when F door\n    a otherwise",
            "`F door` speaks of more than one instant",
            "m",
            "an edge is taken for what holds now: use no temporal operators",
        ),
        (
            "template t\n  m = door",
            "expected `(` and the parameters, found the end of the line",
            "",
            "write: template name(parameter, …), and its statements on indented lines below",
        ),
        (
            "template t(x",
            "expected `,` or `)`, found the end of the line",
            "",
            "write: template name(parameter, …), and its statements on indented lines below",
        ),
        (
            "template t(x)\nm = door",
            "the template `t` is empty",
            "t",
            "write its statements on indented lines below",
        ),
        ("use t(1)\nm = door", "there is no template `t`", "t", ""),
        (
            "template t(x)\n  m{x} = door\nuse t(1, 2)\nm = door",
            "the template `t` has 1 parameters, but 2 arguments are given",
            "t",
            "write: use t(x)",
        ),
        (
            "template t(x)\n  m{x} = door\nuse t(1",
            "this parenthesis is not closed",
            "(",
            "write: use name(argument, …)",
        ),
        (
            "template t(x)\n  m{y} = door\nuse t(1)\nm = door",
            "the template has no parameter `y`",
            "{y}",
            "did you mean `x`?",
        ),
        (
            "template t(x)\n  m{x = door\nuse t(1)\nm = door",
            "this brace is not closed",
            "{",
            "a parameter stands in braces: {name}",
        ),
        (
            "template t(x)\n  use t({x})\nuse t(1)\nm = door",
            "the template `t` uses itself: it would never end",
            "t",
            "",
        ),
        (
            "template t(x)\n  m{x} = dor & @n\nuse t(1)\nn = bell",
            "no component observes `dor`",
            "dor",
            "did you mean `door`?",
        ),
        (
            "template t(x, y)\n  m{x}{y} = door\nuse t(0..1, 0..1)\nm = door",
            "only one argument can be a range",
            "0..1",
            "use the template once for each number of the other",
        ),
        (
            "m = \"a < b\"",
            "a monitor speaks of propositions, not of expressions like `a < b`",
            "\"a < b\"",
            "let a component observe it under a name",
        ),
    ] {
        let text = format!("{HOUSE}{text}\n");
        let problems = problems(&text);
        let said: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        let Some(found) = problems.iter().find(|problem| problem.message == message) else {
            panic!("{text}\nexpected {message:?}, found {said:?}")
        };
        assert_eq!((caret(&text, found), found.help.as_deref().unwrap_or_default()), (place, help), "{text}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "component hall: door\nm @ hal = G(door -> )\nn = F dor\nroot x\nlink hall - hall\n";
    let mut sources = Sources::default();
    let file = sources.add("house.dec", text);
    let (loaded, problems) = decent::load(file, text);
    assert!(loaded.is_none());
    let shown = report::render(&sources, &problems, false);
    for said in [
        "expected a formula",
        "did you mean `door`?",
        "there is no monitor `x`",
        "expected `->`",
        "house.dec:3:7",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

/// A mistake in a template is told once, however often it is used.
#[test]
fn a_template_is_read_often_and_told_of_once() {
    let text = "component hall: door\ntemplate t(x)\n  m{x} = dor\nuse t(0..9)\nroot m0\n";
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(caret(text, &problems[0]), "dor");
}

#[test]
fn no_text_is_too_much() {
    let doubling: String = (0..40)
        .map(|at| format!("template t{at}(x)\n  use t{}({{x}}a), t{}({{x}}b)\n", at + 1, at + 1))
        .collect();
    let chain: String = (0..3000).map(|at| format!("m{at} = @m{}\n", at + 1)).collect();
    let circle = format!("component a: p\n{chain}m3000 = p | @m0\nroot m0\n");
    let deep = format!("component a: p\nm = {}p{}\n", "(".repeat(100_000), ")".repeat(100_000));
    let nots = format!("component a: p\nm = {}p\n", "! X ".repeat(20_000));
    for text in [
        format!("{doubling}template t40(x)\n  m{{x}} = p\nuse t0(1)\n"),
        "template t(x)\n  m{x} = p\nuse t(0..18446744073709551615)\n".to_owned(),
        "use t(".repeat(10_000),
        "component a: p\n".repeat(20_000),
        format!("component a: {}\n", "p, ".repeat(100_000)),
        "m = x\n".repeat(50_000),
        circle,
        deep,
        nots,
        "\u{feff}component a: p\nm = p".to_owned(),
        "component a: p\nm = F<=99999999 p\n".to_owned(),
    ] {
        let (loaded, problems) = decent::load(SourceId(0), &text);
        assert!(problems.len() <= 100);
        if let Some(loaded) = loaded {
            let small = Budget { states: 1 << 8, edges: 1 << 10, nodes: 1 << 14, ..Budget::default() };
            let _ = loaded.network(small);
        }
    }
    let many = problems(&"component\n".repeat(1000));
    assert!(many.len() <= 100);
}
