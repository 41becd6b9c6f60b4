//! Values of C++ programs.

use crate::common::live_values::Live;
use invigil_test_support::Folder;

const SUBJECT: &str = r#"
#include <string>
#include <vector>
#include <cstdint>
namespace ns {
    int x = 3;
    namespace inner { int deep = 4; }
    enum class Color : uint8_t { Red = 1, Blue = 200 };
    struct Holder { static int shared; static const int fixed = 12; };
    int Holder::shared = 31;
}
namespace { int nameless = 8; }
int x = 1;
struct Base { int base_value = 5; virtual ~Base() {} };
struct Second { long second_value = 6; };
struct Virtual { int shared_value = 13; virtual ~Virtual() {} };
struct Left : virtual Virtual { int left = 1; };
struct Diamond : Left { int own = 2; };
struct Derived : Base, Second {
    int value;
    explicit Derived(int v) : value(v) {}
    int method(int add) const {
        __asm__ volatile("int3");
        return value + add;
    }
};
template <typename T> struct Box { T content; };
typedef int (Derived::*Method)(int) const;

static int use(const Derived &reference, Derived &&moved, ns::Color color, std::string text, std::vector<int> numbers,
               Box<double> box, Diamond *diamond, char16_t wide, const char *const constant, bool flag) {
    const int &to = reference.value;
    decltype(nullptr) null = nullptr;
    return reference.method(to) + moved.value + (int)color + (int)text.size() + numbers[0] + (int)box.content +
           diamond->shared_value + wide + constant[0] + flag + (null == nullptr);
}

int main() {
    Derived d(40);
    Diamond diamond;
    return use(d, Derived(41), ns::Color::Blue, "some text", { 1, 2, 3 }, { 1.5 }, &diamond, u'\u00e4', "fixed", true) +
           ns::inner::deep + nameless + ns::Holder::shared + ns::Holder::fixed;
}
"#;

#[test]
fn cpp_values_are_formatted() {
    for options in [&["-O0", "-g3"][..], &["-O0", "-g", "-gdwarf-4"]] {
        let shop = Folder::new();
        let path = shop.cpp(SUBJECT, options);
        let live = Live::at_trap(&path);
        live.check(&[
            ("add", "40"),
            ("value", "40"),
            ("this->value", "40"),
            ("base_value + second_value", "11"),
            ("x", "1"),
            ("::x", "1"),
            ("ns::x", "3"),
            ("ns::inner::deep", "4"),
            ("inner::deep", "4"),
            ("nameless", "8"),
            ("ns::Holder::shared", "31"),
            ("Holder::fixed", "12"),
            ("ns::Color::Blue", "Blue"),
            ("^text", "\"some text\""),
            ("^numbers", "{1, 2, 3}"),
            ("^numbers[1]", "2"),
            ("^box", "{content = 1.5}"),
            ("^diamond->shared_value", "13"),
            ("^diamond->left", "1"),
            ("^color", "Blue"),
            ("(int) ^color", "200"),
            ("^wide", "228 'ä'"),
            ("^flag", "true"),
            ("^null", "0x0"),
            ("^reference.second_value", "6"),
            ("^moved.value", "41"),
            ("^^d.value", "40"),
            ("^text == \"some text\"", "true"),
            ("*this", live.show("^^d").as_str()),
        ]);
        let shown = live.show("^to");
        assert!(shown.starts_with("@0x") && shown.ends_with(": 40"), "{shown}");
        let shown = live.show("*this");
        assert!(shown.starts_with("{<Base> = {_vptr.Base = 0x"), "{shown}");
        assert!(shown.ends_with("base_value = 5}, <Second> = {second_value = 6}, value = 40}"), "{shown}");
        for (text, name) in [
            ("^reference", "const Derived &"),
            ("^moved", "Derived &&"),
            ("^color", "ns::Color"),
            ("^box", "Box<double>"),
            ("^constant", "const char * const"),
            ("this", "const Derived * const"),
        ] {
            assert_eq!(live.type_of(text), name, "{text}");
        }
    }
}

#[test]
fn non_trivial_objects_are_passed_by_address() {
    let shop = Folder::new();
    let path = shop.cpp(SUBJECT, &["-O0", "-g"]);
    let live = Live::at_function(&path, "use");
    live.check(&[
        ("text", "\"some text\""),
        ("numbers", "{1, 2, 3}"),
        ("color", "Blue"),
        ("reference.value", "40"),
        ("box.content", "1.5"),
        ("wide", "228 'ä'"),
        ("flag", "true"),
    ]);
}
