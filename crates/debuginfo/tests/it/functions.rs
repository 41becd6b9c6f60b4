//! Functions by name and by address, in C, C++ and Rust.

use crate::common::{line_with, names, program};
use invigil_test_support::{Folder, tools};

const C: &str = r#"
#include <stdlib.h>
static inline int twice(int x) { return x / 7 * x; }
__attribute__((noinline)) static int helper(int x) { return twice(x) + 1; }
__attribute__((noinline)) int work(int x) {
    int y = helper(x);
    return twice(y);
}
__attribute__((noreturn, noinline)) void stop(int code) { exit(code); }
int global_value = 7;
int main(int argc, char **argv) {
    (void)argv;
    stop(work(argc));
}
"#;

#[test]
fn c_functions_are_found_for_all_compiler_options() {
    let folder = Folder::new();
    for options in [
        &["-g", "-O0"][..],
        &["-g", "-O0", "-gdwarf-4"],
        &["-g", "-O0", "-fno-pie", "-no-pie"],
        &["-g", "-O0", "-static"],
        &["-g", "-O0", "-gz"],
        &["-g", "-O0", "-ffunction-sections", "-fdebug-types-section"],
    ] {
        let path = folder.c(C, options);
        let bias =
            if options.contains(&"-static") || options.contains(&"-no-pie") { 0 } else { 0x5555_0000_0000 };
        let (program, image) = program(&path, bias);
        assert_eq!(image.is_pie(), bias != 0, "{options:?}");
        assert_eq!(image.is_dynamic(), !options.contains(&"-static"), "{options:?}");
        assert_eq!(image.debug_info_error(), None);
        let found = program.functions("work");
        assert_eq!(found.len(), 1, "{options:?}: {found:?}");
        let work = &found[0];
        assert_eq!((work.name.as_str(), work.has_debug, work.is_noreturn), ("work", true, false));
        let entry = work.entry.unwrap();
        assert!(work.ranges[0].contains(&entry) && entry > bias);
        let body = program.line_of(work.prologue_end.unwrap()).unwrap();
        assert_eq!(body.line, line_with(C, "int y = helper"), "{options:?}");
        assert!(body.file.ends_with("program.c") && body.file.is_absolute());
        assert_eq!(program.line_of(entry).unwrap().line, line_with(C, "int work("));
        assert_eq!(program.function_at(entry + 1).unwrap().name, "work");
        assert_eq!(program.symbol_at(entry + 2).unwrap(), ("work".to_owned(), 2));
        let symbol = program.symbol("global_value").unwrap();
        assert_eq!((symbol.size, program.symbol_at(symbol.address)), (4, Some(("global_value".into(), 0))));
        assert!(program.functions("stop")[0].is_noreturn);
        assert_eq!(names(&program, "program.c:helper"), ["helper"]);
        assert!(names(&program, "other.c:helper").is_empty());
        assert!(names(&program, "nothing_like_it").is_empty());
        assert_eq!(program.similar("hlper", 1), ["helper"]);
        assert_eq!(program.names_with_prefix("wor", 5).first().map(String::as_str), Some("work"));
        assert!(image.segments().iter().any(|segment| segment.executable && !segment.writable));
        assert!(program.is_code(program.symbol("main").unwrap().address));
    }
}

#[test]
fn inlined_c_functions_list_their_instances() {
    let folder = Folder::new();
    let path = folder.c(C, &["-g", "-O2"]);
    let (program, _) = program(&path, 0x1000_0000);
    let found = program.functions("twice");
    assert_eq!(found.len(), 1);
    let twice = &found[0];
    assert_eq!((twice.entry, twice.ranges.len()), (None, 0));
    assert_eq!(twice.inlined.len(), 2, "{:?}", twice.inlined);
    for copy in &twice.inlined {
        assert!(copy.ranges.iter().any(|range| range.contains(&copy.entry)));
        let chain = program.inline_chain(copy.entry);
        assert_eq!(chain[0].name, "twice");
        assert!(chain[0].is_inlined && !chain[1].is_inlined);
        let caller = chain[1].name.as_str();
        let line = chain[0].call.as_ref().unwrap().line;
        let wanted = if caller == "work" { "return twice(y)" } else { "return twice(x) + 1" };
        assert_eq!(line, line_with(C, wanted), "{caller}");
    }
    let work = &program.functions("work")[0];
    assert_eq!(work.prologue_end, work.entry, "optimised code has no prologue to skip");
}

#[test]
fn discarded_functions_are_not_found() {
    let folder = Folder::new();
    let text = "int unused(int x) {\n    return x + 1; // unused\n}\nint main(void) { return 0; }\n";
    for layout in ["-Wl,-z,separate-code", "-Wl,-z,noseparate-code"] {
        let options = ["-g", "-O0", "-ffunction-sections", "-Wl,--gc-sections", layout];
        let (program, _) = program(&folder.c(text, &options), 0);
        assert_eq!(program.functions("main").len(), 1);
        assert!(program.functions("unused").is_empty(), "{layout}");
        let locations = program.addresses_of("program.c", line_with(text, "// unused"));
        assert!(
            locations.iter().all(|location| location.line.line == line_with(text, "int main")),
            "{layout}: {locations:?}"
        );
    }
}

#[test]
fn stripped_functions_are_found_by_symbol() {
    let folder = Folder::new();
    let path = folder.c(C, &["-O1"]);
    let (program, image) = program(&path, 0x4000_0000);
    assert!(image.units().is_empty() && image.debug_info_error().is_none());
    let found = program.functions("work");
    assert_eq!(found.len(), 1);
    assert!(!found[0].has_debug && found[0].die.is_none());
    assert_eq!(program.function_at(found[0].entry.unwrap() + 1).unwrap().name, "work");
    assert_eq!(program.similar("wrok", 1), ["work"]);
    // The call of `exit` goes through a stub, which is not the function.
    assert!(program.functions("exit").is_empty());
    let stub = image.symbols().iter().find(|symbol| symbol.name == b"exit").unwrap();
    assert_eq!(program.symbol_at(stub.address + 0x4000_0000).unwrap().0, "exit@plt");
}

#[test]
fn ifunc_resolvers_are_marked() {
    let folder = Folder::new();
    let text = r#"
static int fast(void) { return 1; }
static void *choose(void) { return (void *)fast; }
int quick(void) __attribute__((ifunc("choose")));
int main(void) { return quick(); }
"#;
    let path = folder.c(text, &["-O0"]);
    let (program, _) = program(&path, 0);
    let found = program.functions("quick");
    assert_eq!((found.len(), found[0].is_resolver), (1, true));
    assert!(!program.functions("main")[0].is_resolver);
}

#[test]
fn alias_symbols_lead_to_debug_information() {
    let folder = Folder::new();
    let text = "int work(int x) { return x + 1; }\nextern int nick(int) __attribute__((alias(\"work\")));\n\
                int main(void) { return nick(1); }\n";
    let path = folder.c(text, &["-g", "-O0"]);
    let (program, _) = program(&path, 0x1000);
    let (work, nick) = (program.functions("work").remove(0), program.functions("nick").remove(0));
    assert_eq!((nick.name.as_str(), nick.entry, nick.die), ("nick", work.entry, work.die));
    assert_eq!(nick.prologue_end, work.prologue_end);
}

#[test]
fn cold_parts_belong_to_their_function() {
    let folder = Folder::new();
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((cold, noinline)) void complain(int x) { printf("bad %d\n", x); }
__attribute__((noinline)) int check(int x) {
    if (__builtin_expect(x < 0, 0)) { complain(x); abort(); }
    return x + 1;
}
int main(int argc, char **argv) { (void)argv; return check(argc); }
"#;
    let path = folder.c(text, &["-g", "-O2", "-freorder-blocks-and-partition"]);
    let (program, image) = program(&path, 0);
    let check = &program.functions("check")[0];
    let has_cold = image.symbols().iter().any(|symbol| symbol.name == b"check.cold");
    assert_eq!(check.ranges.len(), if has_cold { 2 } else { 1 });
    assert_eq!(check.entry, Some(program.symbol("check").unwrap().address));
    for range in &check.ranges {
        assert_eq!(program.function_at(range.end - 1).unwrap().entry, check.entry);
    }
    assert_eq!(program.functions("check").len(), 1, "the cold part is no function of its own");
}

const CPP: &str = r#"
#include <string>
namespace geometry {
int area(int side) { return side * side; }
double area(double side) { return side * side; }
template <typename T> T largest(T a, T b) { return a > b ? a : b; }
class Shape {
public:
    explicit Shape(int side) : side(side) {}
    virtual ~Shape() {}
    int grow(int by) { side += by; return side; }
    int get() const { return side; }
    static int count(const std::string &name) { return (int)name.size(); }
    bool operator<(const Shape &other) const { return side < other.side; }
    int operator()(int x) const { return side + x; }
    struct Part { int size() { return 3; } };
private:
    int side;
};
}
namespace { int hidden(int x) { return x + 1; } }
namespace other { int area(int side) { return side; } }
int main() {
    geometry::Shape a(1), b(2);
    geometry::Shape::Part part;
    auto twice = [](int x) { return x * 2; };
    return geometry::area(2) + (int)geometry::area(2.0) + geometry::largest(1, 2) + (int)geometry::largest(1.0, 2.0)
        + a.grow(1) + b.get() + (a < b) + a(2) + part.size() + hidden(1) + other::area(1) + twice(3)
        + geometry::Shape::count("x");
}
"#;

#[test]
fn cpp_functions_are_found_by_every_form_of_name() {
    let folder = Folder::new();
    for options in [
        &["-g", "-O0"][..],
        &["-g", "-O0", "-gdwarf-4", "-fdebug-types-section"],
        &["-g", "-O0", "-gdwarf-5", "-fdebug-types-section"],
    ] {
        let path = folder.cpp(CPP, options);
        let (program, _) = program(&path, 0x5555_5555_0000);
        for (query, wanted) in [
            ("area", &["geometry::area(double)", "geometry::area(int)", "other::area(int)"][..]),
            ("geometry::area", &["geometry::area(double)", "geometry::area(int)"]),
            ("area(int)", &["geometry::area(int)", "other::area(int)"]),
            ("geometry::area( double )", &["geometry::area(double)"]),
            ("area(char)", &[]),
            ("grow", &["geometry::Shape::grow(int)"]),
            ("Shape::grow", &["geometry::Shape::grow(int)"]),
            ("Shape.grow", &["geometry::Shape::grow(int)"]),
            ("geometry::Shape::grow(int)", &["geometry::Shape::grow(int)"]),
            ("Shape::get", &["geometry::Shape::get() const"]),
            ("largest", &["geometry::largest<double>(double, double)", "geometry::largest<int>(int, int)"]),
            ("largest<int>", &["geometry::largest<int>(int, int)"]),
            ("Part::size", &["geometry::Shape::Part::size()"]),
            ("operator<", &["geometry::Shape::operator<(geometry::Shape const&) const"]),
            ("Shape::operator()", &["geometry::Shape::operator()(int) const"]),
            ("hidden", &["(anonymous namespace)::hidden(int)"]),
            ("_ZN8geometry4areaEi", &["geometry::area(int)"]),
            ("metry::area", &[]),
        ] {
            assert_eq!(names(&program, query), wanted, "{query} {options:?}");
        }
        assert_eq!(program.functions("geometry::area")[0].name, "geometry::area");
        assert!(names(&program, "Shape::count(std::string const&)").len() == 1);
        // For one constructor in the source, the compiler may generate several functions.
        let made = program.functions("Shape::Shape");
        assert!(!made.is_empty() && made.iter().all(|function| function.name == "geometry::Shape::Shape"));
        assert!(!program.functions("~Shape").is_empty());
        assert_eq!(program.names_with_prefix("geometry::Shape::gro", 9), ["geometry::Shape::grow"]);
        assert_eq!(program.names_with_prefix("gro", 9), ["geometry::Shape::grow"]);
        assert!(program.similar("Shape::gorw", 3).contains(&"geometry::Shape::grow".to_owned()));
    }
}

#[test]
fn function_in_several_units_is_listed_once() {
    let folder = Folder::new();
    folder.write("shared.h", "struct Box { int v; inline int open(int x) { return v / 7 * x; } };\n");
    folder.write(
        "one.cpp",
        "#include \"shared.h\"\n__attribute__((noinline)) int one(Box *b) { return b->open(3); }\n",
    );
    folder.write(
        "two.cpp",
        "#include \"shared.h\"\nint one(Box *b);\nint main(int argc, char **) { Box b{argc}; return one(&b) + b.open(2); }\n",
    );
    folder.run("c++", ["-g", "-O0", "one.cpp", "two.cpp", "-o", "plain"]);
    let (debug, _) = program(&folder.join("plain"), 0);
    assert_eq!(debug.functions("Box::open").len(), 1);
    folder.run("c++", ["-g", "-O2", "one.cpp", "two.cpp", "-o", "optimised"]);
    let (optimised, _) = program(&folder.join("optimised"), 0);
    let found = optimised.functions("Box::open");
    assert_eq!((found.len(), found[0].inlined.len()), (1, 2), "{found:?}");
    assert!(!optimised.functions("one").is_empty());
    assert_eq!(names(&optimised, "shared.h:open"), ["Box::open(int)"]);
    assert_eq!(names(&optimised, "one.cpp:one"), ["one(Box*)"]);
    assert!(names(&optimised, "two.cpp:one").is_empty());
    // After link-time optimisation, inlined instances refer to entries of other units.
    folder.run("c++", ["-g", "-O2", "-flto", "one.cpp", "two.cpp", "-o", "linked"]);
    let (linked, _) = program(&folder.join("linked"), 0);
    let found = linked.functions("Box::open");
    assert!(found.len() == 1 && !found[0].inlined.is_empty(), "{found:?}");
    let chain = linked.inline_chain(found[0].inlined[0].entry);
    assert!(!chain.is_empty() && chain.iter().all(|active| active.name != "(unnamed)"), "{chain:?}");
}

const RUST: &str = r#"
mod shapes {
    pub trait Shape { fn area(&self) -> u32; fn twice(&self) -> u32 { self.area() * 2 } }
    pub struct Square(pub u32);
    pub struct Pair<T>(pub T, pub T);
    impl Shape for Square { #[inline(never)] fn area(&self) -> u32 { self.0 * self.0 } }
    impl Square { #[inline(never)] pub fn grow(&mut self, by: u32) -> u32 { self.0 += by; self.0 } }
    impl<T: Copy> Pair<T> { #[inline(never)] pub fn left(&self) -> T { std::hint::black_box(self.0) } }
    #[inline(never)] pub fn largest<T: PartialOrd>(a: T, b: T) -> T { if a > b { a } else { b } }
}
use std::hint::black_box;
use shapes::{Pair, Shape, Square};
fn main() {
    let mut square = Square(std::env::args().count() as u32);
    let sum = square.grow(2) + square.area() + square.twice() + shapes::largest(black_box(1), 2) + black_box(Pair(1, 2)).left();
    println!("{sum} {} {}", shapes::largest(black_box(1.5), 2.5), black_box(Pair('a', 'b')).left());
}
"#;

#[test]
fn rust_functions_are_found_by_every_form_of_name() {
    if !tools::is_installed("rustc") {
        return;
    }
    let folder = Folder::new();
    for options in [&["-g"][..], &["-g", "-O"], &["-g", "-Csymbol-mangling-version=v0"]] {
        let path = folder.rust(RUST, options);
        let (program, _) = program(&path, 0x5555_5555_0000);
        let count = |query: &str| program.functions(query).len();
        for (query, wanted) in [
            ("program::main", 1),
            ("shapes::Square::grow", 1),
            ("Square::grow", 1),
            ("program::shapes::Square::grow", 1),
            ("Square.grow", 1),
            ("<Square as Shape>::area", 1),
            ("<program::shapes::Square as program::shapes::Shape>::area", 1),
            ("Square::area", 1),
            ("Shape::area", 1),
            ("shapes::largest", 2),
            ("Pair::left", 2),
            ("Circle::area", 0),
            ("program.rs:largest", 2),
        ] {
            assert_eq!(count(query), wanted, "{query} {options:?}: {:?}", names(&program, query));
        }
        let main: Vec<_> =
            program.functions("main").into_iter().filter(|main| main.name == "program::main").collect();
        assert_eq!(main.len(), 1);
        let grow = program.functions("Square::grow").remove(0);
        let hash = grow.linkage_name.as_deref().unwrap();
        if hash.starts_with("_ZN") {
            let hash = &hash[hash.len() - 18..hash.len() - 1];
            assert_eq!(count(&format!("Square::grow::{hash}")), 1);
        }
        let line = program.line_of(grow.prologue_end.unwrap()).unwrap();
        assert_eq!(line.line, line_with(RUST, "fn grow"));
        assert!(line.file.ends_with("program.rs"));
    }
}
