//! What can be written, how it is read, and what is said of mistakes.

use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::syntax::{Mistake, Tree, format, unglued};
use invigil_ltl::{Budget, Logic};

fn formulae() -> Formulae {
    Formulae::new(&Budget::default())
}

/// Whether both texts are the same formula.
#[track_caller]
fn same(one: &str, other: &str) {
    let mut formulae = formulae();
    let first = formulae.parse(one).unwrap_or_else(|mistake| panic!("{one}: {mistake}"));
    let second = formulae.parse(other).unwrap_or_else(|mistake| panic!("{other}: {mistake}"));
    assert_eq!(first, second, "{one} is {}, {other} is {}", formulae.show(first), formulae.show(second));
}

#[track_caller]
fn mistake(text: &str) -> Mistake {
    let mut formulae = formulae();
    match formulae.parse(text) {
        Ok(formula) => panic!("{text} is {}", formulae.show(formula)),
        Err(mistake) => mistake,
    }
}

/// The text that a mistake points at, and what it says.
#[track_caller]
fn wrong(text: &str, place: &str, message: &str) {
    let found = mistake(text);
    assert_eq!((&text[found.span.clone()], found.message.as_str()), (place, message), "{text}: {found:?}");
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
        others.iter().for_each(|other| same(one, other));
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
        others.iter().for_each(|other| same(one, other));
    }
}

#[test]
fn operators_hold_their_operands_as_in_spot() {
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
        same(short, long);
    }
}

#[test]
fn words_are_names_where_no_operator_makes_sense() {
    same("G(acquire -> F release)", "G(acquire -> F 'release')");
    same("G(next -> Y has_next)", "G('next' -> Y has_next)");
    same("release release release", "'release' R 'release'");
    same("once", "`once`");
    same("F until & since", "F 'until' & 'since'");
}

#[test]
fn atoms_are_names_expressions_and_references() {
    let mut formulae = formulae();
    let mut atom = |text: &str| {
        let formula = formulae.parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
        let invigil_ltl::formula::Node::Atom(atom) = *formulae.node(formula) else {
            panic!("{text} is no atom")
        };
        formulae.proposition(atom).clone()
    };
    let name = |text: &str| Proposition::Name(text.to_owned());
    for plain in
        ["a", "queue_push", "#exit", "ns::f", "a.b.c", "Fa", "GFa", "p0", "größe", "a#b", "x$1", "_", "שלום"]
    {
        assert_eq!(atom(plain), name(plain));
    }
    for (text, meant) in [
        ("'F'", "F"),
        ("`a b`", "a b"),
        ("'actfloor(0)'", "actfloor(0)"),
        (r"'it\'s'", "it's"),
        (r"`\\ \u{e9}\n`", "\\ é\n"),
        (" ( 'a' ) ", "a"),
    ] {
        assert_eq!(atom(text), name(meant));
    }
    assert_eq!(atom("\"q->size <= 3\""), Proposition::Expression("q->size <= 3".to_owned()));
    assert_eq!(atom(r#""s == \"x\\n\"""#), Proposition::Expression(r#"s == "x\n""#.to_owned()));
    assert_eq!(atom("@room.light"), Proposition::Monitor("room.light".to_owned()));
    assert_eq!(atom("@2nd"), Proposition::Monitor("2nd".to_owned()));
    assert_eq!(atom("@'a b'"), Proposition::Monitor("a b".to_owned()));
}

#[test]
fn mistakes_have_a_place_and_say_what_was_expected() {
    wrong("", "", "expected a formula, found the end");
    wrong("G(a -> )", ")", "expected a formula, found `)`");
    wrong("a b", "b", "expected an operator or the end, found `b`");
    wrong("(a b", "b", "expected an operator or `)`, found `b`");
    wrong("(a & (b)", "(", "the parenthesis is never closed");
    wrong("a) & b", ")", "there is no `(` for this `)`");
    wrong("a & & b", "&", "expected a formula, found `&`");
    wrong("a &", "", "expected a formula, found the end");
    wrong("F[3] a", "[3]", "this bound needs two numbers");
    wrong("X[1,3] a", "[1,3]", "an operator that steps has one number: how many steps");
    wrong("F[5,2] a", "[5,2]", "the bound ends before it begins: [5,2]");
    wrong("F<0 a", "<0", "no instant is before this bound");
    wrong("F[a,2] b", "a", "expected a number, found `a`");
    wrong("F[2;3] b", ";", "expected `,` or `]`, found `;`");
    wrong("F[2,3 b", "b", "expected `]`, found `b`");
    wrong("3 & a", "3", "expected a formula, found `3`");
    wrong("a & 2b", "2b", "a name cannot begin with a digit: `2b`");
    wrong("a & \"x", "\"", "the quote is not closed on its line");
    wrong("a & ''", "''", "there is nothing between the quotes");
    wrong("'a\\q'", "\\q", "`\\\\q` is no escape");
    wrong("a & @ b", "@", "expected a name after `@`, found none");
    wrong("a U[0,2 & b", "&", "expected `]`, found `&`");
    wrong("until! a", "until!", "expected a formula, found `until!`");
    assert_eq!(mistake("a b").expected, ["an operator", "the end"]);
}

#[test]
fn mistakes_come_with_remedies() {
    for (text, remedy) in [
        ("GF a", "`GF` is read as one name; apart: G F"),
        ("G(Fa b)", "`Fa` is read as one name; apart: F a"),
        ("a AND b", "the operator is written in small letters: and"),
        ("a & U", "as a name it stands in quotes: 'U'"),
        ("x == 3", "an expression over the subject stands in double quotes"),
        ("x < 3", "an expression over the subject stands in double quotes"),
        ("actfloor(0)", "a name with parentheses stands in quotes: 'actfloor(…)'"),
        ("F[3] a", "[0,3] or <=3 for all instants up to 3, [3,3] for just that one"),
        ("3a", "put it in single quotes: '3a'"),
    ] {
        assert_eq!(mistake(text).hint.as_deref(), Some(remedy), "{text}");
    }
    assert_eq!(
        mistake("a & U").to_string(),
        "expected a formula, found the end".replace("the end", "`U`")
            + " (as a name it stands in quotes: 'U')"
    );
}

#[test]
fn odd_letters_are_mistakes_where_they_are() {
    for (text, place, message) in [
        ("a & b\u{301}", "\u{301}", "U+0301, an accent without its letter, means nothing in a formula"),
        (
            "a \u{202e}& b",
            "\u{202e}",
            "U+202E, which changes the direction of text, means nothing in a formula",
        ),
        ("a\u{200b} & b", "\u{200b}", "U+200B, which cannot be seen, means nothing in a formula"),
        ("G a & \u{7}", "\u{7}", "U+0007, a control character, means nothing in a formula"),
        ("a & 😀", "😀", "`😀` means nothing in a formula"),
        ("größe & ä ∧ §", "§", "`§` means nothing in a formula"),
        ("\u{feff}a \u{feff}", "\u{feff}", "U+FEFF, which cannot be seen, means nothing in a formula"),
    ] {
        wrong(text, place, message);
    }
    same("\u{feff}a\u{a0}&\u{3000}b", "a & b");
}

#[test]
fn comments_go_to_the_end_of_the_line() {
    same("a // & b\n & c # x\n | #exit ## y", "(a & c) | #exit");
}

#[test]
fn glued_operators_come_apart() {
    for (name, apart) in
        [("GFa", Some("G F a")), ("Xp0", Some("X p0")), ("FG", Some("F G")), ("Get", None), ("F", None)]
    {
        assert_eq!(unglued(name).as_deref(), apart, "{name}");
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
    assert_eq!(found[0].written.to_string(), "@kactivity & !@cooking");
    let alone = logic.parse_file("// no name\nG\n a").unwrap();
    assert!(alone[0].name.is_none());
}

#[test]
fn mistakes_of_a_file_are_all_told() {
    let mut logic = Logic::new(Budget { nodes: 1 << 10, ..Budget::default() });
    let mut wrong = |text: &str, expected: &[(&str, &str)]| {
        let before = logic.formulae.count();
        let found = logic.parse_file(text).unwrap_err();
        let found: Vec<(&str, String)> =
            found.iter().map(|found| (&text[found.span.clone()], found.to_string())).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(place, said)| (*place, said.as_str())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(logic.formulae.count(), before, "what failed leaves nothing");
    };
    wrong(
        "a = p &\nb = q )\nc = r",
        &[("", "expected a formula, found the end"), (")", "there is no `(` for this `)`")],
    );
    wrong("", &[("", "expected a formula, found none")]);
    wrong(
        "light = p\nx = @ligth",
        &[("@ligth", "there is no formula with the name `ligth` (did you mean `@light`?)")],
    );
    wrong("a = p\nb = q\na = r", &[("a", "there is another formula with the name `a`")]);
    wrong("a = @b\nb = X @c\nc = @a | p", &[("@a", "`a` refers to itself: a → b → c → a")]);
    wrong("a = !@a", &[("@a", "`a` refers to itself: a → a")]);
    wrong("G p\nb = q", &[("G p", "a formula among others needs a name (write it as: name = formula)")]);
    wrong(
        "U = q",
        &[("U", "expected a name before `=`, found `U` (quotes make a name of anything: 'U' = …)")],
    );
    wrong("a = \"x == 3", &[("\"", "the quote is not closed on its line")]);
}

#[test]
fn trees_keep_what_was_written() {
    for (text, written) in [
        ("((F(p0)) -> (((!(p1)) U (p0))))", "F p0 -> (!p1 U p0)"),
        ("G<=3 (a&&b)", "G[0,3](a & b)"),
        ("always (a until b)", "G(a W b)"),
        ("X^2 a -> never (b)", "X[2] a -> never b"),
        ("a U>=2 (b R 1)", "a U[2,inf] (b R true)"),
        ("`a` & 'F' & \"x\" & @m", "a & 'F' & \"x\" & @m"),
    ] {
        let tree = Tree::parse(text).unwrap();
        assert_eq!(tree.to_string(), written);
        assert_eq!(Tree::parse(written).unwrap().to_string(), written);
        same(text, written);
    }
}

#[test]
fn files_are_put_in_order() {
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
