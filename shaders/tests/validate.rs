//! Every snippet of the prelude parses and validates in naga, alone with what it calls, and its mark lists exactly what it calls.

mod common;

use std::collections::BTreeSet;

#[test]
fn every_snippet_validates_with_its_closure() {
    for name in isowarp_shaders::names() {
        let (function, variant) = name.split_once('@').unwrap_or((name, ""));
        let text = isowarp_shaders::prelude(&BTreeSet::from([function.to_owned()]), &mut |n| {
            if n == function && !variant.is_empty() { isowarp_shaders::snippet(name) } else { common::native(n) }
        })
        .unwrap_or_else(|e| panic!("{name}: {e}"));
        let module = common::validated(&text);
        let wide = common::uses_64_bits(&module);
        let marked = name.contains("64") || ["iw_trunc_bits", "iw_pack64"].contains(&name);
        assert_eq!(wide, marked, "{name}: 64-bit types appear where the name says so");
    }
}

#[test]
fn the_marks_list_what_the_text_calls() {
    for name in isowarp_shaders::names() {
        let (text, listed) = isowarp_shaders::snippet(name).unwrap();
        let function = name.split('@').next().unwrap();
        let called: BTreeSet<String> = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(line))
            .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>())
            .filter(|word| word.starts_with("iw_") && word != function)
            .collect();
        assert_eq!(listed, called, "{name}");
        assert!(text.contains(&format!("fn {function}(")), "{name}");
    }
}
