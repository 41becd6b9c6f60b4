//! What a script watches in a program.

use super::ast::{Monitored, Path, ProgramType, Scope};
use invigil_expr::diag::Span;
use invigil_monitor::mac::{MethodId, VariableId};

/// Something that is watched in a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// By which number the recogniser knows it.
    pub id: Id,
    /// Its name in the program, as it is written.
    pub path: Path,
    /// The type of the variable, or of what the method returns; nothing for `void`, or where it is left out.
    pub ty: Option<ProgramType>,
    /// Its short name in the script.
    pub alias: Option<String>,
    /// Where in the program it is watched: for a variable, where it is assigned; for a method, where it is called.
    pub scope: Option<Scope>,
    /// Whether the program says that it never changes: it needs not be watched.
    pub is_constant: bool,
    /// Where it is declared.
    pub span: Span,
}

/// The number of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// It is a variable.
    Variable(VariableId),
    /// It is a method.
    Method(MethodId),
}

/// What the name of an entity says of where it is, as far as that can be known without the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A method: its class (with the package), its name, and the types of its parameters.
    Method {
        /// Empty for a function of its own.
        class: String,
        /// The name.
        name: &'a str,
        /// The types of the parameters.
        parameters: &'a [ProgramType],
    },
    /// A local variable of a method, or a variable that is reached from there.
    Local {
        /// The class of the method, with the package.
        class: String,
        /// The method's name.
        name: &'a str,
        /// The types of its parameters.
        parameters: &'a [ProgramType],
        /// The local variable, then the members on the way.
        members: Vec<&'a str>,
    },
    /// A variable that is reached from a class: where the class ends and the members begin is for the program to say.
    Member {
        /// Packages, the class, and the members on the way; or just a name.
        names: Vec<&'a str>,
    },
}

impl Entity {
    pub(super) fn new(id: Id, written: &Monitored, is_constant: bool) -> Entity {
        Entity {
            id,
            path: written.path.clone(),
            ty: written.ty.clone(),
            alias: written.alias.as_ref().map(|alias| alias.text.clone()),
            scope: written.scope.clone(),
            is_constant,
            span: written.path.span,
        }
    }

    /// What the name says.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::pedl::{self, Place};
    ///
    /// let text = "MonScr  monobj int A.main(String[]).c1.d1;  event e = update(A.main(String[]).c1.d1);
    ///             export event e;  End";
    /// let script = pedl::parse(SourceId(0), text).0;
    /// let lowered = pedl::lower(&script, &|_| None).0.unwrap();
    /// let Place::Local { class, name, members, .. } = lowered.entities[0].place() else { panic!() };
    /// assert_eq!((class.as_str(), name, members), ("A", "main", vec!["c1", "d1"]));
    /// ```
    pub fn place(&self) -> Place<'_> {
        place(&self.path)
    }
}

/// What a name says of where it is.
pub(super) fn place(path: &Path) -> Place<'_> {
    let names = |part: &'_ [super::ast::Segment]| -> Vec<String> {
        part.iter().map(|segment| format!("{}{}", segment.joint, segment.name)).collect()
    };
    let found = path.segments.iter().position(|segment| segment.parameters.is_some());
    let Some(at) = found else {
        return Place::Member { names: path.segments.iter().map(|segment| segment.name.as_str()).collect() };
    };
    let class = names(&path.segments[..at]).concat();
    let name = path.segments[at].name.as_str();
    let parameters = path.segments[at].parameters.as_deref().unwrap_or_default();
    let members: Vec<&str> = path.segments[at + 1..].iter().map(|segment| segment.name.as_str()).collect();
    match members.is_empty() {
        true => Place::Method { class, name, parameters },
        false => Place::Local { class, name, parameters, members },
    }
}

impl Scope {
    /// What the name says: a method, or else a package or a class ([`Place::Member`]).
    pub fn place(&self) -> Place<'_> {
        place(&self.path)
    }
}
