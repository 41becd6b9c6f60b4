//! Operator precedence is that of Java: with minimal parentheses, or with all of them.

use invigil_expr::diag::SourceId;
use invigil_lang::mac::ast::NodeKind;
use invigil_lang::pedl;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Tree {
    Leaf(&'static str),
    Unary(&'static str, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
}

/// The binding power of an operator in Java; implication is weaker than all except the conditional.
fn strength(operator: &str) -> u8 {
    match operator {
        "?" => 0,
        "=>" | "->" => 1,
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "<<" | ">>" | ">>>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => 12,
    }
}

impl Tree {
    fn strength(&self) -> u8 {
        match self {
            Tree::Leaf(_) => 13,
            Tree::Unary(..) => 12,
            Tree::Binary(operator, ..) => strength(operator),
            Tree::Choice(..) => 0,
        }
    }

    fn all_parentheses(&self) -> String {
        match self {
            Tree::Leaf(name) => (*name).to_owned(),
            Tree::Unary(operator, inner) => format!("({operator} {})", inner.all_parentheses()),
            Tree::Binary(operator, a, b) => {
                format!("({} {operator} {})", a.all_parentheses(), b.all_parentheses())
            }
            Tree::Choice(a, b, c) => {
                format!("({} ? {} : {})", a.all_parentheses(), b.all_parentheses(), c.all_parentheses())
            }
        }
    }

    /// Parenthesised only if it binds less tightly than `least`.
    fn few(&self, least: u8) -> String {
        let text = match self {
            Tree::Leaf(name) => (*name).to_owned(),
            Tree::Unary(operator, inner) => format!("{operator}{}", inner.few(12)),
            Tree::Binary(operator @ ("=>" | "->"), a, b) => format!("{}{operator}{}", a.few(2), b.few(1)),
            Tree::Binary(operator, a, b) => {
                let own = strength(operator);
                format!("{} {operator}{}", a.few(own), b.few(own + 1))
            }
            Tree::Choice(a, b, c) => format!("{}?{}:{}", a.few(1), b.few(0), c.few(0)),
        };
        if self.strength() < least { format!("({text})") } else { text }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just("x"),
        Just("A.y"),
        Just("3"),
        Just("0.5"),
        Just("true"),
        Just("'c'"),
        Just("A.f(int).z")
    ];
    leaf.prop_map(Tree::Leaf).prop_recursive(6, 40, 3, |inner| {
        let unary = proptest::sample::select(vec!["!", "~", "-", "+", "(int)"]);
        let binary = proptest::sample::select(vec![
            "=>", "->", "||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", ">>>", "+",
            "-", "*", "/", "%",
        ]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(operator, a)| Tree::Unary(operator, Box::new(a))),
            (binary, inner.clone(), inner.clone()).prop_map(|(operator, a, b)| Tree::Binary(
                operator,
                Box::new(a),
                Box::new(b)
            )),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| Tree::Choice(
                Box::new(a),
                Box::new(b),
                Box::new(c)
            )),
        ]
    })
}

/// The kinds of the nodes, with paths as written.
fn shape(text: &str) -> Vec<String> {
    let script = format!("MonScr condition c = {text}; End");
    let (script, diagnostics) = pedl::parse(SourceId(0), &script);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let kinds = script.definitions[0].expr.nodes.iter().map(|node| match &node.kind {
        NodeKind::Path(path) => path.to_string(),
        other => format!("{other:?}"),
    });
    kinds.collect()
}

proptest! {
    #[test]
    fn redundant_java_parentheses_do_not_change_the_tree(tree in trees()) {
        let (few, all) = (tree.few(0), tree.all_parentheses());
        prop_assert_eq!(shape(&few), shape(&all), "{} is not {}", few, all);
    }
}
