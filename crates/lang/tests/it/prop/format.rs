//! The formatter changes the layout of a property and nothing else.

use crate::prop::common::{good, shape};
use invigil_expr::diag::SourceId;
use invigil_lang::prop;
use invigil_test_support::cases;
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    prop::format(SourceId(0), text)
        .unwrap_or_else(|diagnostics| panic!("{}", crate::prop::common::show(text, &diagnostics)))
}

#[test]
fn property_is_formatted_in_one_style() {
    let text = "\
slice on a,b
initialization { N = 0
                 maxSize = 0 }
state   init accepting{transition{before event f( a,* b as c , arg 1:int ){return a
   }success{N=N+1}init
   failure bad}
   transition{event #join ( #ecid as e )success init}import transitions from state bad}
state bad non\u{2212}accepting report( N, 1 ) { }
";
    let expected = "\
slice on a, b

initialization {
    N = 0
    maxSize = 0
}

state init accepting {
    transition {
        before event f(a, *b as c, arg 1: int) {
            return a
        }
        success { N=N+1 } init
        failure bad
    }

    transition {
        event #join(#ecid as e)
        success init
    }
    import transitions from state bad
}

state bad non-accepting report( N, 1 ) {}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_keep_their_position() {
    let text = "\
# The licence.

# About the property.
slice on q # by queue


# About the state.
state init { # where it starts
      # the first
    transition { # on f
 event f(x, # the queue
   y) # always

     # then
 success init } # done
    # the end
}
# bye
";
    let expected = "\
# The licence.

# About the property.
slice on q  # by queue

# About the state.
state init {  # where it starts
    # the first
    transition {  # on f
        event f(
            x,  # the queue
            y
        )  # always

        # then
        success init
    }  # done
    # the end
}
# bye
";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn blocks_keep_inner_indentation() {
    let text = "\
initialization {
        if x:   # why
            y = '''
  as it is  
'''
\tz = 1

        w = 2
}
state init
";
    let expected = "\
initialization {
    if x:   # why
        y = '''
  as it is  
'''
    z = 1

    w = 2
}

state init
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn long_lines_are_broken() {
    let names: Vec<String> = (0..20).map(|n| format!("parameter_{n}")).collect();
    let long = format!("return {}", names.join(" + "));
    let text =
        format!("state init {{ transition {{ event f({}) {{ {long} }} success init }} }}", names.join(","));
    let out = formatted(&text);
    assert!(out.contains("event f(\n            parameter_0,\n            parameter_1,\n"), "{out}");
    assert!(out.contains(&format!("        ) {{\n            {long}\n        }}\n")), "{out}");
    assert_eq!(formatted(&out), out);
    assert_eq!(shape(&good(&out)), shape(&good(&text)));
}

#[test]
fn invalid_property_is_not_formatted() {
    assert!(prop::format(SourceId(0), "state init {").is_err());
}

/// The tokens of a random property; a block is one token.
fn property() -> impl Strategy<Value = Vec<String>> {
    let one = |choices: Vec<&'static str>| proptest::sample::select(choices);
    let block = one(vec![
        "{}",
        "{ x = 1 }",
        "{x=1}",
        "{\n  x = 1\n  if x:\n      y = 2 }",
        "{ a = 1\n   b = 2\n }",
        "{ if a:\n  b = 2\n }",
        "{\n\tx = '''\n  }\n''' # it's\n\ty = {'a': '}'}\n}",
        "{ # only a comment\n}",
        "{\n    # first\n  x = [1,\n 2]\n\n\n  y = 1 \\\n + 2\n}",
        "{ x = 1\r\n  y = 2\r\n}",
    ]);
    let param = one(vec![
        "x",
        "* p",
        "arg 1 as q",
        "ret : int",
        "#ecid as e",
        "^ & y as z : str",
        "state",
        "n: int as m",
    ]);
    let params = proptest::collection::vec(param, 0..4).prop_map(|params| params.join(" , "));
    let event = one(vec![
        "event f",
        "before event a.B",
        "after event write s",
        "call ns::g",
        "event #join",
        "event src/q.c:12",
        "event \"odd name\"",
    ]);
    let end = (
        proptest::option::of(block.clone()),
        one(vec!["", "report(N, 'a # b')", "f()"]),
        one(vec!["init", "bad"]),
    );
    let end =
        end.prop_map(|(block, action, target)| [block.unwrap_or(""), action, target].map(str::to_owned));
    let transition = (
        event,
        params,
        proptest::option::of(block.clone()),
        proptest::option::of(end.clone()),
        proptest::option::of(end),
    );
    let transition = transition.prop_map(|(event, params, guard, success, failure)| {
        let mut words: Vec<String> = vec!["transition".into(), "{".into(), event.into()];
        words.push(format!("( {params} )"));
        words.extend(guard.map(str::to_owned));
        words.extend(success.into_iter().flat_map(|end| std::iter::once("success".to_owned()).chain(end)));
        words.extend(failure.into_iter().flat_map(|end| std::iter::once("failure".to_owned()).chain(end)));
        words.push("}".into());
        words
    });
    let marks =
        one(vec!["", "accepting", "non-accepting final", "final f()", "import transitions from state init"]);
    let state =
        (one(vec!["init", "bad"]), marks, proptest::option::of(proptest::collection::vec(transition, 0..3)));
    let state = state.prop_map(|(name, marks, body)| {
        let mut words: Vec<String> = vec!["state".into(), name.into(), marks.into()];
        if let Some(transitions) = body {
            words.push("{".into());
            words.extend(transitions.into_iter().flatten());
            words.push("}".into());
        }
        words
    });
    let top = (
        one(vec!["", "slice on x", "slice on x , y"]),
        proptest::option::of(block),
        proptest::collection::vec(state, 1..4),
    );
    top.prop_map(|(slice, init, states)| {
        let mut words = vec![slice.to_owned()];
        words.extend(init.into_iter().flat_map(|block| ["initialization".to_owned(), block.to_owned()]));
        words.extend(states.into_iter().flatten());
        // Compound tokens are split, so that comments can be placed between their parts; blocks, calls and names
        // with a space are not.
        let split = |word: String| {
            let whole = word.starts_with(['{', '"']) || word.contains('\'') || word.contains('"');
            if whole { vec![word] } else { word.split_whitespace().map(str::to_owned).collect() }
        };
        words.into_iter().flat_map(split).filter(|word| !word.is_empty()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1500)))]

    #[test]
    fn formatting_is_lossless_and_idempotent(
        words in property(),
        blanks in proptest::collection::vec(0u8..12, 1..80),
    ) {
        let mut text = String::new();
        for (at, word) in words.iter().enumerate() {
            text.push_str(word);
            text.push_str(&match blanks[at % blanks.len()] {
                0 => "\n".to_owned(),
                1 => "\n\n\n".to_owned(),
                2 => format!(" # note {at}.\n"),
                3 => format!("\n\t# note {at}.\r\n"),
                4 => format!("# note {at}.\n\n"),
                _ => "  ".to_owned(),
            });
        }
        let once = formatted(&text);
        prop_assert_eq!(shape(&good(&once)), shape(&good(&text)), "{}\n---\n{}", text, once);
        prop_assert_eq!(&formatted(&once), &once, "{}\n---\n{}", text, once);
        for at in 0..words.len() {
            let note = format!("# note {at}.");
            prop_assert_eq!(once.matches(&note).count(), text.matches(&note).count(), "{}", note);
        }
        let outside_strings = once.lines().filter(|line| !line.contains("'''") && !line.trim().is_empty());
        prop_assert!(outside_strings.clone().all(|line| !line.ends_with(' ')), "{}", once);
    }
}
