//! Resolution of names in expressions.

use crate::symbols::SymbolKind;
use crate::value::error::ExpressionError;
use crate::value::evaluate::EvalError;
use crate::value::expression::{Expression, Node, TypeName};
use crate::value::info::DieRef;
use crate::value::location::Rule;
use crate::value::scope::Scope;
use crate::value::type_index::DeclKind;
use crate::value::typed_value::{Location, TypedValue};
use crate::value::types::{Basic, Type};
use std::sync::Arc;

impl Scope<'_> {
    /// The variable, enumerator, function or symbol with a name, as seen from the frame.
    ///
    /// # Errors
    /// If there is none; the error suggests the most similar name.
    pub fn value_of_name(&self, name: &str) -> Result<TypedValue, ExpressionError> {
        self.evaluate(&Expression::parse(name)?)
    }

    pub(crate) fn resolve(
        &self,
        path: &[String],
        at: usize,
        macro_depth_left: u8,
    ) -> Result<TypedValue, EvalError> {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let found = match parts.as_slice() {
            [name] => self.unqualified_value(name, macro_depth_left)?,
            _ => self.qualified_value(&parts),
        };
        match found {
            Some(typed_value) => Ok(typed_value),
            None => {
                let name = parts.join("::");
                let last = parts.last().copied().unwrap_or("");
                let error = ExpressionError::new(at, format!("no symbol `{name}` in this frame"));
                let error = if self.lacks_macros() {
                    error.remedy("if it is a macro, compile with `-g3`")
                } else {
                    error
                };
                Err(error.nearest(last, self.names()).into())
            }
        }
    }

    /// Whether the program has debug information but no macros. Every C compiler defines the macro that is looked up.
    fn lacks_macros(&self) -> bool {
        let main = self.info.program.images().first();
        main.is_some_and(|mapped| mapped.image.dwarf().is_some())
            && self.info.program.macro_definition("__STDC__", Some(self.lookup_pc())).is_none()
    }

    fn unqualified_value(&self, name: &str, macro_depth_left: u8) -> Result<Option<TypedValue>, EvalError> {
        if let Some(typed_value) = self.in_blocks(name) {
            return Ok(Some(typed_value));
        }
        if let Some(typed_value) = self.member_of_this(name)? {
            return Ok(Some(typed_value));
        }
        if let Some(typed_value) = self.declared_value(&[name]) {
            return Ok(Some(typed_value));
        }
        if let Some(typed_value) = self.constant_macro(name, macro_depth_left)? {
            return Ok(Some(typed_value));
        }
        Ok(self.code_or_data(name).or_else(|| keyword_value(name)))
    }

    /// In C++ methods, members of the object are used without `this`.
    fn member_of_this(&self, name: &str) -> Result<Option<TypedValue>, EvalError> {
        if name == "this" {
            return Ok(None);
        }
        let Some(this) = self.in_blocks("this") else { return Ok(None) };
        let Ok(object) = self.pointee(&this, 0) else { return Ok(None) };
        self.member(&object, name)
    }

    /// A global variable or an enumerator.
    fn declared_value(&self, path: &[&str]) -> Option<TypedValue> {
        let is_value = |kind| matches!(kind, DeclKind::Variable | DeclKind::Enumerator(_));
        let (at, kind) = self.info.types.find(self.info, self.function(), path, is_value)?;
        let entry = self.info.entry(at)?;
        if let DeclKind::Enumerator(of) = kind {
            return self.enumerator_value(&entry, DieRef { image: at.image, die: of });
        }
        Some(self.value_of_entry(&entry))
    }

    fn qualified_value(&self, path: &[&str]) -> Option<TypedValue> {
        if let Some(typed_value) = self.declared_value(path) {
            return Some(typed_value);
        }
        let (first, rest) = path.split_first()?;
        let (last, enclosing) = path.split_last()?;
        if let Some(typed_value) = self.in_file(first, rest) {
            return Some(typed_value);
        }
        self.static_in(&enclosing.join("::"), last).or_else(|| self.code_or_data(&path.join("::")))
    }

    /// `file.c::x`
    fn in_file(&self, file: &str, path: &[&str]) -> Option<TypedValue> {
        let is_file = |unit: &crate::image::Unit| {
            let name = unit.name.and_then(|name| name.to_string().ok()).unwrap_or("");
            name == file || name.strip_suffix(file).is_some_and(|before| before.ends_with('/'))
        };
        for (image, mapped) in self.info.program.images().iter().enumerate() {
            for unit in
                mapped.image.units().iter().enumerate().filter(|(_, unit)| is_file(unit)).map(|(i, _)| i)
            {
                let wanted = path.join("::");
                let variables = self.info.types.variables_of(self.info, image, unit);
                if let Some((_, at)) = variables.into_iter().find(|(name, _)| *name == wanted) {
                    return Some(self.value_of_entry(&self.info.entry(at)?));
                }
            }
        }
        None
    }

    /// `function::variable`: a static variable declared anywhere in a function.
    fn static_in(&self, function: &str, name: &str) -> Option<TypedValue> {
        for function in self.info.program.functions(function) {
            let (Some(image), Some(die)) = (self.info.position(&function.mapped), function.die) else {
                continue;
            };
            if let Some(typed_value) = self.static_below(DieRef { image, die }, name, 32) {
                return Some(typed_value);
            }
        }
        None
    }

    fn static_below(&self, at: DieRef, name: &str, depth: u8) -> Option<TypedValue> {
        let depth = depth.checked_sub(1)?;
        for entry in self.info.children(at) {
            match entry.tag() {
                gimli::DW_TAG_lexical_block => {
                    if let Some(typed_value) = self.static_below(entry.at, name, depth) {
                        return Some(typed_value);
                    }
                }
                gimli::DW_TAG_variable if self.info.name(&entry) == Some(name) => {
                    // A variable in a frame has no meaning outside of the function.
                    if let Some(Rule::Everywhere(rule)) = self.rule(&entry, gimli::DW_AT_location)
                        && let Some(encoding) = self.info.encoding(entry.at)
                        && matches!(
                            rule.operations(encoding).next(),
                            Ok(Some(
                                gimli::Operation::Address { .. } | gimli::Operation::AddressIndex { .. }
                            ))
                        )
                    {
                        return Some(self.value_of_entry(&entry));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// A function, or data with a symbol but no debug information.
    fn code_or_data(&self, name: &str) -> Option<TypedValue> {
        if let Some(function) = self.info.program.functions(name).into_iter().find(|f| f.entry.is_some())
            && let Some(entry) = function.entry
        {
            let at = self.info.position(&function.mapped).zip(function.die);
            let ty = at.map_or(Type::Void, |(image, die)| Type::Described(DieRef { image, die }));
            return Some(TypedValue::new(ty, Location::Memory(entry)));
        }
        let symbol = self.info.program.symbol(name)?;
        if matches!(symbol.kind, SymbolKind::Function | SymbolKind::Resolver | SymbolKind::Stub) {
            return Some(TypedValue::new(Type::Void, Location::Memory(symbol.address)));
        }
        let basic = match symbol.size {
            1 => Basic::CHAR,
            2 => Basic::INT.sized(2),
            4 => Basic::INT,
            _ => Basic::LONG,
        };
        Some(match self.symbol_address(name)? {
            Ok(address) => TypedValue::new(Type::Basic(basic), Location::Memory(address)),
            Err(reason) => TypedValue::none(Type::Basic(basic), reason),
        })
    }

    /// Expands an object-like macro.
    fn constant_macro(&self, name: &str, macro_depth_left: u8) -> Result<Option<TypedValue>, EvalError> {
        let Some(found) = self.info.program.macro_definition(name, Some(self.lookup_pc())) else {
            return Ok(None);
        };
        if found.parameters.is_some() || found.body.trim().is_empty() {
            return Ok(None);
        }
        self.evaluate_expansion(name, &found.body, macro_depth_left).map(Some)
    }

    /// Expands a function-like macro.
    pub(crate) fn call_macro(
        &self,
        name: &str,
        arguments: &[Node],
        at: usize,
        macro_depth_left: u8,
    ) -> Result<TypedValue, EvalError> {
        let found = self.info.program.macro_definition(name, Some(self.lookup_pc()));
        let Some((body, parameters)) = found.and_then(|found| Some((found.body, found.parameters?))) else {
            return Err(ExpressionError::new(at, format!("`{name}` cannot be called here"))
                .remedy("only macros in the debug information (`-g3`) can be used like functions")
                .into());
        };
        if parameters.len() != arguments.len() {
            let text = format!("`{name}` takes {} arguments, not {}", parameters.len(), arguments.len());
            return Err(ExpressionError::new(at, text).into());
        }
        let values: Vec<String> = arguments.iter().map(|argument| format!("({argument})")).collect();
        self.evaluate_expansion(name, &substituted(&body, &parameters, &values), macro_depth_left)
    }

    fn evaluate_expansion(
        &self,
        name: &str,
        body: &str,
        macro_depth_left: u8,
    ) -> Result<TypedValue, EvalError> {
        let wrong = |text: String| ExpressionError::new(0, text);
        let Some(remaining_depth) = macro_depth_left.checked_sub(1) else {
            return Err(wrong(format!("the macro `{name}` is nested too deeply")).into());
        };
        let expression = Expression::parse(body).map_err(|error| {
            wrong(format!("the macro `{name}` expands to `{body}`, which is not an expression: {error}"))
        })?;
        let inside = |error: ExpressionError| {
            wrong(format!("the macro `{name}` expands to `{body}`: {}", error.message))
        };
        match self.eval(&expression.root, remaining_depth) {
            Err(EvalError::Invalid(error)) => Err(inside(error).into()),
            Err(EvalError::Inapplicable(error, reason)) => {
                Err(EvalError::Inapplicable(inside(error), reason))
            }
            other => other,
        }
    }

    /// The type that a name in a cast denotes.
    pub(crate) fn named_type(&self, name: &TypeName, at: usize) -> Result<Type, EvalError> {
        let mut ty =
            self.type_by_name(name).ok_or_else(|| ExpressionError::new(at, format!("no type `{name}`")))?;
        for _ in 0..name.pointers {
            ty = Type::Pointer(Arc::new(ty));
        }
        Ok(ty)
    }

    fn type_by_name(&self, name: &TypeName) -> Option<Type> {
        if name.tag.is_none() {
            if name.name == "void" {
                return Some(Type::Void);
            }
            if let Some(basic) = Basic::by_name(&name.name) {
                return Some(Type::Basic(basic));
            }
        }
        let tags: &[gimli::DwTag] = match name.tag.as_deref() {
            Some("union") => &[gimli::DW_TAG_union_type],
            Some("enum") => &[gimli::DW_TAG_enumeration_type],
            Some(_) => &[gimli::DW_TAG_structure_type, gimli::DW_TAG_class_type],
            None => &[
                gimli::DW_TAG_typedef,
                gimli::DW_TAG_structure_type,
                gimli::DW_TAG_class_type,
                gimli::DW_TAG_union_type,
                gimli::DW_TAG_enumeration_type,
                gimli::DW_TAG_base_type,
            ],
        };
        for block in self.blocks() {
            for entry in self.info.children(block) {
                if tags.contains(&entry.tag()) && self.info.name(&entry) == Some(name.name.as_str()) {
                    return Some(Type::Described(entry.at));
                }
            }
        }
        let path: Vec<&str> = name.name.split("::").collect();
        let is_type = |kind| matches!(kind, DeclKind::Type(tag) if tags.contains(&tag));
        self.info.types.find(self.info, self.function(), &path, is_type).map(|(at, _)| Type::Described(at))
    }
}

/// Replaces the names of parameters by arguments.
fn substituted(body: &str, parameters: &[String], values: &[String]) -> String {
    let mut out = String::new();
    let mut rest = body;
    while !rest.is_empty() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length == 0 {
            let other = rest.find(is_name).unwrap_or(rest.len());
            out.push_str(rest.get(..other).unwrap_or(""));
            rest = rest.get(other..).unwrap_or("");
            continue;
        }
        let word = rest.get(..length).unwrap_or("");
        let value = parameters.iter().position(|name| name == word).and_then(|i| values.get(i));
        out.push_str(value.map_or(word, String::as_str));
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

/// The value of a word that a language defines without a declaration, such as `true`.
fn keyword_value(name: &str) -> Option<TypedValue> {
    match name {
        "true" => Some(TypedValue::known(Type::Basic(Basic::BOOL), &[1])),
        "false" => Some(TypedValue::known(Type::Basic(Basic::BOOL), &[0])),
        "NULL" | "nullptr" => Some(TypedValue::known(Type::Pointer(Arc::new(Type::Void)), &[0; 8])),
        _ => None,
    }
}
