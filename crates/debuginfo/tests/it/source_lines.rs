//! Source lines, the code for them, and macros.

use crate::common::{line_with, program};
use invigil_test_support::Folder;
use std::collections::BTreeSet;

const C: &str = r#"
#define LIMIT 10
#define OLD 1
#undef OLD
#define TWICE(x) ((x) * 2)
#define CHANGED 1
#undef CHANGED
#define CHANGED 2
static inline __attribute__((always_inline)) int step(int x) {
    return x / 3 * x; // inlined
}
__attribute__((noinline)) int sum(int n)
{
    int total = 0; // first

    // a comment without code
    for (int i = 0; i < n; i++) { // loop
        total += step(i) + TWICE(i); // body
    }
    return total + step(n); // last
}
int main(void) { return sum(LIMIT); }
"#;

#[test]
fn line_of_inverts_addresses_of() {
    let folder = Folder::new();
    for options in [&["-g", "-O0"][..], &["-g", "-O0", "-gdwarf-4"], &["-g", "-O2"]] {
        let path = folder.c(C, options);
        let (program, _) = program(&path, 0x5000_0000);
        for mark in ["// first", "// body", "// last"] {
            let line = line_with(C, mark);
            let locations = program.addresses_of("program.c", line);
            assert!(!locations.is_empty(), "{mark} {options:?}");
            for location in locations {
                // In optimised code, several lines may start at one address.
                if options.contains(&"-O0") {
                    let found = program.line_of(location.address).unwrap();
                    assert!(found.file.ends_with("program.c"));
                    assert_eq!((location.line.line, found.line), (line, line), "{mark} {options:?}");
                }
            }
        }
        // Once for each location into which the function is inlined.
        let inlined = program.addresses_of("program.c", line_with(C, "// inlined"));
        assert_eq!(inlined.len(), 2, "{options:?}: {inlined:?}");
        for location in &inlined {
            assert_eq!(program.inline_chain(location.address)[0].name, "step");
        }
        assert!(program.addresses_of("other.c", 3).is_empty());
        assert!(program.addresses_of("ubject.c", 3).is_empty(), "only whole parts of a path count");
        assert!(program.addresses_of("program.c", 10_000).is_empty());
    }
}

#[test]
fn line_without_code_stands_for_next_with_code() {
    let folder = Folder::new();
    let path = folder.c(C, &["-g", "-O0"]);
    let (program, _) = program(&path, 0);
    let locations = program.addresses_of("program.c", line_with(C, "// a comment"));
    assert_eq!(locations.len(), 1);
    assert_eq!(locations[0].line.line, line_with(C, "// loop"));
    // As in other debuggers, the head of the loop has one address, its first.
    assert_eq!(program.addresses_of("program.c", line_with(C, "// loop")).len(), 1);
    // The line of the function itself stands for the end of its prologue.
    let head = program.addresses_of("program.c", line_with(C, "int sum("));
    assert_eq!(Some(head[0].address), program.functions("sum")[0].prologue_end);
}

#[test]
fn each_template_instance_has_its_own_address() {
    let folder = Folder::new();
    let text = "template <typename T> T half(T x) {\n    return x / 2; // here\n}\n\
                int main() { return half(4) + (int)half(4.0) + (int)half(4L); }\n";
    let path = folder.cpp(text, &["-g", "-O0"]);
    let (program, _) = program(&path, 0);
    assert_eq!(program.addresses_of("program.cpp", line_with(text, "// here")).len(), 3);
}

#[test]
fn directory_selects_among_files_of_same_name() {
    let folder = Folder::new();
    folder.write("a/part.c", "int a(int x) {\n    return x + 1;\n}\n");
    folder.write(
        "b/part.c",
        "int b(int x) {\n    return x + 2;\n}\nint a(int);\nint main(void) { return a(1) + b(2); }\n",
    );
    folder.run("cc", ["-g", "a/part.c", "b/part.c", "-o", "program"]);
    let (program, _) = program(&folder.join("program"), 0);
    let whole: Vec<_> = program.addresses_of("part.c", 2);
    assert_eq!(whole.len(), 2);
    let part = program.addresses_of("b/part.c", 2);
    assert_eq!(part.len(), 1);
    assert_eq!(program.function_at(part[0].address).unwrap().name, "b");
    let full = folder.path().canonicalize().unwrap().join("a/part.c");
    let exact = program.addresses_of(full.to_str().unwrap(), 2);
    assert_eq!(program.function_at(exact[0].address).unwrap().name, "a");
}

#[test]
fn statements_cover_their_function() {
    let folder = Folder::new();
    for level in ["-O0", "-O2"] {
        let path = folder.c(C, &["-g", level]);
        let (program, _) = program(&path, 0x1000);
        let function = &program.functions("sum")[0];
        let statements = program.statements(function);
        assert_eq!(statements[0].range.start, function.ranges[0].start);
        for pair in statements.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{pair:?}");
        }
        assert_eq!(statements.last().unwrap().range.end, function.ranges.last().unwrap().end);
        let lines: BTreeSet<u32> =
            statements.iter().filter_map(|statement| Some(statement.line.as_ref()?.line)).collect();
        for mark in ["// loop", "// body", "// inlined"] {
            assert!(lines.contains(&line_with(C, mark)), "{mark} {level}");
        }
    }
}

#[test]
fn macros_are_found_if_compiled_with_g3() {
    let folder = Folder::new();
    for options in
        [&["-g3", "-O0"][..], &["-g3", "-O0", "-gdwarf-4"], &["-g3", "-O0", "-gdwarf-4", "-gstrict-dwarf"]]
    {
        let path = folder.c(C, options);
        let (program, _) = program(&path, 0x7000);
        let at = program.functions("sum")[0].entry;
        for address in [at, None] {
            let body = |name: &str| program.macro_definition(name, address).map(|found| found.body);
            assert_eq!(body("LIMIT").as_deref(), Some("10"), "{options:?}");
            assert_eq!(body("CHANGED").as_deref(), Some("2"));
            assert_eq!(body("OLD"), None);
            assert_eq!(body("LIM"), None);
            let twice = program.macro_definition("TWICE", address).unwrap();
            assert_eq!((twice.body.as_str(), twice.parameters), ("((x) * 2)", Some(vec!["x".to_owned()])));
            // A predefined macro, which is in an imported unit.
            assert_eq!(body("__CHAR_BIT__").as_deref(), Some("8"));
        }
    }
    let path = folder.c(C, &["-g"]);
    assert_eq!(program(&path, 0).0.macro_definition("LIMIT", None), None);
}
