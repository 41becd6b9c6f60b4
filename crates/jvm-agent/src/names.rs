//! Names of classes, methods and fields as users write them, and how they match those of class files.

use invigil_weave::Method;

/// A parsed name such as `app.Queue.push(int)`.
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
    /// assert!(push.matches_class("app/Queue") && push.matches_types("(ILjava/lang/String;)V"));
    /// assert!(Name::parse("push").is_err());
    /// ```
    ///
    /// # Errors
    /// A message, if the name is malformed.
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

    /// Whether a class such as `app/Queue` matches: by its full name, or by the end of it. Classes of the platform need
    /// the full name.
    pub fn matches_class(&self, class: &str) -> bool {
        matches_name(&self.class, class)
    }

    /// Whether a method of a class such as `app/Queue` matches. Constructors are called `new`, as their class, or
    /// `<init>`.
    pub fn matches_method(&self, class: &str, method: &str) -> bool {
        match method {
            "<init>" => {
                matches!(self.member.as_str(), "<init>" | "new")
                    || Some(self.member.as_str()) == simple(class)
            }
            method => method == self.member,
        }
    }

    /// Whether the parameters match, if the name has any.
    pub fn matches_types(&self, descriptor: &str) -> bool {
        let Some(types) = &self.types else { return true };
        let of = parameters(descriptor);
        of.len() == types.len()
            && of.iter().zip(types).all(|(descriptor, word)| {
                let whole = type_name(descriptor);
                whole == dotted(word) || whole.rsplit('.').next() == Some(word.as_str())
            })
    }
}

/// Whether a dotted name matches a class such as `app/Outer$Queue`.
pub fn matches_name(name: &str, class: &str) -> bool {
    let class = dotted(class);
    if class == name {
        return true;
    }
    !is_platform(&class) && class.strip_suffix(name).is_some_and(|head| head.ends_with('.'))
}

/// Whether a class, with dots in its name, comes with Java.
pub fn is_platform(class: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun.", "com.sun."].iter().any(|prefix| class.starts_with(prefix))
}

/// A class as users write it: `app/Outer$Queue` is `app.Outer.Queue`.
pub fn dotted(class: &str) -> String {
    class.replace(['/', '$'], ".")
}

/// The name of a class without its packages and enclosing classes.
pub fn simple(class: &str) -> Option<&str> {
    class.rsplit(['/', '$', '.']).next()
}

/// The types of a method's parameters, as in the class file. Empty if the descriptor is malformed.
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

/// The return type of a method, as in the class file.
pub fn return_type(descriptor: &str) -> &str {
    descriptor.split_once(')').map_or("V", |(_, result)| result)
}

/// A type as Java writes it: `[Ljava/lang/String;` is `java.lang.String[]`.
pub fn type_name(descriptor: &str) -> String {
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
        // A slot whose first variable starts late is reused.
        let local = local.filter(|local| local.start == 0).map(|local| local.name.clone());
        let parameter = method.parameters.get(at).filter(|name| !name.is_empty()).cloned();
        names.push(local.or(parameter));
        slot += if matches!(*descriptor, "J" | "D") { 2 } else { 1 };
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_match_by_suffix() {
        let name = |text: &str| Name::parse(text).unwrap();
        assert!(name("Queue.push").matches_class("app/Queue"));
        assert!(name("Outer.Queue.push").matches_class("app/Outer$Queue"));
        assert!(name("Outer$Queue.push").matches_class("app/Outer$Queue"));
        assert!(!name("Queue.push").matches_class("app/MyQueue"));
        assert!(!name("List.add").matches_class("java/util/List"));
        assert!(name("java.util.List.add").matches_class("java/util/List"));
    }

    #[test]
    fn constructors_match_three_names() {
        for text in ["Queue.new", "app.Queue.Queue", "Queue.<init>"] {
            assert!(Name::parse(text).unwrap().matches_method("app/Queue", "<init>"), "{text}");
        }
        assert!(!Name::parse("Queue.push").unwrap().matches_method("app/Queue", "<init>"));
    }

    #[test]
    fn overloads_match_by_parameter_types() {
        let name = Name::parse("Queue.push(int, java.lang.String, long[])").unwrap();
        assert!(name.matches_types("(ILjava/lang/String;[J)V"));
        assert!(!name.matches_types("(I)V"));
        assert!(Name::parse("Queue.push()").unwrap().matches_types("()V"));
        assert!(!Name::parse("Queue.push()").unwrap().matches_types("(I)V"));
        assert!(Name::parse("Queue.push(int").is_err());
    }

    #[test]
    fn malformed_descriptors_have_no_parameters() {
        for wrong in ["", "(", "(L", "([", "()", ")", "([L;"] {
            let _ = (parameters(wrong), return_type(wrong), type_name(wrong));
        }
        assert_eq!(parameters("(I[[JLa/B;D)V"), ["I", "[[J", "La/B;", "D"]);
        assert_eq!(type_name("[[La/B$C;"), "a.B.C[][]");
    }
}
