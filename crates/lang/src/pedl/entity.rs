//! Monitored entities of the target.

use super::ast::{EntityDecl, Path, ProgramType, Scope};
use invigil_expr::diag::Span;
use invigil_monitor::mac::{MethodId, VariableId};

/// A monitored variable or method.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its id in the recogniser.
    pub id: EntityId,
    /// Its name in the target, as written.
    pub path: Path,
    /// The type of the variable or of the method's result; `None` for `void` or if omitted.
    pub ty: Option<ProgramType>,
    /// Its alias in the script.
    pub alias: Option<String>,
    /// Where it is monitored: for a variable, the assignments; for a method, the calls.
    pub scope: Option<Scope>,
    /// Whether it is a constant of the target, which needs no monitoring.
    pub is_constant: bool,
    /// The position of its declaration.
    pub span: Span,
}

/// The id of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityId {
    /// A variable.
    Variable(VariableId),
    /// A method.
    Method(MethodId),
}

/// The structure of an entity's name, as far as it can be determined without the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityRef<'a> {
    /// A method: its class with the package, its name, and its parameter types.
    Method {
        /// The class; empty for a plain function.
        class: String,
        /// The name.
        name: &'a str,
        /// The parameter types.
        parameters: &'a [ProgramType],
    },
    /// A local variable of a method, or a variable reached from one.
    Local {
        /// The class of the method, with the package.
        class: String,
        /// The name of the method.
        name: &'a str,
        /// Its parameter types.
        parameters: &'a [ProgramType],
        /// The local variable, then the members.
        members: Vec<&'a str>,
    },
    /// A variable reached from a class. Only the target determines where the class ends and the members start.
    Member {
        /// Packages, class and members; or a single name.
        names: Vec<&'a str>,
    },
}

impl Entity {
    pub(super) fn new(id: EntityId, declaration: &EntityDecl, is_constant: bool) -> Entity {
        Entity {
            id,
            path: declaration.path.clone(),
            ty: declaration.ty.clone(),
            alias: declaration.alias.as_ref().map(|alias| alias.text.clone()),
            scope: declaration.scope.clone(),
            is_constant,
            span: declaration.path.span,
        }
    }

    /// Returns the structure of the name.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::pedl::{self, EntityRef};
    ///
    /// let text = "MonScr  monobj int A.main(String[]).c1.d1;  event e = update(A.main(String[]).c1.d1);
    ///             export event e;  End";
    /// let script = pedl::parse(SourceId(0), text).0;
    /// let lowered = pedl::lower(&script, &|_| None).0.unwrap();
    /// let EntityRef::Local { class, name, members, .. } = lowered.entities[0].entity_ref() else { panic!() };
    /// assert_eq!((class.as_str(), name, members), ("A", "main", vec!["c1", "d1"]));
    /// ```
    pub fn entity_ref(&self) -> EntityRef<'_> {
        entity_ref(&self.path)
    }
}

/// Returns the structure of a name.
pub(super) fn entity_ref(path: &Path) -> EntityRef<'_> {
    let names = |part: &'_ [super::ast::Segment]| -> Vec<String> {
        part.iter().map(|segment| format!("{}{}", segment.separator, segment.name)).collect()
    };
    let found = path.segments.iter().position(|segment| segment.parameters.is_some());
    let Some(at) = found else {
        return EntityRef::Member {
            names: path.segments.iter().map(|segment| segment.name.as_str()).collect(),
        };
    };
    let class = names(&path.segments[..at]).concat();
    let name = path.segments[at].name.as_str();
    let parameters = path.segments[at].parameters.as_deref().unwrap_or_default();
    let members: Vec<&str> = path.segments[at + 1..].iter().map(|segment| segment.name.as_str()).collect();
    match members.is_empty() {
        true => EntityRef::Method { class, name, parameters },
        false => EntityRef::Local { class, name, parameters, members },
    }
}

impl Scope {
    /// Returns the structure of the name: a method, or a package or class ([`EntityRef::Member`]).
    pub fn entity_ref(&self) -> EntityRef<'_> {
        entity_ref(&self.path)
    }
}
