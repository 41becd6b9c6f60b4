//! Names of functions: from what the linker knows to what people read, and from what people write to the
//! functions they mean.

pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod similar;

use cpp_demangle::DemangleOptions;

/// A linkage name, made readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demangled {
    /// The qualified name, without parameters.
    pub(crate) name: String,
    /// With parameters, where the linkage name tells them.
    pub(crate) signature: Option<String>,
}

/// Makes a linkage name readable; `None` if it is not mangled.
pub(crate) fn demangle(linkage: &str) -> Option<Demangled> {
    if is_rust(linkage) {
        let name = rustc_demangle::try_demangle(linkage).ok()?;
        return Some(Demangled { name: format!("{name:#}"), signature: None });
    }
    if !linkage.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(without_clone(linkage)).ok()?;
    let options = DemangleOptions::new().no_return_type();
    let signature = symbol.demangle_with_options(&options).ok()?;
    let name = symbol.demangle_with_options(&options.no_params()).ok()?;
    let signature = signature.ends_with([')', 't']).then_some(signature).filter(|text| text.contains('('));
    Some(Demangled { name, signature })
}

/// Whether a linkage name is one that the Rust compiler makes.
fn is_rust(linkage: &str) -> bool {
    linkage.starts_with("_R") || (linkage.starts_with("_ZN") && hash_of(linkage).is_some())
}

/// The hash at the end of a linkage name of Rust's older kind.
pub(crate) fn hash_of(linkage: &str) -> Option<&str> {
    let (before, _) = without_llvm_suffix(linkage).rsplit_once('E')?;
    let at = before.len().checked_sub(19)?;
    let hash = before.get(at..)?.strip_prefix("17h")?;
    hash.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| &before[at + 2..])
}

fn without_llvm_suffix(linkage: &str) -> &str {
    linkage.split_once(".llvm.").map_or(linkage, |(name, _)| name)
}

/// A symbol without what a compiler appends for a copy that it made: `f.constprop.0` is `f`.
pub(crate) fn without_clone(symbol: &str) -> &str {
    const COPIES: [&str; 6] = [".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias", ".clone."];
    let end = COPIES.iter().filter_map(|copy| symbol.find(copy)).min().unwrap_or(symbol.len());
    if end == 0 { symbol } else { &symbol[..end] }
}

/// Whether a symbol names a part of a function that is never called itself.
pub(crate) fn is_fragment(symbol: &str) -> bool {
    symbol.ends_with(".cold") || symbol.contains(".cold.") || symbol.contains(".part.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_readable() {
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
    fn the_hash_of_a_rust_name_is_found() {
        assert_eq!(hash_of("_ZN4main3run17h0123456789abcdefE"), Some("h0123456789abcdef"));
        assert_eq!(hash_of("_ZN2ns1fEi"), None);
    }
}
