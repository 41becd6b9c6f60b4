//! What is to be told, and what that means in a class: which of its places, and which values to take there.

use crate::expression::Expression;
use crate::names::{self, Name, argument_names};
use crate::protocol::{Ask, Moment, Problem, Source, Type, Want};
use invigil_expr::diag::nearest;
use invigil_weave::{Capture, Class, Kind, Method, Site};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

const STATIC: u16 = 0x0008;
/// Methods that the compiler made to call others: what they call is told.
const BRIDGE: u16 = 0x0040;
const ABSTRACT: u16 = 0x0400;
const NATIVE: u16 = 0x0100;

/// Something to be told, with its name taken apart.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) want: Want,
    pub(crate) name: Name,
    /// Whether it is to be told at present.
    pub(crate) active: AtomicBool,
    /// Whether a class was found that the name means.
    pub(crate) seen: AtomicBool,
    /// What is wrong with it, as far as classes were found.
    pub(crate) wrong: Mutex<Vec<Problem>>,
    /// Where else it may happen than in the class that is named.
    pub(crate) reach: OnceLock<Reach>,
}

/// The code of a method may be in another class than the one that is named.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The class that the method is inherited from, as in `java/util/AbstractList`.
    pub(crate) ancestor: Option<String>,
    /// Whether classes that extend or implement the named one have it.
    pub(crate) below: bool,
}

/// Whether something is told at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Not at all.
    Never,
    /// For objects of the class that is named only.
    ForSome,
    /// Always.
    Always,
}

impl Wanted {
    pub(crate) fn new(want: Want, active: bool) -> Result<Wanted, Problem> {
        match Name::parse(&want.name) {
            Ok(name) => Ok(Wanted {
                want,
                name,
                active: AtomicBool::new(active),
                seen: AtomicBool::new(false),
                wrong: Mutex::default(),
                reach: OnceLock::new(),
            }),
            Err(reason) => {
                Err(Problem { key: want.key, ask: None, reason, help: String::new(), pending: false })
            }
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    fn problem(&self, ask: Option<usize>, reason: String, help: String) -> Problem {
        Problem { key: self.want.key.clone(), ask: ask.map(|ask| ask as u32), reason, help, pending: false }
    }

    /// What cannot be told, seen from a class that its name means. Nothing if this class alone does not decide it.
    pub(crate) fn problems(&self, class: &Class) -> Vec<Problem> {
        let written = &self.want.name;
        let shown = names::dotted(&class.name);
        let member = &self.name.member;
        if self.want.moment == Moment::Write {
            let Some(field) = class.fields.iter().find(|field| field.name == *member) else {
                if is_plain(class) {
                    let near = nearest(member, class.fields.iter().map(|field| field.name.as_str()));
                    let reason = format!("the class `{shown}` has no field `{member}`");
                    return vec![self.problem(None, reason, meant(near))];
                }
                return Vec::new();
            };
            if field.constant.is_some() {
                let reason = format!("`{written}` is a constant: nobody ever writes it");
                return vec![self.problem(None, reason, String::new())];
            }
            return Vec::new();
        }
        let named: Vec<&Method> =
            class.methods.iter().filter(|method| self.name.means_method(&class.name, &method.name)).collect();
        if named.is_empty() {
            if !is_plain(class) {
                return Vec::new();
            }
            let known = class.methods.iter().map(|method| method.name.as_str());
            let near = nearest(member, known.filter(|name| !name.starts_with('<')));
            let reason = format!("the class `{shown}` has no method `{member}`");
            return vec![self.problem(None, reason, meant(near))];
        }
        let chosen: Vec<&Method> =
            named.iter().copied().filter(|method| self.name.means_types(&method.descriptor)).collect();
        if chosen.is_empty() {
            let all: Vec<String> = named.iter().map(|method| format!("`{}`", signature(method))).collect();
            let reason = format!("no method `{member}` of `{shown}` has these parameters");
            return vec![self.problem(None, reason, format!("there is {}", all.join(", ")))];
        }
        if let Some(native) = chosen.iter().find(|method| method.access & NATIVE != 0) {
            let reason = format!("`{written}` is native: no probe can be put into `{}`", signature(native));
            return vec![self.problem(None, reason, "name a method that calls it".to_owned())];
        }
        let with_code = chosen.into_iter().filter(|method| method.has_code && method.access & BRIDGE == 0);
        let mut problems = Vec::new();
        for method in with_code {
            for (at, ask) in self.want.asks.iter().enumerate() {
                if let Err((reason, help)) = self.roots(ask, class, method)
                    && !problems.iter().any(|known: &Problem| known.ask == Some(at as u32))
                {
                    problems.push(self.problem(Some(at), reason, help));
                }
            }
        }
        problems
    }

    /// Whether a class that is named declares what it is about, so that no other has to be looked at.
    pub(crate) fn is_declared(&self, class: &Class) -> Declared {
        if self.want.moment == Moment::Write {
            let declares = class.fields.iter().any(|field| field.name == self.name.member);
            return if declares { Declared::Here } else { Declared::Above };
        }
        let methods = class.methods.iter().filter(|method| self.is_method(&class.name, method));
        let abstracts: Vec<bool> = methods.map(|method| method.access & ABSTRACT != 0).collect();
        match abstracts.as_slice() {
            [] => Declared::Above,
            all if all.iter().all(|is_abstract| *is_abstract) => Declared::Below,
            _ => Declared::Here,
        }
    }

    fn is_method(&self, class: &str, method: &Method) -> bool {
        self.name.means_method(class, &method.name)
            && self.name.means_types(&method.descriptor)
            && method.access & BRIDGE == 0
    }

    /// Whether a class may have places for it: a quick look, which may say yes too often.
    pub(crate) fn may_concern(&self, class: &str, bytes: &[u8]) -> bool {
        let in_reach = |reach: &Reach| reach.below || reach.ancestor.as_deref() == Some(class);
        match self.want.moment {
            Moment::Write => has(bytes, self.name.member.as_bytes()),
            _ => {
                self.name.means_class(class)
                    || self.reach.get().is_some_and(in_reach) && has(bytes, self.name.member.as_bytes())
            }
        }
    }

    /// Whether it is told where this site is, in the method of the class.
    fn is_at(&self, site: &Site<'_>, method: &Method) -> Told {
        match (&self.want.moment, site.kind) {
            (Moment::Enter, Kind::Enter) | (Moment::Leave, Kind::Return) => {
                if !self.is_method(site.class, method) {
                    return Told::Never;
                }
                let reach = self.reach.get();
                let inherits = reach.is_some_and(|reach| reach.ancestor.as_deref() == Some(site.class));
                let overrides = reach.is_some_and(|reach| reach.below) && method.name != "<init>";
                match (self.name.means_class(site.class), site.is_static) {
                    (true, _) => Told::Always,
                    (false, true) if inherits => Told::Always,
                    (false, false) if inherits || overrides => Told::ForSome,
                    _ => Told::Never,
                }
            }
            (Moment::Write, Kind::Field { owner, name, is_static, .. }) if name == self.name.member => {
                match (self.name.means_class(owner), is_static) {
                    (true, _) => Told::Always,
                    // The code may name a class that inherits the field.
                    (false, false) if !names::is_platform(&names::dotted(owner)) => Told::ForSome,
                    _ => Told::Never,
                }
            }
            _ => Told::Never,
        }
    }

    /// The values that a parameter needs, with their names in its expression.
    fn roots(&self, ask: &Ask, class: &Class, method: &Method) -> Result<Vec<(String, Capture)>, Mistake> {
        match &ask.source {
            Source::Thread | Source::Process | Source::Time => Ok(Vec::new()),
            Source::Argument { number } => {
                let count = names::parameters(&method.descriptor).len();
                match (*number as usize).checked_sub(1).filter(|at| *at < count) {
                    Some(at) => Ok(vec![(String::new(), Capture::Argument(at as u16))]),
                    None => Err((
                        format!("`{}` has no argument {number}", signature(method)),
                        format!("it has {count}, counted from 1"),
                    )),
                }
            }
            Source::Result => self.result(method).map(|capture| vec![(String::new(), capture)]),
            Source::Expression { text } => {
                let expression = Expression::parse(text).map_err(|reason| (reason, String::new()))?;
                let mut roots = Vec::new();
                for name in expression.names() {
                    if let Some(capture) = self.root(name, class, method)? {
                        roots.push((name.to_owned(), capture));
                    }
                }
                Ok(roots)
            }
        }
    }

    fn result(&self, method: &Method) -> Result<Capture, Mistake> {
        match self.want.moment {
            Moment::Write => Ok(Capture::Value),
            Moment::Leave if names::returns(&method.descriptor) != "V" => Ok(Capture::Result),
            Moment::Leave => Err((format!("`{}` returns nothing", signature(method)), String::new())),
            Moment::Enter | Moment::Line => Err((
                format!("what `{}` returns is not known before it does", signature(method)),
                "write `after event`".to_owned(),
            )),
        }
    }

    /// What a name stands for at the site; nothing for a static field or a class, which need no value from there.
    fn root(&self, name: &str, class: &Class, method: &Method) -> Result<Option<Capture>, Mistake> {
        if self.want.moment == Moment::Write {
            // The code that writes may be anybody's: a name is the field itself, or of the object that has it.
            return Ok(Some(if name == self.name.member { Capture::Value } else { Capture::Owner }));
        }
        let is_static = method.access & STATIC != 0;
        let in_constructor = method.name == "<init>" && self.want.moment == Moment::Enter;
        let this = || match (is_static, in_constructor) {
            (true, _) => Err((
                format!("`{}` is static: it has no `this`", signature(method)),
                "name a parameter or a static field".to_owned(),
            )),
            (_, true) => Err((
                "an object is not there yet when its constructor begins".to_owned(),
                "write `after event`".to_owned(),
            )),
            _ => Ok(Some(Capture::This)),
        };
        if name == "this" {
            return this();
        }
        let arguments = argument_names(method);
        if let Some(at) = arguments.iter().position(|argument| argument.as_deref() == Some(name)) {
            return Ok(Some(Capture::Argument(at as u16)));
        }
        if name == "ret" {
            return self.result(method).map(Some);
        }
        match class.fields.iter().find(|field| field.name == name) {
            Some(field) if field.access & STATIC != 0 => return Ok(None),
            Some(_) => return this(),
            None => {}
        }
        if name.starts_with(|letter: char| letter.is_uppercase()) {
            return Ok(None);
        }
        if !is_plain(class) && !is_static {
            return this();
        }
        let known = arguments.iter().flatten().map(String::as_str);
        let near = nearest(name, known.chain(class.fields.iter().map(|field| field.name.as_str())));
        let reason =
            format!("`{}` has no parameter `{name}`, and its class no such field", signature(method));
        let help = match near {
            None if arguments.iter().any(Option::is_none) => {
                "the class file does not have the names of parameters: compile with `javac -g`, or write `arg 1`"
                    .to_owned()
            }
            near => meant(near),
        };
        Err((reason, help))
    }
}

type Mistake = (String, String);

/// Where something is declared, seen from the class that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// In that class.
    Here,
    /// In one that it extends, or nowhere.
    Above,
    /// Its code is in classes that extend or implement that one.
    Below,
}

/// Whether bytes occur in others.
fn has(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

fn meant(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("did you mean `{near}`?"))
}

/// Whether a class has nothing but what it declares.
fn is_plain(class: &Class) -> bool {
    class
        .parent
        .as_deref()
        .is_none_or(|parent| matches!(parent, "java/lang/Object" | "java/lang/Record" | "java/lang/Enum"))
        && class.access & ABSTRACT == 0
}

/// A method as users write it: `push(int)`.
pub(crate) fn signature(method: &Method) -> String {
    let types: Vec<String> = names::parameters(&method.descriptor)
        .into_iter()
        .map(|descriptor| {
            let whole = names::type_words(descriptor);
            whole.rsplit('.').next().unwrap_or_default().to_owned()
        })
        .collect();
    format!("{}({})", method.name, types.join(", "))
}

/// How a value is got where something is told.
#[derive(Debug)]
pub(crate) enum Reader {
    /// It is one of those that were taken.
    Taken(usize),
    /// It is computed: the values that were taken by name, and which of them is `this`.
    Computed { expression: Expression, names: Vec<(String, usize)> },
    /// The agent knows it.
    Known(Source),
    /// It is not to be had here.
    Nothing,
}

/// Something that is told at a place.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) wanted: Arc<Wanted>,
    /// Whether only objects of the class that is named count.
    pub(crate) for_some: bool,
    pub(crate) readers: Vec<(Reader, Option<Type>)>,
}

/// A place at which something may be told.
#[derive(Debug)]
pub(crate) struct Place {
    /// What is taken there, each with its type.
    pub(crate) captures: Vec<(Capture, String)>,
    pub(crate) uses: Vec<Use>,
    /// Which of the captures is the object that names without one mean.
    pub(crate) this: Option<usize>,
}

impl Place {
    /// The place for a site, if something is told there.
    pub(crate) fn of(site: &Site<'_>, class: &Class, wants: &[Arc<Wanted>]) -> Option<Place> {
        let method = class
            .methods
            .iter()
            .find(|method| method.name == site.method && method.descriptor == site.descriptor)?;
        let mut place = Place { captures: Vec::new(), uses: Vec::new(), this: None };
        for wanted in wants {
            let told = wanted.is_at(site, method);
            if told == Told::Never {
                continue;
            }
            if told == Told::ForSome {
                place.take(
                    if wanted.want.moment == Moment::Write { Capture::Owner } else { Capture::This },
                    site,
                );
            }
            let asks = wanted.want.asks.iter();
            let readers =
                asks.map(|ask| (place.reader(wanted, ask, site, class, method), ask.ty.clone())).collect();
            place.uses.push(Use { wanted: Arc::clone(wanted), for_some: told == Told::ForSome, readers });
        }
        if place.uses.is_empty() {
            return None;
        }
        let is_this = |(capture, _): &(Capture, String)| matches!(capture, Capture::This | Capture::Owner);
        place.this = place.captures.iter().position(is_this);
        Some(place)
    }

    fn reader(
        &mut self,
        wanted: &Wanted,
        ask: &Ask,
        site: &Site<'_>,
        class: &Class,
        method: &Method,
    ) -> Reader {
        let roots = match wanted.roots(ask, class, method) {
            Ok(roots) => roots,
            Err(_) => return Reader::Nothing,
        };
        match &ask.source {
            Source::Thread | Source::Process | Source::Time => Reader::Known(ask.source.clone()),
            Source::Argument { .. } | Source::Result => {
                roots.first().map_or(Reader::Nothing, |(_, capture)| Reader::Taken(self.take(*capture, site)))
            }
            Source::Expression { text } => match Expression::parse(text) {
                Ok(Expression::Name(name))
                    if roots
                        .first()
                        .is_some_and(|(root, capture)| *root == name && is_whole(&name, *capture)) =>
                {
                    Reader::Taken(self.take(roots[0].1, site))
                }
                Ok(expression) => {
                    let names = roots
                        .into_iter()
                        .map(|(name, capture)| (name, capture, self.take(capture, site)))
                        .filter(|(name, capture, _)| is_whole(name, *capture))
                        .map(|(name, _, at)| (name, at))
                        .collect();
                    Reader::Computed { expression, names }
                }
                Err(_) => Reader::Nothing,
            },
        }
    }

    /// The position of a capture, added if it is new.
    fn take(&mut self, capture: Capture, site: &Site<'_>) -> usize {
        if let Some(at) = self.captures.iter().position(|(known, _)| *known == capture) {
            return at;
        }
        let of_field = match site.kind {
            Kind::Field { descriptor, .. } => descriptor,
            _ => "",
        };
        let ty = match capture {
            Capture::Argument(at) => {
                names::parameters(site.descriptor).get(usize::from(at)).map_or("", |ty| *ty).to_owned()
            }
            Capture::Result => names::returns(site.descriptor).to_owned(),
            Capture::Value => of_field.to_owned(),
            Capture::This | Capture::Owner | Capture::Thrown => "Ljava/lang/Object;".to_owned(),
        };
        self.captures.push((capture, ty));
        self.captures.len() - 1
    }
}

/// Whether a capture is what the name stands for, and not the object that has it as a field.
fn is_whole(name: &str, capture: Capture) -> bool {
    !matches!(capture, Capture::This | Capture::Owner) || matches!(name, "this")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Key;

    /// `class Queue { int size; static int all; void push(int item, long when); native int pop(); }`
    fn class(with_names: bool) -> Class {
        let method = |name: &str, descriptor: &str, access| Method {
            name: name.into(),
            descriptor: descriptor.into(),
            access,
            has_code: access & NATIVE == 0,
            parameters: if with_names { vec!["item".into(), "when".into()] } else { Vec::new() },
            locals: Vec::new(),
            lines: Vec::new(),
        };
        let field = |name: &str, access| invigil_weave::Field {
            name: name.into(),
            descriptor: "I".into(),
            access,
            constant: None,
        };
        Class {
            major: 61,
            access: 0x20,
            name: "app/Queue".into(),
            parent: Some("java/lang/Object".into()),
            interfaces: Vec::new(),
            source: None,
            fields: vec![field("size", 0), field("all", STATIC)],
            methods: vec![
                method("push", "(IJ)V", 0),
                method("pop", "()I", NATIVE),
                method("<init>", "(IJ)V", 0),
            ],
        }
    }

    fn wanted(moment: Moment, name: &str, sources: &[Source]) -> Wanted {
        let asks = sources.iter().map(|source| Ask { source: source.clone(), ty: None }).collect();
        let want =
            Want { key: Key::Event { number: 0 }, moment, name: name.into(), candidates: Vec::new(), asks };
        Wanted::new(want, true).unwrap()
    }

    fn text(text: &str) -> Source {
        Source::Expression { text: text.into() }
    }

    fn complaint(wanted: &Wanted, class: &Class) -> String {
        let problems = wanted.problems(class);
        problems.iter().map(|problem| format!("{}; {}\n", problem.reason, problem.help)).collect()
    }

    #[test]
    fn misspelled_members_get_the_nearest() {
        let class = class(true);
        let words = complaint(&wanted(Moment::Enter, "Queue.psuh", &[]), &class);
        assert!(words.contains("no method `psuh`") && words.contains("`push`"), "{words}");
        let words = complaint(&wanted(Moment::Write, "Queue.sise", &[]), &class);
        assert!(words.contains("no field `sise`") && words.contains("`size`"), "{words}");
        let words = complaint(&wanted(Moment::Enter, "Queue.push", &[text("itme")]), &class);
        assert!(words.contains("no parameter `itme`") && words.contains("`item`"), "{words}");
        let words = complaint(&wanted(Moment::Enter, "Queue.push(int)", &[]), &class);
        assert!(words.contains("push(int, long)"), "{words}");
        assert!(complaint(&wanted(Moment::Enter, "Queue.pop", &[]), &class).contains("native"));
    }

    #[test]
    fn values_that_are_not_there() {
        let class = class(true);
        assert!(
            complaint(&wanted(Moment::Enter, "Queue.push", &[Source::Result]), &class)
                .contains("after event")
        );
        assert!(
            complaint(&wanted(Moment::Leave, "Queue.push", &[Source::Result]), &class).contains("nothing")
        );
        let third = Source::Argument { number: 3 };
        assert!(complaint(&wanted(Moment::Enter, "Queue.push", &[third]), &class).contains("no argument 3"));
        assert!(
            complaint(&wanted(Moment::Enter, "Queue.new", &[text("this")]), &class).contains("not there yet")
        );
        assert_eq!(complaint(&wanted(Moment::Leave, "Queue.new", &[text("this.size + item")]), &class), "");
        assert_eq!(complaint(&wanted(Moment::Enter, "Queue.push", &[text("size + all")]), &class), "");
    }

    #[test]
    fn without_names_there_are_positions() {
        let class = class(false);
        let words = complaint(&wanted(Moment::Enter, "Queue.push", &[text("item")]), &class);
        assert!(words.contains("javac -g"), "{words}");
        let second = Source::Argument { number: 2 };
        assert_eq!(complaint(&wanted(Moment::Enter, "Queue.push", &[second]), &class), "");
    }

    #[test]
    fn a_place_takes_each_value_once() {
        let class = class(true);
        let sources = [text("item"), text("this.size > item"), text("size"), Source::Argument { number: 1 }];
        let wants = [Arc::new(wanted(Moment::Enter, "Queue.push", &sources))];
        let site = Site {
            class: "app/Queue",
            method: "push",
            descriptor: "(IJ)V",
            is_static: false,
            line: None,
            kind: Kind::Enter,
        };
        let place = Place::of(&site, &class, &wants).unwrap();
        let captures: Vec<Capture> = place.captures.iter().map(|(capture, _)| *capture).collect();
        assert_eq!(captures, [Capture::Argument(0), Capture::This]);
        assert_eq!(place.this, Some(1));
        assert!(Place::of(&Site { method: "pop", descriptor: "()I", ..site }, &class, &wants).is_none());
    }
}
