//! Names of functions: demangling of linkage names, and matching of the names that users write.

pub(crate) mod path;
pub(crate) mod query;

use cpp_demangle::DemangleOptions;

/// Demangled form of a linkage name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demangled {
    /// The qualified name, without parameters.
    pub(crate) name: String,
    /// The name with parameters, if the linkage name encodes them.
    pub(crate) signature: Option<String>,
}

/// Demangles a linkage name; `None` if it is not mangled.
pub(crate) fn demangle(linkage: &str) -> Option<Demangled> {
    if is_rust(linkage) {
        let name = rustc_demangle::try_demangle(linkage).ok()?;
        return Some(Demangled { name: format!("{name:#}"), signature: None });
    }
    if !linkage.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(without_clone_suffix(linkage)).ok()?;
    let options = DemangleOptions::new().no_return_type();
    let signature = symbol.demangle_with_options(&options).ok()?;
    let name = symbol.demangle_with_options(&options.no_params()).ok()?;
    let signature = signature.ends_with([')', 't']).then_some(signature).filter(|text| text.contains('('));
    Some(Demangled { name, signature })
}

/// Whether the Rust compiler made a linkage name.
fn is_rust(linkage: &str) -> bool {
    linkage.starts_with("_R") || (linkage.starts_with("_ZN") && hash_of(linkage).is_some())
}

/// The hash at the end of a linkage name in Rust's legacy mangling.
pub(crate) fn hash_of(linkage: &str) -> Option<&str> {
    let (before, _) = without_llvm_suffix(linkage).rsplit_once('E')?;
    let at = before.len().checked_sub(19)?;
    let hash = before.get(at..)?.strip_prefix("17h")?;
    hash.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| &before[at + 2..])
}

fn without_llvm_suffix(linkage: &str) -> &str {
    linkage.split_once(".llvm.").map_or(linkage, |(name, _)| name)
}

/// Strips the suffix that a compiler appends to clones of a function: `f.constprop.0` is `f`.
pub(crate) fn without_clone_suffix(symbol: &str) -> &str {
    const CLONE_SUFFIXES: [&str; 6] =
        [".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".clone."];
    let end = CLONE_SUFFIXES.iter().filter_map(|suffix| symbol.find(suffix)).min().unwrap_or(symbol.len());
    if end == 0 { symbol } else { &symbol[..end] }
}

/// Whether a symbol names a fragment of a function, which is never called itself.
pub(crate) fn is_fragment(symbol: &str) -> bool {
    symbol.ends_with(".cold") || symbol.contains(".cold.") || symbol.contains(".part.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demangle_yields_name_and_signature() {
        let plain = demangle("_ZN2ns1fEi").unwrap();
        assert_eq!((plain.name.as_str(), plain.signature.as_deref()), ("ns::f", Some("ns::f(int)")));
        let constant = demangle("_ZNK5Class3getEv").unwrap();
        assert_eq!(
            (constant.name.as_str(), constant.signature.as_deref()),
            ("Class::get", Some("Class::get() const"))
        );
        assert_eq!(demangle("_Z3maxIiET_S0_S0_").unwrap().name, "max<int>");
        assert_eq!(demangle("_ZN4main3run17h0123456789abcdefE").unwrap().name, "main::run");
        assert_eq!(demangle("_Z1fi.constprop.0").unwrap().name, "f");
        assert_eq!(demangle("main"), None);
    }

    #[test]
    fn hash_of_finds_legacy_rust_hash() {
        assert_eq!(hash_of("_ZN4main3run17h0123456789abcdefE"), Some("h0123456789abcdef"));
        assert_eq!(hash_of("_ZN2ns1fEi"), None);
    }
}
