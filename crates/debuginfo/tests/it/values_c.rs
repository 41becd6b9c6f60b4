//! Values of C programs, stopped at chosen locations.

use crate::common::live_values::Live;
use invigil_test_support::Folder;

const SUBJECT: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#define size 16
#define half (size / 2)
#define nested half + 1
#define TWICE(x) ((x) * 2)
#define forever forever_more
#define forever_more forever

enum color { RED, GREEN = 5, BLUE = -3 };
typedef struct point { int x, y; } point;
struct bits { unsigned a : 3; int b : 5; unsigned long c : 33; bool d : 1; };
union either { int i; float f; unsigned char raw[4]; };
struct node { int value; struct node *next; };
struct opaque;
struct outer {
    struct { int inside; union { int one; float other; }; };
    point where;
    struct bits flags;
    char name[12];
    const char *text;
    int (*act)(int);
    enum color color;
    int grid[2][3];
    double ratio;
};

int global = 42;
static int hidden = 7;
const char *greeting = "hello, \"world\"\n";
_Thread_local int own = 99;
static __thread long other = 123456789012;
char buffer[300];
unsigned char raw[4] = { 1, 2, 250, 0 };
long double precise = 1.5L;
float single = 0.1f;
__int128 huge = (__int128)1 << 100;
volatile uint8_t tiny = 200;
struct opaque *unknown = 0;
void *nowhere = (void *)8;
const char *broken = (const char *)16;
int zeros[50];

static int add_one(int x) { return x + 1; }

int stop(struct outer *o, point p, int n, double d, char c, struct node *list) {
    static int calls = 3;
    int vla[n];
    for (int i = 0; i < n; i++) vla[i] = i * i;
    int shadow = 1;
    {
        int shadow = 2;
        long deep = shadow + 10;
        __asm__ volatile("int3");
        calls += shadow + deep;
    }
    return calls + shadow + vla[n - 1] + o->where.x + p.x + (int)d + c + list->value;
}

int main(int argc, char **argv) {
    struct outer o = { { 11, { 12 } }, { 3, -4 }, { 5, -2, 0x1ffffffffUL, 1 }, "consonants", "abc", add_one,
                       GREEN, { { 1, 2, 3 }, { 4, 5, 6 } }, 2.5 };
    struct node last = { 2, 0 }, first = { 1, &last };
    last.next = &first;
    point p = { 7, 8 };
    int mine = 1000;
    own = 100;
    return stop(&o, p, 5, 3.25, 'i', &first) + mine + hidden + (int)other + (int)precise + tiny;
}
"#;

fn stopped(options: &[&str]) -> (Folder, Live) {
    let shop = Folder::new();
    let path = shop.c(SUBJECT, options);
    let live = Live::at_trap(&path);
    (shop, live)
}

#[test]
fn values_of_unoptimised_program_are_formatted() {
    for options in [&["-O0", "-g3"][..], &["-O0", "-g3", "-gdwarf-4"], &["-O0", "-g3", "-static"]] {
        let (_shop, live) = stopped(options);
        live.check(
            &[
                ("n", "5"),
                ("d", "3.25"),
                ("c", "105 'i'"),
                ("p", "{x = 7, y = 8}"),
                ("p.x + p.y", "15"),
                ("o->where", "{x = 3, y = -4}"),
                ("o.where.y", "-4"),
                ("(*o).where.x", "3"),
                ("o->inside", "11"),
                ("o->one", "12"),
                ("o->flags", "{a = 5, b = -2, c = 8589934591, d = true}"),
                ("o->flags.c", "8589934591"),
                ("o->name", "\"consonants\""),
                ("o->name[0]", "99 'c'"),
                ("o->color", "GREEN"),
                ("o->color == GREEN", "true"),
                ("BLUE", "BLUE"),
                ("(int) BLUE", "-3"),
                ("(enum color) 0", "RED"),
                ("(enum color) 77", "77"),
                ("o->grid", "{{1, 2, 3}, {4, 5, 6}}"),
                ("o->grid[1][2]", "6"),
                ("o->grid[1]", "{4, 5, 6}"),
                ("o->ratio * 2", "5"),
                ("list->next->next->value", "1"),
                ("*list->next", "{value = 2, next = 0x0}".replace("0x0", &live.show("list")).as_str()),
                ("vla", "{0, 1, 4, 9, 16}"),
                ("sizeof(o->grid)", "24"),
                ("sizeof(struct outer)", live.show("sizeof(*o)").as_str()),
                ("sizeof(point)", "8"),
                ("sizeof(int)", "4"),
                ("shadow", "2"),
                ("deep", "12"),
                ("calls", "3"),
                ("stop::calls", "3"),
                ("global", "42"),
                ("hidden", "7"),
                ("program.c::hidden", "7"),
                ("own", "100"),
                ("other", "123456789012"),
                ("*&own", "100"),
                ("buffer", "\"\""),
                ("raw", "\"\\001\\002\\372\""),
                ("raw[2]", "250 '\\372'"),
                ("precise", "1.5"),
                ("single", "0.1"),
                ("huge", "1267650600228229401496703205376"),
                ("tiny", "200 '\\310'"),
                ("tiny + 100", "300"),
                ("unknown", "0x0"),
                ("zeros", "{0 <repeats 50 times>}"),
                ("*(int *) nowhere", "<cannot read memory at 0x8>"),
                ("nowhere == 0 ? 1 : 2", "2"),
                ("broken", "0x10 <cannot read memory at 0x10>"),
                ("size", "16"),
                ("size / 2", "8"),
                ("half", "8"),
                ("nested", "9"),
                ("TWICE(n + 1)", "12"),
                ("^mine", "1000"),
                ("^p", "{x = 7, y = 8}"),
                ("^^mine", "error: no symbol `mine` in this frame"),
                ("global / (n - 5)", "<division by zero>"),
                ("zeros[3]", "0"),
                ("vla[1] @ 3", "{1, 4, 9}"),
                ("*o->grid[0] @ 2", "{1, 2}"),
                ("&o->grid[1] - &o->grid[0]", "1"),
                ("list == list->next->next", "true"),
                ("greeting[1]", "101 'e'"),
                ("o->text == \"abc\"", "true"),
                ("o->name != \"consonants\"", "false"),
                ("c == 'i' && !(n > 5)", "true"),
                ("NULL == unknown", "true"),
                ("*(char *) greeting", "104 'h'"),
                ("(char) 65", "65 'A'"),
                ("-7 / 2", "-3"),
                ("-7 % 3", "-1"),
                ("1 << 31", "-2147483648"),
                ("~0u", "4294967295"),
                ("2147483647 + 1", "-2147483648"),
                ("0xffffffff", "4294967295"),
                ("7 / 2.0", "3.5"),
                ("$rsp == $sp", "true"),
                ("gobal", "error: no symbol `gobal` in this frame; did you mean `global`?"),
                ("o->nam", "error: `struct outer` has no member `nam`; did you mean `name`?"),
                ("n.x", "error: a value of type `int` has no members"),
                ("o->where + 1", "error: a value of type `point` is not a number; select one of its members"),
                ("*nowhere", "error: cannot dereference a `void *`; cast it, as in `*(int *) p`"),
                (
                    "$bogus",
                    "error: unknown register `$bogus`; the general registers, $rip, $xmm0 to $xmm15, and the arguments $arg1, $arg2 … are supported",
                ),
            ]
            .map(|(a, b): (&str, &str)| (a, b)),
        );
        assert!(live.show("greeting").ends_with(" \"hello, \\\"world\\\"\\n\""), "{}", live.show("greeting"));
        assert!(live.show("o->act").ends_with(" <add_one>"), "{}", live.show("o->act"));
        assert!(live.show("add_one").starts_with("{int (int)} 0x"), "{}", live.show("add_one"));
        assert!(live.show("$rip").contains("<stop+"), "{}", live.show("$rip"));
        assert!(live.show("forever").starts_with("error: the macro"), "{}", live.show("forever"));
    }
}

#[test]
fn types_are_formatted_as_declarations() {
    let (_shop, live) = stopped(&["-O0", "-g3"]);
    for (text, name) in [
        ("n", "int"),
        ("o", "struct outer *"),
        ("p", "point"),
        ("o->name", "char [12]"),
        ("o->text", "const char *"),
        ("o->act", "int (*)(int)"),
        ("o->grid", "int [2][3]"),
        ("&o->grid", "int (*)[2][3]"),
        ("o->grid[0]", "int [3]"),
        ("o->color", "enum color"),
        ("tiny", "volatile uint8_t"),
        ("nowhere", "void *"),
        ("&p", "point *"),
        ("vla", "int [5]"),
        ("1ul + 1", "unsigned long"),
        ("stop", "int (struct outer *, point, int, double, char, struct node *)"),
        ("unknown", "struct opaque *"),
        ("huge", "__int128"),
    ] {
        assert_eq!(live.type_of(text), name, "{text}");
    }
}

#[test]
fn scope_lists_locals_and_arguments() {
    let (_shop, live) = stopped(&["-O0", "-g3"]);
    let scope = live.scope(0);
    let arguments: Vec<&str> = scope.arguments().iter().map(|v| v.name).collect();
    assert_eq!(arguments, ["o", "p", "n", "d", "c", "list"]);
    let locals: Vec<(&str, bool)> = scope.locals().iter().map(|v| (v.name, v.is_hidden)).collect();
    assert_eq!(locals[..2], [("shadow", false), ("deep", false)]);
    assert!(locals.contains(&("shadow", true)), "{locals:?}");
    assert!(locals.contains(&("calls", false)) && locals.contains(&("vla", false)), "{locals:?}");
    assert!(!locals.iter().any(|(name, _)| *name == "i"), "the loop is over: {locals:?}");
    let globals: Vec<String> = scope.globals().into_iter().map(|(name, _)| name).collect();
    assert!(globals.contains(&"global".to_owned()) && globals.contains(&"hidden".to_owned()), "{globals:?}");
    assert_eq!(live.show_at(1, "mine"), "1000");
    assert_eq!(live.show_at(1, "o.color"), "GREEN");
}
