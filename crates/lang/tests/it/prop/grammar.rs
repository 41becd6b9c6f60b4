//! The grammar of properties.

use crate::prop::common::{good, shape};
use invigil_expr::diag::SourceId;
use invigil_lang::prop::{
    self,
    ast::{Acceptance, EventPattern, Property},
};
use invigil_monitor::event::{EventKind, ParamSource, ParamType};

/// A property with one transition.
fn transition(text: &str) -> Property {
    good(&format!("state init {{ transition {{ {text} }} }}"))
}

fn event(text: &str) -> EventPattern {
    transition(text).states.remove(0).transitions.remove(0).event
}

#[test]
fn state_modifiers_parse_in_any_order() {
    let expected = shape(&good("state a accepting final f(1) import transitions from state b {}"));
    for text in [
        "state a final accepting f(1) import transitions from state b",
        "state a f(1) accepting import transitions from state b final { }",
        "state a import transitions from state b f(1) final accepting{}",
        "state a accepting final f(1) { import transitions from state b }",
    ] {
        assert_eq!(shape(&good(text)), expected, "{text}");
    }
    let several = good(
        "state a import transitions from state b import transitions from state c { \
                        transition { event f() success a } import transitions from state d }",
    );
    let imports: Vec<_> = several.states[0].imports.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(imports, ["b", "c", "d"]);
}

#[test]
fn any_hyphen_is_accepted_in_non_accepting() {
    for hyphen in ["-", "\u{2010}", "\u{2011}", "\u{2013}", "\u{2212}"] {
        let property = good(&format!("state bad non{hyphen}accepting"));
        assert_eq!(property.states[0].acceptance.unwrap().0, Acceptance::NonAccepting);
    }
}

#[test]
fn moments_and_accesses_determine_event_kind() {
    for (text, kind, name) in [
        ("event f(x)", EventKind::Before, "f"),
        ("before event f(x)", EventKind::Before, "f"),
        ("before call f(x)", EventKind::Before, "f"),
        ("call f(x)", EventKind::Before, "f"),
        ("before event call f(x)", EventKind::Before, "f"),
        ("after event f(x)", EventKind::After, "f"),
        ("after call f(ret)", EventKind::After, "f"),
        ("event write s(s)", EventKind::Write, "s"),
        ("after event write s(s)", EventKind::Write, "s"),
        ("before event write s(s)", EventKind::BeforeWrite, "s"),
        ("event read s", EventKind::Read, "s"),
        ("before event read s", EventKind::BeforeRead, "s"),
        ("event access s", EventKind::Access, "s"),
        ("before event access s", EventKind::BeforeAccess, "s"),
        ("event write(fd)", EventKind::Before, "write"),
        ("after event read(fd)", EventKind::After, "read"),
        ("event write success init", EventKind::Before, "write"),
        ("event call(x)", EventKind::Before, "call"),
        ("event event(x)", EventKind::Before, "event"),
        ("event before(x)", EventKind::Before, "before"),
        ("event write write(x)", EventKind::Write, "write"),
        ("event success(x)", EventKind::Before, "success"),
        ("event #join(#ecid as e)", EventKind::Join, "#join"),
        ("event #leave", EventKind::Leave, "#leave"),
        ("event #tick (#time)", EventKind::Tick, "#tick"),
        ("event a.b.C.<init>(x)", EventKind::Before, "a.b.C.<init>"),
        ("event ns::Queue<int>::~Queue()", EventKind::Before, "ns::Queue<int>::~Queue"),
        ("event src/queue.c:12(n)", EventKind::Before, "src/queue.c:12"),
        ("event \"operator new(unsigned long)\"(arg 1)", EventKind::Before, "operator new(unsigned long)"),
        ("event write \"q->size\"(ret)", EventKind::Write, "q->size"),
        ("event émettre(été)", EventKind::Before, "émettre"),
    ] {
        let text =
            if text.contains("success init") { text.to_owned() } else { format!("{text} success init") };
        let event = event(&text);
        assert_eq!((event.kind, event.name.text.as_str()), (kind, name), "{text}");
    }
}

#[test]
fn parameters_have_a_source_a_name_and_a_type() {
    let name = |text: &str| ParamSource::Name(text.to_owned());
    let deref = |of: ParamSource| ParamSource::Deref(Box::new(of));
    for (text, source, local, ty) in [
        ("queue", name("queue"), "queue", None),
        ("queue as q", name("queue"), "q", None),
        ("size : int", name("size"), "size", Some(ParamType::Int)),
        ("size as n: int", name("size"), "n", Some(ParamType::Int)),
        ("size: int as n", name("size"), "n", Some(ParamType::Int)),
        ("arg 1 as q", ParamSource::Arg(1), "q", None),
        ("arg 12", ParamSource::Arg(12), "arg12", None),
        ("arg", name("arg"), "arg", None),
        ("ret", ParamSource::Ret, "ret", None),
        ("*p", deref(name("p")), "p", None),
        ("&p as a", ParamSource::Address(Box::new(name("p"))), "a", None),
        ("^arg 2", ParamSource::InCaller(Box::new(ParamSource::Arg(2))), "arg2", None),
        ("* *ret: float", deref(deref(ParamSource::Ret)), "ret", Some(ParamType::Float)),
        ("#ecid", ParamSource::Program, "ecid", None),
        ("#program as p", ParamSource::Program, "p", None),
        ("#thread", ParamSource::Thread, "thread", None),
        ("#time: float", ParamSource::Time, "time", Some(ParamType::Float)),
        ("\"q->size\" as n", ParamSource::Expression("q->size".into()), "n", None),
        ("\"len\": int", ParamSource::Expression("len".into()), "len", Some(ParamType::Int)),
        ("*\"a[2]\" as x", deref(ParamSource::Expression("a[2]".into())), "x", None),
        ("state", name("state"), "state", None),
        ("event", name("event"), "event", None),
        ("success as failure", name("success"), "failure", None),
        ("as as as", name("as"), "as", None),
    ] {
        let event = event(&format!("event f({text}) success init"));
        let param = &event.params[0];
        assert_eq!(param.source, source, "{text}");
        assert_eq!((param.name.text.as_str(), param.ty.map(|(ty, _)| ty)), (local, ty), "{text}");
    }
    assert_eq!(event("event f(a, b,) success init").params.len(), 2);
    assert_eq!(event("event f success init").params.len(), 0);
}

#[test]
fn keywords_are_valid_names() {
    let property = good(
        "slice on state, initialization, on
         state final accepting { transition { event transition(state) success failure failure success } }
         state state { transition { event f() success success } }
         state failure non-accepting
         state transition { transition { event f() { x } failure state } }
         state success final import transitions from state state",
    );
    let names: Vec<_> = property.states.iter().map(|state| state.name.text.as_str()).collect();
    assert_eq!(names, ["final", "state", "failure", "transition", "success"]);
    let odd = &property.states[0].transitions[0];
    let target = |end: &Option<invigil_lang::prop::ast::Branch>| end.clone().unwrap().target.unwrap().text;
    assert_eq!((target(&odd.success), target(&odd.failure)), ("failure".into(), "success".into()));
    assert!(property.states[4].final_span.is_some());
}

#[test]
fn branches_accept_block_call_and_state() {
    for (text, block, action, target) in [
        ("success a", None, None, Some("a")),
        ("success { x = 1 } a", Some("x = 1"), None, Some("a")),
        ("success { x = 1 }", Some("x = 1"), None, None),
        ("success report(N, {\"a\": \")\"}) a", None, Some("report(N, {\"a\": \")\"})"), Some("a")),
        ("success {}f()", Some(""), Some("f()"), None),
    ] {
        let property = transition(&format!("event f() {text} failure b"));
        let end = property.states[0].transitions[0].success.clone().unwrap();
        assert_eq!(end.block.map(|block| block.dedent().text).as_deref(), block, "{text}");
        assert_eq!(end.action.map(|action| action.text).as_deref(), action, "{text}");
        assert_eq!(end.target.map(|target| target.text).as_deref(), target, "{text}");
    }
}

#[test]
fn nested_braces_do_not_end_a_block() {
    for block in [
        "x = {'a': {1: 2}, 'b': '}'}",
        "x = \"}\" + '\\'}'",
        "x = 1 # it's a } comment\n",
        "x = '''\n}\n'''",
        "x = r'\\\\' + f'{x}}}' + b\"}\"",
        "success = 1\nsuccess if x else y\nstate in s\n",
    ] {
        let property = good(&format!("initialization {{{block}}} state init"));
        assert_eq!(property.initialization.unwrap().text, block);
        assert_eq!(property.states.len(), 1, "{block}");
    }
}

#[test]
fn comments_are_allowed_anywhere() {
    let text = "# a\nslice # b\non x # c\n, # d\ny #time\nstate # e\ninit # f\n{ # g\ntransition # h\n{ # i\n\
                before # j\nevent # k\nf # l\n( # m\nx # n\n) # o\n{ x } # p\nsuccess # q\ninit # r\n} # s\n} # t";
    let property = good(text);
    assert_eq!(property.slice_on.len(), 2);
    assert_eq!(property.states[0].transitions[0].event.params[0].name.text, "x");
}

#[test]
fn predefined_and_native_events_parse() {
    for (written, kind, event) in [
        ("event #signal(name)", EventKind::Before, "#signal"),
        ("event #fork()", EventKind::Before, "#fork"),
        ("event #exec(path)", EventKind::Before, "#exec"),
        ("event #exit(status)", EventKind::Before, "#exit"),
        ("event #thread(#thread as t)", EventKind::Before, "#thread"),
        ("event #thread_exit()", EventKind::Before, "#thread_exit"),
        ("event syscall:openat(arg 2 as path: str)", EventKind::Before, "syscall:openat"),
        ("after event syscall:openat(ret)", EventKind::After, "syscall:openat"),
    ] {
        let text = format!("state init {{\n    transition {{\n        {written}\n    }}\n}}\n");
        let property = good(&text);
        let pattern = &property.states[0].transitions[0].event;
        assert_eq!((pattern.kind, pattern.name.text.as_str()), (kind, event), "{written}");
        assert_eq!(prop::format(SourceId(0), &text).unwrap(), text);
    }
}
