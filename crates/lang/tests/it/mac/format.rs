//! The formatter prints scripts in one style without losing anything.

use crate::mac::common::{document, printed};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::{medl, pedl};
use proptest::prelude::*;

type Format = fn(SourceId, &str) -> Result<String, Vec<Diagnostic>>;

/// Formats a script, and checks the invariants of the formatter.
fn format(format: Format, text: &str) -> String {
    let once = format(SourceId(0), text).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:?}"));
    let twice = format(SourceId(0), &once).unwrap_or_else(|diagnostics| panic!("{once}\n{diagnostics:?}"));
    assert_eq!(once, twice, "printing twice is not printing once");
    assert_eq!(marks(&once), marks(text), "something was lost or made up");
    once
}

/// The text without blanks and semicolons, with primes and `End` normalised.
fn marks(text: &str) -> String {
    let plain = |c: char| if matches!(c, '\u{2019}' | '\u{2032}') { '\'' } else { c };
    let all: String =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ';' | '\u{feff}')).map(plain).collect();
    all.to_lowercase()
}

#[test]
fn pedl_script_is_formatted() {
    let text = "/* of the gate */
MonScr Gate   // title
export event
  A, // one
  B; export condition c


multithread
  // aliases
  monobj int x<-A.b . x ; monobj double A.y not   in java.util.List.add( Object,int [] )
monmeth java.lang.Object[] A.<init>(int)
event A=startM( A.<init>(int) )||update(x)when x<-1&&!(A.y>- 0.5)
event B = (update(A.y) when (int)-x > 2
    && x != 3); condition c = x>0 // last
  ;  // and over
  /* nothing */
end // done";
    let expected = "/* of the gate */
MonScr Gate  // title
    export event
        A,  // one
        B;
    export condition c;

    multithread;
    // aliases
    monobj int x <- A.b.x;
    monobj double A.y not in java.util.List.add(Object, int[]);
    monmeth java.lang.Object[] A.<init>(int);
    event A = startM(A.<init>(int)) || update(x) when x < -1 && !(A.y > -0.5);
    event B = (update(A.y) when (int) -x > 2
        && x != 3);
    condition c = x > 0;  // last
    // and over
    /* nothing */
End  // done
";
    assert_eq!(format(pedl::format, text), expected);
}

#[test]
fn medl_script_is_formatted() {
    let text = "ReqSpec
import event e ,f(int); var int n;
property p=[e,f)=>n\u{2019}>-3||-n<+3; // p
e->{n'=n+1;;print\"e\"}
f -> { n' := n>0?1:2 // up
; invoke a
   // that is all
}

e||f -> n'=0;;
END";
    let expected = "ReqSpec
    import event e, f(int);
    var int n;
    property p = [e, f) => n' > -3 || -n < +3;  // p
    e -> { n' = n + 1; print \"e\"; }
    f -> {
        n' := n > 0 ? 1 : 2;  // up
        invoke a;
        // that is all
    }

    e || f -> n' = 0;
End
";
    assert_eq!(format(medl::format, text), expected);
}

#[test]
fn invalid_script_returns_diagnostics() {
    assert!(pedl::format(SourceId(0), "MonScr event e = ; End").is_err());
    assert!(medl::format(SourceId(0), "ReqSpec e -> { End").is_err());
}

#[test]
fn documented_scripts_format_stably() {
    let Some(document) = document() else { return };
    for (lines, anchor) in
        [((969, 984), "MonScr"), ((2571, 2589), "MonScr"), ((2790, 2824), "MonScr"), ((2654, 2665), "MonScr")]
    {
        format(pedl::format, &printed(&document, lines, anchor));
    }
    for (lines, anchor) in [
        ((996, 1012), "ReqSpec"),
        ((2531, 2556), "ReqSpec"),
        ((2619, 2641), "ReqSpec"),
        ((2836, 2868), "ReqSpec"),
    ] {
        format(medl::format, &printed(&document, lines, anchor));
    }
}

proptest! {
    #[test]
    fn blanks_and_comments_do_not_change_the_script(between in proptest::collection::vec(prop_oneof![
        6 => Just(" "), 2 => Just("\n"), 1 => Just("\n\n\n"), 1 => Just(" // c\n"), 1 => Just(" /* c */ "), 1 => Just("\n/* c\n c */\n"),
        1 => Just("\n// c\n\n"), 1 => Just(" /* c */ // c\n"),
    ], 60)) {
        let pedl = "MonScr T export event e , f ; monobj int x <- A . x , A . y in B . g ( int ) event e = update ( x ) when x < - 1 ; ; condition c = A . y > 3 End";
        let medl = "ReqSpec import event e ; var int n e -> { n' = - n + 1 ; print \"t\" } alarm a = [ e , e ] -> ( n > 0 ) ; e -> n' = 0 end";
        for (script, print) in [(pedl, pedl::format as Format), (medl, medl::format)] {
            let mut text = String::new();
            for (word, blank) in script.split(' ').zip(between.iter().cycle()) {
                text += word;
                text += blank;
            }
            format(print, &text);
        }
    }
}
