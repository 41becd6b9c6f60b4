//! Syntax of formulae and files, and its errors.

use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::syntax::{SyntaxError, SyntaxTree, format, separate_operators};
use invigil_ltl::{Budget, Logic};

fn formulae() -> Formulae {
    Formulae::new(&Budget::default())
}

/// Checks that both texts parse to the same formula.
#[track_caller]
fn check_same(one: &str, other: &str) {
    let mut formulae = formulae();
    let first = formulae.parse(one).unwrap_or_else(|error| panic!("{one}: {error}"));
    let second = formulae.parse(other).unwrap_or_else(|error| panic!("{other}: {error}"));
    assert_eq!(first, second, "{one} is {}, {other} is {}", formulae.show(first), formulae.show(second));
}

#[track_caller]
fn parse_error(text: &str) -> SyntaxError {
    let mut formulae = formulae();
    match formulae.parse(text) {
        Ok(formula) => panic!("{text} is {}", formulae.show(formula)),
        Err(error) => error,
    }
}

/// Checks the text that an error marks, and its message.
#[track_caller]
fn check_error(text: &str, marked: &str, message: &str) {
    let error = parse_error(text);
    assert_eq!((&text[error.span.clone()], error.message.as_str()), (marked, message), "{text}: {error:?}");
}

#[test]
fn operators_have_many_spellings() {
    let spellings: &[(&str, &[&str])] = &[
        ("!a", &["~a", "not a", "¬a", "! a", "!(a)", "((!a))", "!!!a"]),
        ("a & b", &["a && b", "a /\\ b", "a and b", "a * b", "a ∧ b", "a⋀b", "b&a"]),
        ("a | b", &["a || b", "a \\/ b", "a or b", "a + b", "a ∨ b", "a⋁b", "b|a|b"]),
        ("a -> b", &["a => b", "a --> b", "a implies b", "a → b", "a⇒b", "a⟹b", "a ⟶ b", "!a | b"]),
        ("a <-> b", &["a <=> b", "a <--> b", "a iff b", "a ↔ b", "a⇔b", "a ≡ b", "a⟺b", "a⟷b"]),
        ("a xor b", &["a ^ b", "a ⊕ b", "a⊻b", "a <-> !b"]),
        ("true", &["1", "⊤", "True", "TRUE", "a | !a"]),
        ("false", &["0", "⊥", "False", "FALSE", "!1", "a & !a"]),
        ("X a", &["○a", "◯ a", "next a", "next! a", "X[1] a", "X^1 a", "X[!] a", "𝐗a"]),
        (
            "F a",
            &["<>a", "<> a", "◇a", "◊a", "⋄a", "eventually a", "eventually! a", "finally a", "ℱ a", "F>=0 a"],
        ),
        ("G a", &["[]a", "□a", "◻a", "⬜a", "always a", "globally a", "𝒢a", "never !a"]),
        ("a U b", &["a until! b", "a 𝒰 b", "a𝒰b", "a ∪ b", "a strong_until b", "a U[0,inf] b", "a U[0..] b"]),
        ("a W b", &["a until b", "a weak_until b", "a 𝒲 b"]),
        ("a R b", &["a V b", "a release b", "a releases b", "a ℛ b"]),
        ("a M b", &["a strong_release b", "a release! b", "a ℳ b"]),
        ("Y a", &["yesterday a", "●a", "⊖a", "Y[1] a", "previously a"]),
        ("Z a", &["weak_yesterday a", "ℤa"]),
        ("O a", &["once a", "◆a", "⟐a"]),
        ("H a", &["historically a", "■a", "⊡a"]),
        ("a S b", &["a since b"]),
        ("a T b", &["a triggered b"]),
        ("[]<>a", &["G F a", "[] <> a", "□◇a", "always eventually! a", "G(F(a))"]),
    ];
    for (one, others) in spellings {
        others.iter().for_each(|other| check_same(one, other));
    }
}

#[test]
fn bounds_have_many_spellings() {
    let spellings: &[(&str, &[&str])] = &[
        ("X X X a", &["X[3] a", "X^3 a", "next[3] a", "○[3]a", "X[2] X a", "F[3,3] a"]),
        (
            "a | X(a | X a)",
            &["F[0,2] a", "F<=2 a", "F<3 a", "F≤2 a", "<>[0,2] a", "F[:2] a", "F[..2]a", "eventually<=2 a"],
        ),
        ("X X(a | X a)", &["F[2,3] a", "F[2:3] a", "F[2..3] a", "F [ 2 , 3 ] (a)", "<>[2:3]a", "◇[2,3]a"]),
        (
            "X X F a",
            &["F[2..] a", "F[2:] a", "F[2,inf] a", "F[2,$] a", "F[2,∞] a", "F>=2 a", "F>1 a", "F≥2 a"],
        ),
        ("!F[1,3] !a", &["G[1,3] a", "[][1:3] a", "always[1,3] a"]),
        ("!F[1,inf] !a", &["G>=1 a", "G[1..] a"]),
        ("Y Y(a | Y a)", &["O[2,3] a", "once[2:3] a"]),
        ("a & Z(a & Z a)", &["H[0,2] a", "H<=2 a", "■<3 a"]),
        ("b | (a & X(b | (a & X b)))", &["a U[0,2] b", "a U<=2 b", "a U<3 b", "a until![0,2] b"]),
        ("a & X(a & X(b | (a & X b)))", &["a U[2,3] b"]),
        ("a & X(a U b)", &["a U[1,inf] b", "a U>=1 b", "a U>0 b"]),
        ("!(!a U[1,3] !b)", &["a R[1,3] b", "a V[1:3] b"]),
        ("(a U[1,3] b) | G<=3 a", &["a W[1,3] b", "a until[1,3] b"]),
        ("(a R[1,3] b) & F<=3 a", &["a M[1,3] b"]),
        ("b | (a & Y(b | (a & Y b)))", &["a S[0,2] b", "a S<=2 b"]),
        ("b & (a | Z(b & (a | Z b)))", &["a T[0,2] b"]),
        ("a", &["X[0] a", "F[0,0] a", "G<1 a", "H[0,0] a", "Z[0] a"]),
    ];
    for (one, others) in spellings {
        others.iter().for_each(|other| check_same(one, other));
    }
}

#[test]
fn operator_precedence_is_that_of_spot() {
    for (short, long) in [
        ("a U b U c", "a U (b U c)"),
        ("a U b R c", "a U (b R c)"),
        ("a S b U c", "a S (b U c)"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a -> b <-> c", "a -> (b <-> c)"),
        ("a | b & c", "a | (b & c)"),
        ("a xor b & c", "a xor (b & c)"),
        ("a | b xor c", "a | (b xor c)"),
        ("a xor b xor c", "(a xor b) xor c"),
        ("a & b U c", "a & (b U c)"),
        ("a | b -> c | d", "(a | b) -> (c | d)"),
        ("!a U b", "(!a) U b"),
        ("X a U b", "(X a) U b"),
        ("G a & b", "(G a) & b"),
        ("F<=3 a & b", "(F<=3 a) & b"),
        ("G F a -> G F b", "(G F a) -> (G F b)"),
        ("!X a", "!(X a)"),
        ("always a until b", "(always a) until b"),
    ] {
        check_same(short, long);
    }
}

#[test]
fn keywords_are_names_in_operand_positions() {
    check_same("G(acquire -> F release)", "G(acquire -> F 'release')");
    check_same("G(next -> Y has_next)", "G('next' -> Y has_next)");
    check_same("release release release", "'release' R 'release'");
    check_same("once", "`once`");
    check_same("F until & since", "F 'until' & 'since'");
}

#[test]
fn atoms_are_names_expressions_and_references() {
    let mut formulae = formulae();
    let mut atom = |text: &str| {
        let formula = formulae.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let invigil_ltl::formula::Node::Atom(atom) = *formulae.node(formula) else {
            panic!("{text} is not an atom")
        };
        formulae.proposition(atom).clone()
    };
    let name = |text: &str| Proposition::Name(text.to_owned());
    for plain in
        ["a", "queue_push", "#exit", "ns::f", "a.b.c", "Fa", "GFa", "p0", "größe", "a#b", "x$1", "_", "שלום"]
    {
        assert_eq!(atom(plain), name(plain));
    }
    for (text, name_text) in [
        ("'F'", "F"),
        ("`a b`", "a b"),
        ("'actfloor(0)'", "actfloor(0)"),
        (r"'it\'s'", "it's"),
        (r"`\\ \u{e9}\n`", "\\ é\n"),
        (" ( 'a' ) ", "a"),
    ] {
        assert_eq!(atom(text), name(name_text));
    }
    assert_eq!(atom("\"q->size <= 3\""), Proposition::Expression("q->size <= 3".to_owned()));
    assert_eq!(atom(r#""s == \"x\\n\"""#), Proposition::Expression(r#"s == "x\n""#.to_owned()));
    assert_eq!(atom("@room.light"), Proposition::Monitor("room.light".to_owned()));
    assert_eq!(atom("@2nd"), Proposition::Monitor("2nd".to_owned()));
    assert_eq!(atom("@'a b'"), Proposition::Monitor("a b".to_owned()));
}

#[test]
fn errors_have_span_and_expectation() {
    check_error("", "", "expected a formula, found the end");
    check_error("G(a -> )", ")", "expected a formula, found `)`");
    check_error("a b", "b", "expected an operator or the end, found `b`");
    check_error("(a b", "b", "expected an operator or `)`, found `b`");
    check_error("(a & (b)", "(", "unclosed parenthesis");
    check_error("a) & b", ")", "unmatched `)`");
    check_error("a & & b", "&", "expected a formula, found `&`");
    check_error("a &", "", "expected a formula, found the end");
    check_error("F[3] a", "[3]", "this bound needs two numbers");
    check_error("X[1,3] a", "[1,3]", "this operator takes a single number of steps");
    check_error("F[5,2] a", "[5,2]", "the upper end of the bound is below the lower end: [5,2]");
    check_error("F<0 a", "<0", "the bound contains no position");
    check_error("F[a,2] b", "a", "expected a number, found `a`");
    check_error("F[2;3] b", ";", "expected `,` or `]`, found `;`");
    check_error("F[2,3 b", "b", "expected `]`, found `b`");
    check_error("3 & a", "3", "expected a formula, found `3`");
    check_error("a & 2b", "2b", "a name cannot start with a digit: `2b`");
    check_error("a & \"x", "\"", "the closing quote is missing on this line");
    check_error("a & ''", "''", "empty quotes");
    check_error("'a\\q'", "\\q", "`\\\\q` is not an escape sequence");
    check_error("a & @ b", "@", "expected a name after `@`, found none");
    check_error("a U[0,2 & b", "&", "expected `]`, found `&`");
    check_error("until! a", "until!", "expected a formula, found `until!`");
    assert_eq!(parse_error("a b").expected, ["an operator", "the end"]);
}

#[test]
fn errors_have_hints() {
    for (text, hint) in [
        ("GF a", "`GF` is a single name; write the operators separately: G F"),
        ("G(Fa b)", "`Fa` is a single name; write the operators separately: F a"),
        ("a AND b", "write the operator in lower case: and"),
        ("a & U", "to use it as a name, write it in quotes: 'U'"),
        ("x == 3", "write expressions in double quotes"),
        ("x < 3", "write expressions in double quotes"),
        ("actfloor(0)", "write a name with parentheses in quotes: 'actfloor(…)'"),
        ("F[3] a", "write [0,3] or <=3 for all positions up to 3, [3,3] for position 3 only"),
        ("3a", "put it in single quotes: '3a'"),
    ] {
        assert_eq!(parse_error(text).hint.as_deref(), Some(hint), "{text}");
    }
    assert_eq!(
        parse_error("a & U").to_string(),
        "expected a formula, found the end".replace("the end", "`U`")
            + " (to use it as a name, write it in quotes: 'U')"
    );
}

#[test]
fn unsupported_characters_are_errors_at_their_position() {
    for (text, marked, message) in [
        (
            "a & b\u{301}",
            "\u{301}",
            "U+0301, a combining mark without a base letter, is not allowed in a formula",
        ),
        ("a \u{202e}& b", "\u{202e}", "U+202E, a text direction control, is not allowed in a formula"),
        ("a\u{200b} & b", "\u{200b}", "U+200B, an invisible character, is not allowed in a formula"),
        ("G a & \u{7}", "\u{7}", "U+0007, a control character, is not allowed in a formula"),
        ("a & 😀", "😀", "`😀` is not allowed in a formula"),
        ("größe & ä ∧ §", "§", "`§` is not allowed in a formula"),
        ("\u{feff}a \u{feff}", "\u{feff}", "U+FEFF, an invisible character, is not allowed in a formula"),
    ] {
        check_error(text, marked, message);
    }
    check_same("\u{feff}a\u{a0}&\u{3000}b", "a & b");
}

#[test]
fn comments_extend_to_end_of_line() {
    check_same("a // & b\n & c # x\n | #exit ## y", "(a & c) | #exit");
}

#[test]
fn joined_operators_are_separated() {
    for (name, separated) in
        [("GFa", Some("G F a")), ("Xp0", Some("X p0")), ("FG", Some("F G")), ("Get", None), ("F", None)]
    {
        assert_eq!(separate_operators(name).as_deref(), separated, "{name}");
    }
}

#[test]
fn formulae_of_a_file_refer_to_each_other() {
    let mut logic = Logic::new(Budget { nodes: 1 << 10, ..Budget::default() });
    let text = "# the kitchen\n\
        preparing = @kactivity & !@cooking;  // see below\n\
        cooking = F<=5 (cooktop | oven)\n\
        kactivity = presence &\n    F<=3 (water\n | fridge)\n\
        'the end' = G @preparing\n";
    let found = logic.parse_file(text).unwrap();
    let names: Vec<&str> = found.iter().map(|found| &*found.name.as_ref().unwrap().text).collect();
    assert_eq!(names, ["preparing", "cooking", "kactivity", "the end"]);
    let whole = logic.parse("G(presence & F<=3 (water | fridge) & !F<=5 (cooktop | oven))").unwrap();
    assert_eq!(found[3].formula, whole);
    assert_eq!(&text[found[2].formula_span.clone()], "presence &\n    F<=3 (water\n | fridge)");
    assert_eq!(&text[found[3].name.as_ref().unwrap().span.clone()], "'the end'");
    assert_eq!(found[0].tree.to_string(), "@kactivity & !@cooking");
    let alone = logic.parse_file("// no name\nG\n a").unwrap();
    assert!(alone[0].name.is_none());
}

#[test]
fn all_errors_of_file_are_reported() {
    let mut logic = Logic::new(Budget { nodes: 1 << 10, ..Budget::default() });
    let mut check = |text: &str, expected: &[(&str, &str)]| {
        let before = logic.formulae.count();
        let found = logic.parse_file(text).unwrap_err();
        let found: Vec<(&str, String)> =
            found.iter().map(|found| (&text[found.span.clone()], found.to_string())).collect();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(marked, message)| (*marked, message.as_str())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(logic.formulae.count(), before, "a failed parse leaves formulae behind");
    };
    check("a = p &\nb = q )\nc = r", &[("", "expected a formula, found the end"), (")", "unmatched `)`")]);
    check("", &[("", "expected a formula, found the end")]);
    check("light = p\nx = @ligth", &[("@ligth", "unknown formula `ligth` (did you mean `@light`?)")]);
    check("a = p\nb = q\na = r", &[("a", "the name `a` is defined twice")]);
    check("a = @b\nb = X @c\nc = @a | p", &[("@a", "`a` refers to itself: a → b → c → a")]);
    check("a = !@a", &[("@a", "`a` refers to itself: a → a")]);
    check(
        "G p\nb = q",
        &[("G p", "this formula needs a name, because the file has several (write it as: name = formula)")],
    );
    check("U = q", &[("U", "expected a name before `=`, found `U` (any text in quotes is a name: 'U' = …)")]);
    check("a = \"x == 3", &[("\"", "the closing quote is missing on this line")]);
}

#[test]
fn syntax_trees_preserve_source_form() {
    for (text, written) in [
        ("((F(p0)) -> (((!(p1)) U (p0))))", "F p0 -> (!p1 U p0)"),
        ("G<=3 (a&&b)", "G[0,3](a & b)"),
        ("always (a until b)", "G(a W b)"),
        ("X^2 a -> never (b)", "X[2] a -> never b"),
        ("a U>=2 (b R 1)", "a U[2,inf] (b R true)"),
        ("`a` & 'F' & \"x\" & @m", "a & 'F' & \"x\" & @m"),
    ] {
        let tree = SyntaxTree::parse(text).unwrap();
        assert_eq!(tree.to_string(), written);
        assert_eq!(SyntaxTree::parse(written).unwrap().to_string(), written);
        check_same(text, written);
    }
}

#[test]
fn files_are_formatted() {
    let text = "// head\n\n\n a=[]p // soon\n# next\n'U' =  p&&\n q; c = (p\n // why\n | q)\n";
    let ordered = "// head\n\na = G p  // soon\n# next\n'U' = p & q\nc = (p\n // why\n | q)\n";
    assert_eq!(format(text).unwrap(), ordered);
    assert_eq!(format(ordered).unwrap(), ordered);
    let long = format!("long = {}", ["G(request -> F grant)"; 6].join(" & "));
    let broken = format(&long).unwrap();
    assert_eq!(broken.lines().count(), 6);
    assert_eq!(format(&broken).unwrap(), broken);
    assert_eq!(format("a = &").unwrap_err().len(), 1);
}
