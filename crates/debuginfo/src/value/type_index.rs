//! Index of the types, variables and enumerators that images declare outside of functions.

use crate::image::{Die, Image};
use crate::value::info::{DieRef, Info};
use gimli::DwTag;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Index of declared names in the images of a program. An image is scanned once, when a name is first looked up in it,
/// so keep one index for the whole session.
#[derive(Default)]
pub struct TypeIndex {
    images: Mutex<Vec<(Arc<Image>, Arc<Declarations>)>>,
}

/// Kind of a declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclKind {
    Variable,
    Type(DwTag),
    /// The enumeration that contains it.
    Enumerator(Die),
}

/// The names that one image declares.
#[derive(Default)]
pub(crate) struct Declarations {
    /// Namespaces and classes: index of the enclosing one, and the name.
    scopes: Vec<(Option<usize>, &'static str)>,
    items: HashMap<&'static str, Vec<Item>>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    die: Die,
    kind: DeclKind,
    scope: Option<usize>,
    is_declaration: bool,
}

impl TypeIndex {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    fn declarations(&self, info: Info<'_>, image: usize) -> Option<Arc<Declarations>> {
        let image = &info.program.images().get(image)?.image;
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, declarations)) = images.iter().find(|(other, _)| Arc::ptr_eq(other, image)) {
            return Some(declarations.clone());
        }
        let declarations = Arc::new(Declarations::read(image));
        images.push((image.clone(), declarations.clone()));
        Some(declarations)
    }

    /// The definition of a type that is only declared at `at`.
    pub(crate) fn definition(&self, info: Info<'_>, at: DieRef, tag: DwTag, name: &str) -> Option<DieRef> {
        let is_compatible = |other: DwTag| {
            let class = |tag| matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type);
            other == tag || class(other) && class(tag)
        };
        let images = (at.image..info.program.images().len()).chain(0..at.image);
        images.into_iter().find_map(|image| {
            let declarations = self.declarations(info, image)?;
            // A type of the same name in another namespace is a different one.
            let scope = declarations.path_of(name, at.die);
            let found = declarations.items.get(name)?.iter().find(|item| {
                !item.is_declaration
                    && matches!(item.kind, DeclKind::Type(tag) if is_compatible(tag))
                    && scope.as_ref().is_none_or(|scope| *scope == declarations.path(item.scope))
            })?;
            Some(DieRef { image, die: found.die })
        })
    }

    /// Finds a declaration: in the unit `near` first, then in its image, then in the others. `path` is the name with
    /// any number of enclosing namespaces.
    pub(crate) fn find(
        &self,
        info: Info<'_>,
        near: Option<DieRef>,
        path: &[&str],
        wanted: impl Fn(DeclKind) -> bool,
    ) -> Option<(DieRef, DeclKind)> {
        let (name, enclosing) = path.split_last()?;
        let first = near.map_or(0, |near| near.image);
        let images = (first..info.program.images().len()).chain(0..first);
        let mut declaration = None;
        for image in images {
            let Some(declarations) = self.declarations(info, image) else { continue };
            let is_near =
                |item: &&Item| near.is_some_and(|near| near.image == image && near.die.unit == item.die.unit);
            let fitting: Vec<&Item> = declarations
                .items
                .get(name)
                .into_iter()
                .flatten()
                .filter(|item| wanted(item.kind) && declarations.is_within(item.scope, enclosing))
                .collect();
            let best = fitting
                .iter()
                .filter(|item| !item.is_declaration)
                .min_by_key(|item| (!is_near(item), declarations.path(item.scope).len()));
            if let Some(item) = best {
                return Some((DieRef { image, die: item.die }, item.kind));
            }
            declaration =
                declaration.or_else(|| fitting.first().map(|i| (DieRef { image, die: i.die }, i.kind)));
        }
        declaration
    }

    /// The name of a type, qualified with its namespaces.
    pub(crate) fn qualified_name(&self, info: Info<'_>, at: DieRef, name: &str) -> Option<String> {
        let declarations = self.declarations(info, at.image)?;
        let mut path = declarations.path_of(name, at.die)?;
        path.retain(|part| !part.starts_with('('));
        Some(path.into_iter().chain([name]).collect::<Vec<_>>().join("::"))
    }

    /// The names of all variables and enumerators of an image.
    pub(crate) fn value_names(&self, info: Info<'_>, image: usize) -> Vec<&'static str> {
        let Some(declarations) = self.declarations(info, image) else { return Vec::new() };
        let is_value = |items: &Vec<Item>| items.iter().any(|item| !matches!(item.kind, DeclKind::Type(_)));
        declarations.items.iter().filter(|(_, items)| is_value(items)).map(|(name, _)| *name).collect()
    }

    /// The global variables defined in one unit.
    pub(crate) fn variables_of(&self, info: Info<'_>, image: usize, unit: usize) -> Vec<(String, DieRef)> {
        let Some(declarations) = self.declarations(info, image) else { return Vec::new() };
        let mut all = Vec::new();
        for (name, items) in &declarations.items {
            for item in items
                .iter()
                .filter(|i| i.die.unit == unit && i.kind == DeclKind::Variable && !i.is_declaration)
            {
                let mut path = declarations.path(item.scope);
                path.push(name);
                all.push((path.join("::"), DieRef { image, die: item.die }));
            }
        }
        all.sort_by_key(|(_, at)| *at);
        all
    }
}

impl Declarations {
    fn read(image: &Image) -> Self {
        let mut declarations = Self::default();
        for unit in 0..image.units().len() {
            declarations.read_unit(image, unit);
        }
        declarations
    }

    fn read_unit(&mut self, image: &Image, number: usize) -> Option<()> {
        let unit = image.unit(number)?;
        let name_of = |entry: &gimli::DebuggingInformationEntry<crate::image::Reader>| {
            let value = entry.attr_value(gimli::DW_AT_name)?;
            unit.attr_string(value).ok()?.to_string().ok()
        };
        // Where variables are declared: definitions elsewhere in the unit refer to these entries.
        let mut declared_names = HashMap::new();
        let mut enclosing: Vec<(isize, Option<usize>)> = Vec::new();
        let mut skipped: Option<isize> = None;
        // Enumerators directly follow their enumeration, so the last one seen is theirs.
        let mut enumeration = Die { unit: number, offset: unit.unit.header.root_offset() };
        let mut cursor = unit.unit.entries();
        while let Ok(Some(entry)) = cursor.next_dfs() {
            let depth = entry.depth();
            if skipped.is_some_and(|skipped| depth > skipped) {
                continue;
            }
            skipped = None;
            enclosing.retain(|&(outer, _)| outer < depth);
            let scope = enclosing.last().and_then(|&(_, scope)| scope);
            let die = Die { unit: number, offset: entry.offset() };
            let is_declaration = entry.attr_value(gimli::DW_AT_declaration).is_some();
            match entry.tag() {
                gimli::DW_TAG_compile_unit | gimli::DW_TAG_partial_unit | gimli::DW_TAG_type_unit => {}
                gimli::DW_TAG_namespace | gimli::DW_TAG_module => {
                    self.scopes.push((scope, name_of(entry).unwrap_or("(anonymous namespace)")));
                    enclosing.push((depth, Some(self.scopes.len() - 1)));
                }
                tag @ (gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type) => {
                    let name = name_of(entry);
                    enumeration = die;
                    if let Some(name) = name {
                        self.add(name, Item { die, kind: DeclKind::Type(tag), scope, is_declaration });
                        self.scopes.push((scope, name));
                        enclosing.push((depth, Some(self.scopes.len() - 1)));
                    } else {
                        enclosing.push((depth, scope));
                    }
                }
                tag @ (gimli::DW_TAG_typedef | gimli::DW_TAG_base_type) => {
                    if let Some(name) = name_of(entry) {
                        self.add(name, Item { die, kind: DeclKind::Type(tag), scope, is_declaration });
                    }
                }
                gimli::DW_TAG_enumerator => {
                    if let Some(name) = name_of(entry) {
                        self.add(
                            name,
                            Item {
                                die,
                                kind: DeclKind::Enumerator(enumeration),
                                scope,
                                is_declaration: false,
                            },
                        );
                    }
                }
                // A declared member is a static one.
                gimli::DW_TAG_variable | gimli::DW_TAG_member => {
                    if entry.tag() == gimli::DW_TAG_member && !is_declaration {
                        continue;
                    }
                    let named = match name_of(entry) {
                        Some(name) => {
                            declared_names.insert(die.offset, (name, scope));
                            Some((name, scope))
                        }
                        None => match entry.attr_value(gimli::DW_AT_specification) {
                            Some(gimli::AttributeValue::UnitRef(of)) => declared_names.get(&of).copied(),
                            _ => None,
                        },
                    };
                    if let Some((name, scope)) = named {
                        let has_value = entry.attr_value(gimli::DW_AT_const_value).is_some();
                        let is_declaration = is_declaration && !has_value;
                        self.add(name, Item { die, kind: DeclKind::Variable, scope, is_declaration });
                    }
                }
                gimli::DW_TAG_variant_part | gimli::DW_TAG_variant => {}
                _ => skipped = Some(depth),
            }
        }
        Some(())
    }

    fn add(&mut self, name: &'static str, item: Item) {
        self.items.entry(name).or_default().push(item);
    }

    /// The names of the enclosing scopes, outermost first.
    fn path(&self, scope: Option<usize>) -> Vec<&'static str> {
        let mut path = Vec::new();
        let mut next = scope;
        while let Some((outer, name)) = next.and_then(|at| self.scopes.get(at)) {
            path.push(*name);
            next = *outer;
        }
        path.reverse();
        path
    }

    fn path_of(&self, name: &str, die: Die) -> Option<Vec<&'static str>> {
        let item = self.items.get(name)?.iter().find(|item| item.die == die)?;
        Some(self.path(item.scope))
    }

    /// Whether the written names are a suffix of the enclosing scopes. An empty first name requires all of them.
    fn is_within(&self, scope: Option<usize>, written: &[&str]) -> bool {
        if written.is_empty() {
            return true;
        }
        let path = self.path(scope);
        // The names of anonymous namespaces are never written.
        let path: Vec<&str> = path.into_iter().filter(|part| *part != "(anonymous namespace)").collect();
        match written {
            ["", rest @ ..] => path == rest,
            _ => path.ends_with(written),
        }
    }
}
