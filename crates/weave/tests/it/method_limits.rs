//! Methods near the limits: 64 kB of code, branches of 16 bits.

use std::fmt::Write as _;

use crate::common::plans::{Everywhere, all, usual};
use crate::common::programs::Programs;
use invigil_weave::{Capture, Probe, ProbePlan, Site, SiteKind, SiteKinds};

/// Statements of 12 bytes each.
fn statements(count: usize) -> String {
    "f = f * 31 + 77;\n".repeat(count)
}

/// A program of methods whose branches exceed their range when code is inserted.
fn source() -> String {
    let body = statements(2000);
    let small = statements(700);
    let mut cases = String::new();
    for case in 0..1200 {
        let _ = writeln!(cases, "case {case}: f += {case}; if (f > 1 << 30) break; else continue;");
    }
    format!(
        r#"
public class Large {{
    static int f = 1;
    int g;
    static int forward(int n) {{ for (int i = 0; i < n; i++) {{ {body} }} return f; }}
    static long backward(int n, long l) {{ int i = 0; do {{ l += i; {body} }} while (++i < n); return l + f; }}
    int both(String s, double d, int n) {{
        boolean again = s != null;
        while (again) {{
            if (n > 2) {{ {body} n--; d += n; s = s + n; }} else {{ again = d < 0; }}
        }}
        return n + s.length();
    }}
    Large(int n, Object o) {{
        super();
        g = n;
        while (g-- > 0) {{ o = null; {body} }}
        if (o == null) throw new IllegalStateException("large");
    }}
    static int caught(int n, String s) {{
        int r = 0;
        for (int i = 0; i < n; i++) {{
            try {{ if (i == 1) throw new IllegalArgumentException(s); {small} r += f; }}
            catch (IllegalArgumentException e) {{ s = null; r--; }}
            finally {{ f++; }}
        }}
        return r;
    }}
    static int cases(int n) {{
        int i = 0;
        while (i < n) {{ switch (i++ * 7 % 1300) {{ {cases} default: f--; }} f ^= i; }}
        return f;
    }}
    public static void main(String[] a) {{
        System.out.println(forward(3) + " " + backward(4, 5L));
        try {{ System.out.println(new Large(0, "").both("x", 1.5, 5)); new Large(2, ""); }}
        catch (IllegalStateException e) {{ System.out.println(e.getMessage()); }}
        System.out.println(caught(3, "s") + " " + cases(3000));
    }}
}}"#
    )
}

/// Probes at all writes, entries and exits. Those of `f` report only the value, and hold the lock in `caught`.
struct Dense {
    inner: Everywhere,
}

impl ProbePlan for Dense {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let mut probes = match site.kind {
            SiteKind::Call { .. } => Vec::new(),
            _ => self.inner.probes(site),
        };
        if matches!(site.kind, SiteKind::Field { name: "f", .. }) {
            probes[0].captures = vec![Capture::Value];
        }
        probes.iter_mut().for_each(|probe| probe.locked = site.method == "caught");
        probes
    }
}

#[test]
fn far_branches_use_islands() {
    let Some(programs) = Programs::compile("branches", &[]) else { return };
    programs.java.write("Large.java", source().as_bytes());
    programs.add(&["Large.java"]);
    let (expected, _) = programs.run("plain", "Large");
    assert!(expected.contains("large"), "{expected}");
    for captures in [usual, all] {
        programs.weave("woven", &mut Dense { inner: Everywhere::new(SiteKinds::ALL, captures) });
        let (out, log) = programs.run("woven", "Large");
        assert_eq!(out, expected);
        assert!(log.lines().count() > 20_000, "{}", log.lines().count());
        let code = programs.java.run("javap", &["-c", "-p", "woven/Large.class"]);
        assert!(code.matches("goto_w").count() > 8, "branches reach by themselves: the test is too small");
    }
}

/// A method that would become too long is skipped, and the others are woven.
#[test]
fn method_beyond_64_kb_is_skipped() {
    let Some(programs) = Programs::compile("too_long", &[]) else { return };
    let source = format!(
        "public class Long {{ static int f; static void fill() {{ {} }}
         public static void main(String[] a) {{ f = 1; fill(); System.out.println(f); }} }}",
        statements(5300)
    );
    programs.java.write("Long.java", source.as_bytes());
    programs.add(&["Long.java"]);
    let (expected, _) = programs.run("plain", "Long");

    // Entries and exits fit.
    let methods = SiteKinds { methods: true, ..SiteKinds::NOTHING };
    programs.weave("woven", &mut Everywhere::new(methods, usual));
    let (out, log) = programs.run("woven", "Long");
    assert_eq!((out.as_str(), log.lines().count()), (expected.as_str(), 4));

    // Writes do not fit.
    let skipped = programs.weave_some("woven", &mut Everywhere::new(SiteKinds::ALL, usual));
    assert_eq!(skipped.len(), 1);
    assert_eq!((skipped[0].method.as_str(), skipped[0].descriptor.as_str()), ("fill", "()V"));
    assert_eq!(skipped[0].probes.len(), 5303);
    let words = skipped[0].to_string();
    assert!(words.starts_with("fill()V is not instrumented: its code would grow to "), "{words}");
    assert!(
        words.ends_with(" bytes, and Java allows 65535; instrument fewer sites in it or split it"),
        "{words}"
    );
    let (out, log) = programs.run("woven", "Long");
    assert_eq!(out, expected);
    assert!(log.lines().count() > 4, "{log}");
}
