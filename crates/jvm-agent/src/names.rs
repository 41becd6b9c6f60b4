//! What users call classes, methods and fields, and whether a class file's names are meant.

use invigil_weave::Method;

/// `app.Queue.push(int)`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The class, with dots: `app.Queue`.
    pub class: String,
    /// The method or field.
    pub member: String,
    /// The types of a method's parameters, if they are given.
    pub types: Option<Vec<String>>,
}

impl Name {
    /// Takes a name apart.
    ///
    /// ```
    /// use invigil_jvm_agent::names::Name;
    /// let push = Name::parse("app.Queue.push(int, String)").unwrap();
    /// assert_eq!((push.class.as_str(), push.member.as_str()), ("app.Queue", "push"));
    /// assert!(push.means_class("app/Queue") && push.means_types("(ILjava/lang/String;)V"));
    /// assert!(Name::parse("push").is_err());
    /// ```
    ///
    /// # Errors
    /// With words, if it is no such name.
    pub fn parse(text: &str) -> Result<Name, String> {
        let text = text.trim();
        let (path, types) = match text.split_once('(') {
            Some((path, rest)) => {
                let Some(inside) = rest.trim_end().strip_suffix(')') else {
                    return Err(format!("the parenthesis in `{text}` is not closed"));
                };
                let types = inside.split(',').map(|word| word.trim().to_owned());
                (path.trim(), Some(types.filter(|word| !word.is_empty()).collect()))
            }
            None => (text, None),
        };
        match path.rsplit_once('.') {
            Some((class, member)) if !class.is_empty() && !member.is_empty() => {
                Ok(Name { class: dotted(class), member: member.to_owned(), types })
            }
            _ => Err(format!("`{text}` names no class: write `Class.{path}`")),
        }
    }

    /// Whether a class, as in `app/Queue`, is meant: by its whole name, or by the end of it, which for classes of the
    /// platform is not enough.
    pub fn means_class(&self, class: &str) -> bool {
        means(&self.class, class)
    }

    /// Whether a method of this name is meant, in the class as in `app/Queue`. Constructors are called `new`, as their
    /// class, or `<init>`.
    pub fn means_method(&self, class: &str, method: &str) -> bool {
        match method {
            "<init>" => {
                matches!(self.member.as_str(), "<init>" | "new")
                    || Some(self.member.as_str()) == simple(class)
            }
            method => method == self.member,
        }
    }

    /// Whether the parameters are the ones that are given, if any are.
    pub fn means_types(&self, descriptor: &str) -> bool {
        let Some(types) = &self.types else { return true };
        let of = parameters(descriptor);
        of.len() == types.len()
            && of.iter().zip(types).all(|(descriptor, word)| {
                let whole = type_words(descriptor);
                whole == dotted(word) || whole.rsplit('.').next() == Some(word.as_str())
            })
    }
}

/// Whether a name with dots means a class such as `app/Outer$Queue`.
pub fn means(name: &str, class: &str) -> bool {
    let class = dotted(class);
    if class == name {
        return true;
    }
    !is_platform(&class) && class.strip_suffix(name).is_some_and(|head| head.ends_with('.'))
}

/// Whether a class with dots in its name comes with Java.
pub fn is_platform(class: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun.", "com.sun."].iter().any(|prefix| class.starts_with(prefix))
}

/// A class as users write it: `app/Outer$Queue` is `app.Outer.Queue`.
pub fn dotted(class: &str) -> String {
    class.replace(['/', '$'], ".")
}

/// The name of a class without those of its packages and of the classes around it.
pub fn simple(class: &str) -> Option<&str> {
    class.rsplit(['/', '$', '.']).next()
}

/// The types of a method's parameters, as the class file has them. What is no descriptor has none.
pub fn parameters(descriptor: &str) -> Vec<&str> {
    let inside =
        descriptor.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(inside, _)| inside);
    let mut rest = inside;
    let mut all = Vec::new();
    while !rest.is_empty() {
        let dimensions = rest.bytes().take_while(|byte| *byte == b'[').count();
        let length = match rest.as_bytes().get(dimensions) {
            Some(b'L') => rest.find(';').map_or(rest.len(), |at| at + 1),
            Some(_) => dimensions + 1,
            None => rest.len(),
        };
        let (one, others) = rest.split_at(length);
        all.push(one);
        rest = others;
    }
    all
}

/// What a method returns, as the class file has it.
pub fn returns(descriptor: &str) -> &str {
    descriptor.split_once(')').map_or("V", |(_, result)| result)
}

/// A type as Java writes it: `[Ljava/lang/String;` is `java.lang.String[]`.
pub fn type_words(descriptor: &str) -> String {
    let dimensions = descriptor.bytes().take_while(|byte| *byte == b'[').count();
    let base = &descriptor[dimensions..];
    let word = match base.as_bytes().first() {
        Some(b'Z') => "boolean".to_owned(),
        Some(b'B') => "byte".to_owned(),
        Some(b'C') => "char".to_owned(),
        Some(b'S') => "short".to_owned(),
        Some(b'I') => "int".to_owned(),
        Some(b'J') => "long".to_owned(),
        Some(b'F') => "float".to_owned(),
        Some(b'D') => "double".to_owned(),
        Some(b'V') => "void".to_owned(),
        Some(b'L') => dotted(base[1..].trim_end_matches(';')),
        _ => base.to_owned(),
    };
    word + &"[]".repeat(dimensions)
}

/// The names of a method's parameters, in order, as far as the class file has them.
pub fn argument_names(method: &Method) -> Vec<Option<String>> {
    const STATIC: u16 = 8;
    let mut slot = u16::from(method.access & STATIC == 0);
    let types = parameters(&method.descriptor);
    let mut names = Vec::new();
    for (at, descriptor) in types.iter().enumerate() {
        let local = method.locals.iter().filter(|local| local.slot == slot).min_by_key(|local| local.start);
        // A slot whose first variable begins late is a reused one.
        let local = local.filter(|local| local.start == 0).map(|local| local.name.clone());
        let given = method.parameters.get(at).filter(|name| !name.is_empty()).cloned();
        names.push(local.or(given));
        slot += if matches!(*descriptor, "J" | "D") { 2 } else { 1 };
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_meant_by_their_ends() {
        let name = |text: &str| Name::parse(text).unwrap();
        assert!(name("Queue.push").means_class("app/Queue"));
        assert!(name("Outer.Queue.push").means_class("app/Outer$Queue"));
        assert!(name("Outer$Queue.push").means_class("app/Outer$Queue"));
        assert!(!name("Queue.push").means_class("app/MyQueue"));
        assert!(!name("List.add").means_class("java/util/List"));
        assert!(name("java.util.List.add").means_class("java/util/List"));
    }

    #[test]
    fn constructors_have_three_names() {
        for text in ["Queue.new", "app.Queue.Queue", "Queue.<init>"] {
            assert!(Name::parse(text).unwrap().means_method("app/Queue", "<init>"), "{text}");
        }
        assert!(!Name::parse("Queue.push").unwrap().means_method("app/Queue", "<init>"));
    }

    #[test]
    fn overloads() {
        let name = Name::parse("Queue.push(int, java.lang.String, long[])").unwrap();
        assert!(name.means_types("(ILjava/lang/String;[J)V"));
        assert!(!name.means_types("(I)V"));
        assert!(Name::parse("Queue.push()").unwrap().means_types("()V"));
        assert!(!Name::parse("Queue.push()").unwrap().means_types("(I)V"));
        assert!(Name::parse("Queue.push(int").is_err());
    }

    #[test]
    fn damaged_descriptors_do_no_harm() {
        for wrong in ["", "(", "(L", "([", "()", ")", "([L;"] {
            let _ = (parameters(wrong), returns(wrong), type_words(wrong));
        }
        assert_eq!(parameters("(I[[JLa/B;D)V"), ["I", "[[J", "La/B;", "D"]);
        assert_eq!(type_words("[[La/B$C;"), "a.B.C[][]");
    }
}
