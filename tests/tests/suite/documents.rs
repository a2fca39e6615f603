//! Checks that what the documents promise about tests is there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the suite lies in the workspace").to_owned()
}

/// Every Rust file of the workspace, with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "shaders", "kernels-cu", "tests", "benches", "xtask", "examples"].map(|f| root().join(f)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| ["rs", "cu", "cuh", "wgsl"].iter().any(|of| e == *of)) {
                let text = fs::read_to_string(&path).expect("a source file");
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > 200, "the sources were found");
    found
}

#[test]
fn no_test_is_ignored() {
    // Put together, so that this file does not find itself.
    let attribute = ["#[", "ignore"].concat();
    for (path, text) in sources() {
        assert!(!text.contains(&attribute), "{}: a test that cannot run fails, or says what it does not test", path.display());
    }
}

#[test]
fn every_test_that_the_tables_of_bad_input_and_of_faults_name_exists() {
    let sources = sources();
    for (page, least) in [("docs/testing.md", 60), ("docs/reliability.md", 100)] {
        let table = fs::read_to_string(root().join(page)).expect("the document");
        let rows: Vec<&str> = table.lines().filter(|l| l.starts_with('|')).collect();
        assert!(rows.len() > 40, "{page}: the tables were found");
        let mut named = 0;
        // Names of tests are the words in backquotes with two underscores at least and nothing but small letters and digits.
        for name in rows.iter().flat_map(|row| row.split('`').skip(1).step_by(2)) {
            let is_test = name.matches('_').count() > 1 && name.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit());
            if is_test {
                let definition = format!("fn {name}(");
                assert!(sources.iter().any(|(_, text)| text.contains(&definition)), "{page} names `{name}`, which is no test");
                named += 1;
            }
        }
        assert!(named > least, "{page}: {named} tests are named");
    }
}

#[test]
fn every_decision_is_listed_and_every_page_is_short() {
    let folder = root().join("docs/decisions");
    let list = fs::read_to_string(folder.join("README.md")).expect("the list");
    let mut pages = 0;
    for entry in fs::read_dir(&folder).expect("the decisions").flatten() {
        let name = entry.file_name().into_string().expect("text");
        if name == "README.md" {
            continue;
        }
        let text = fs::read_to_string(entry.path()).expect("a page");
        assert!(list.contains(&format!("({name})")), "{name} is not in the list");
        assert!(text.contains("**Decided.**") && text.contains("**Why"), "{name} says what was decided and why");
        assert!(text.lines().count() <= 40, "{name} is one page");
        pages += 1;
    }
    assert!(pages >= 14, "{pages} pages");
}

/// Documented methods between `{` and `}` at the start of a line, whose lines begin with `start`: those that documentation hides are left out.
fn methods<'a>(text: &'a str, head: &str, start: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut hidden = false;
    for line in text.lines() {
        if inside {
            inside = line != "}";
            let line_of_method = line.strip_prefix("    ").and_then(|l| l.strip_prefix(start));
            match line_of_method {
                Some(rest) if !hidden => found.push(rest.split(['(', '<']).next().unwrap_or(rest)),
                Some(_) => hidden = false,
                None if line.trim() == "#[doc(hidden)]" => hidden = true,
                None => {}
            }
        } else {
            inside = line.starts_with(head) && line.ends_with('{') || line == "{" || (line.starts_with("where") && line.ends_with('{'));
        }
    }
    found
}

#[test]
fn verbs_and_modifiers_are_few() {
    let patterns = ["crates/core/src/patterns", "crates/core/src/call", "crates/core/src/buffer.rs"].map(|p| root().join(p));
    let (mut verbs, mut modifiers) = (Vec::new(), std::collections::BTreeSet::new());
    for (path, text) in sources() {
        if !patterns.iter().any(|p| path.starts_with(p)) {
            continue;
        }
        for part in text.split("\npub trait ").skip(1) {
            let part = format!("pub trait {}", part.split("\n}\n").next().unwrap_or(part));
            verbs.extend(methods(&format!("{part}\n}}\n"), "pub trait", "fn ").into_iter().map(str::to_owned));
        }
        // Calls are consumed by what changes or ends them.
        for part in text.split("\n    pub fn ").skip(1) {
            let (name, rest) = part.split_at(part.find(['(', '<']).unwrap_or(0));
            let head = rest.split('{').next().unwrap_or(rest);
            if ["(self", "(mut self"].iter().any(|s| head.contains(s))
                && (path.to_string_lossy().contains("call") || head.contains("Self") || head.contains("<'d"))
            {
                modifiers.insert(name.to_owned());
            }
        }
    }
    println!("{} verbs: {verbs:?}; {} modifiers: {modifiers:?}", verbs.len(), modifiers.len());
    assert!(verbs.len() > 100 && modifiers.contains("axis") && modifiers.contains("write_to"), "verbs and modifiers were found");
    assert!(verbs.len() + modifiers.len() <= 220, "{} verbs and {} modifiers", verbs.len(), modifiers.len());
}

#[test]
fn the_prelude_has_few_names() {
    let text = fs::read_to_string(root().join("crates/isowarp/src/lib.rs")).expect("the facade");
    let prelude = text.split("pub mod prelude {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the prelude");
    let names: Vec<&str> = prelude
        .split("pub use ")
        .skip(1)
        .map(|used| used.split(';').next().unwrap_or(used))
        .flat_map(|used| match used.split_once('{') {
            Some((_, list)) => list.trim_end_matches('}').split(',').map(str::trim).collect(),
            None => vec![used.rsplit("::").next().unwrap_or(used)],
        })
        .filter(|name| !name.is_empty() && !name.ends_with(" as _"))
        .collect();
    assert!(names.contains(&"Device") && names.contains(&"Sum"), "names were found: {names:?}");
    assert!(names.len() <= 60, "{} names: {names:?}", names.len());
}

/// Lines that begin a comment, of a file: number and text.
fn first_lines(text: &str) -> Vec<(usize, &str)> {
    let comment = |line: &str| line.starts_with("//").then(|| line.split(' ').next().unwrap_or(line).len());
    let mut before = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        let marker = comment(line);
        if let Some(len) = marker.filter(|_| marker != before) {
            found.push((at + 1, line[len..].trim()));
        }
        before = marker;
    }
    found
}

#[test]
fn comments_begin_with_a_verb_or_a_noun() {
    let vague = ["What ", "Whatever ", "Those ", "That ", "Which ", "How "];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let begins = first_lines(&text).into_iter().filter(|(_, line)| vague.iter().any(|word| line.starts_with(word)));
        wrong.extend(begins.map(|(at, line)| format!("{}:{at}: {line}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
