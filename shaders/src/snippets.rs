//! The preprocessor: snippets marked `//@ name: calls`, put together in dependency order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

/// A function's WGSL text and the prelude functions that it calls.
pub type Snippet = (String, BTreeSet<String>);

/// Why a prelude cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreludeError {
    /// Neither the prelude nor the resolver has the function.
    UnknownFunction {
        /// The function.
        name: String,
        /// Snippets that call it; empty if the kernel does.
        caller: String,
    },
    /// A function calls itself, which WGSL forbids.
    Cycle {
        /// The function.
        name: String,
    },
}

impl fmt::Display for PreludeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFunction { name, caller } if caller.is_empty() => write!(f, "no function `{name}` in the numerics prelude"),
            Self::UnknownFunction { name, caller } => write!(f, "no function `{name}`, which `{caller}` calls, in the numerics prelude"),
            Self::Cycle { name } => write!(f, "the numerics prelude's `{name}` calls itself"),
        }
    }
}

impl std::error::Error for PreludeError {}

const MARK: &str = "//@ ";

/// The snippets of a file, by name. Text before the first mark belongs to none.
fn parse(file: &'static str) -> impl Iterator<Item = (&'static str, Source)> {
    file.split("\n//@ ").skip(usize::from(!file.starts_with(MARK))).map(|part| {
        let part = part.strip_prefix(MARK).unwrap_or(part);
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        let (name, calls) = head.split_once(':').unwrap_or((head, ""));
        (name.trim(), Source { text: text.trim_end(), calls: calls.split_whitespace().collect() })
    })
}

struct Source {
    text: &'static str,
    calls: Vec<&'static str>,
}

fn all() -> &'static BTreeMap<&'static str, Source> {
    static ALL: OnceLock<BTreeMap<&'static str, Source>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = [crate::PRELUDE, crate::JOINT, crate::DOUBLE, crate::QUOTIENT, crate::EXACT, crate::NUMERICS];
        files.into_iter().flat_map(parse).collect()
    })
}

/// The names of all snippets. Variants are named `function@variant`.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().keys().copied()
}

/// A snippet by its name, `function` or `function@variant`, in the form that a resolver of [`prelude()`] returns.
#[must_use]
pub fn snippet(name: &str) -> Option<Snippet> {
    all().get(name).map(|s| (s.text.to_owned(), s.calls.iter().map(|&c| c.to_owned()).collect()))
}

/// A snippet under another name for its function, where a kernel needs two of its variants.
#[must_use]
pub fn renamed(name: &str, to: &str) -> Option<Snippet> {
    let (text, calls) = snippet(name)?;
    let function = name.split('@').next().unwrap_or(name);
    Some((text.replace(&format!("fn {function}("), &format!("fn {to}(")), calls))
}

/// The text of the functions named in `calls` and of all that these call, each once and before its callers.
///
/// `resolve` is asked first for each function, so that a backend can choose a variant or bring its own text; where it returns
/// `None`, the crate's own snippet of that name is taken. Functions that come in variants only, the backend has to choose:
/// `iw_fma` (f32) and `iw_fma64`, `iw_div64`, `iw_sqrt64` (`@native` or `@integer`). `iw_div` and `iw_sqrt` are correctly rounded on
/// every device as they are; `iw_div@native` and `iw_sqrt@native` are faster where the device's own are too. `iw_div@seeded` and
/// `iw_sqrt@seeded` start from the device's approximations; the backend has to know that they round correctly from these, and chooses
/// `iw_seeded_reciprocal` (`@close` or `@coarse`).
///
/// # Errors
/// [`PreludeError`] for a function that nobody has, or one that calls itself.
pub fn prelude(calls: &BTreeSet<String>, resolve: &mut dyn FnMut(&str) -> Option<Snippet>) -> Result<String, PreludeError> {
    let mut closure = Closure { resolve, states: BTreeMap::new(), text: String::new() };
    for name in calls {
        closure.visit(name, "")?;
    }
    Ok(closure.text)
}

struct Closure<'a> {
    resolve: &'a mut dyn FnMut(&str) -> Option<Snippet>,
    /// Whether a function that was met is written out already.
    states: BTreeMap<String, bool>,
    text: String,
}

impl Closure<'_> {
    fn visit(&mut self, name: &str, caller: &str) -> Result<(), PreludeError> {
        match self.states.get(name) {
            Some(true) => return Ok(()),
            Some(false) => return Err(PreludeError::Cycle { name: name.to_owned() }),
            None => {}
        }
        let Some((text, calls)) = (self.resolve)(name).or_else(|| snippet(name)) else {
            return Err(PreludeError::UnknownFunction { name: name.to_owned(), caller: caller.to_owned() });
        };
        self.states.insert(name.to_owned(), false);
        for call in &calls {
            self.visit(call, name)?;
        }
        self.states.insert(name.to_owned(), true);
        self.text.push_str(text.trim_end());
        self.text.push_str("\n\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn marks_are_parsed() {
        let parsed: Vec<_> = parse("// a file\n\n//@ a: b c\nfn a() {}\n\n//@ b@x:\n// why\nfn b() {}\n").collect();
        assert_eq!(parsed.iter().map(|p| p.0).collect::<Vec<_>>(), ["a", "b@x"]);
        assert_eq!(parsed[0].1.calls, ["b", "c"]);
        assert_eq!(parsed[0].1.text, "fn a() {}");
        assert_eq!(parsed[1].1.text, "// why\nfn b() {}");
        assert_eq!(parse("//@ a:\nfn a() {}").count(), 1);
        assert_eq!(parse("// nothing").count(), 0);
    }

    #[test]
    fn callees_come_first_and_once() {
        let text = prelude(&set(&["iw_max", "iw_min"]), &mut |_| None).unwrap();
        assert_eq!(text.matches("fn iw_order(").count(), 1);
        assert!(text.find("fn iw_order(") < text.find("fn iw_max("));
        assert!(text.find("fn iw_is_nan(") < text.find("fn iw_max("));
        assert!(!text.contains("64"), "a kernel without 64-bit types mentions none");
    }

    #[test]
    fn the_resolver_goes_first() {
        let text = prelude(&set(&["iw_min"]), &mut |n| (n == "iw_order").then(|| ("fn iw_order() { mine }".to_owned(), set(&[])))).unwrap();
        assert!(text.contains("mine") && !text.contains("7fffffffi"));
    }

    #[test]
    fn unknown_functions_and_cycles_are_errors() {
        let unknown = prelude(&set(&["a"]), &mut |n| (n == "a").then(|| (String::new(), set(&["b"]))));
        assert_eq!(unknown, Err(PreludeError::UnknownFunction { name: "b".into(), caller: "a".into() }));
        let cycle = prelude(&set(&["a"]), &mut |n| Some((String::new(), set(&[if n == "a" { "b" } else { "a" }]))));
        assert_eq!(cycle, Err(PreludeError::Cycle { name: "a".into() }));
        assert!(prelude(&set(&["iw_fma"]), &mut |_| None).is_err(), "the backend has to choose");
    }
}
