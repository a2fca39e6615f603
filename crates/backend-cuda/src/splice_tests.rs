//! Splicing on text alone; no driver is needed.

use super::*;

const TEMPLATE: &str = "\
// Generated.
.version 8.4
.target sm_70
.address_size 64

\t// .globl\tother
.extern .shared .align 16 .b8 dyn[];
.global .align 4 .b8 table[8] = {1, 2, 3};

.visible .entry other(
\t.param .align 8 .b8 other_param_0[272]
)
{
\t.reg .b32 %r<3>;
\t// @op.load1 %r1, %rd1;
\tret;
}
\t// .globl\tmain_w1
.visible .entry main_w1(
\t.param .align 8 .b8 main_w1_param_0[272]
)
.maxntid 256, 1, 1
{
\t.reg .b32 %r<9>; // a brace in a comment: {
\t// begin inline asm
\t// @op.load1 %r4, %rd1;
\t// end inline asm
\t{ mov.u32 %r5, 1; }
\t// begin inline asm
\t// @op.combine %r6, %r4, %r5;
\t// end inline asm
\t// @op.load1 %r7, %rd2;
\tret;
}
";

fn load(site: &Site<'_>) -> Result<String> {
    Ok(format!("\tld.param.u64 %x, [{}]; // {} {} <- {}\n", site.param, site.index, site.regs[0], site.regs[1]))
}

fn combine(site: &Site<'_>) -> Result<String> {
    Ok(format!("\tadd.s32 {}, {}, {};\n", site.regs[0], site.regs[1], site.regs[2]))
}

fn both<'a>() -> [Fill<'a>; 2] {
    [Fill { name: "load1", body: &load }, Fill { name: "combine", body: &combine }]
}

#[test]
fn every_hole_of_the_entry_is_filled_with_its_own_registers() {
    let out = splice(TEMPLATE, "main_w1", &both()).expect("spliced");
    assert!(out.contains("\tld.param.u64 %x, [main_w1_param_0]; // 0 %r4 <- %rd1\n"), "{out}");
    assert!(out.contains("\tadd.s32 %r6, %r4, %r5;\n"), "{out}");
    assert!(out.contains("// 2 %r7 <- %rd2"), "{out}");
    assert!(!out.contains("@op."), "{out}");
}

#[test]
fn other_entries_are_dropped_and_everything_else_is_kept() {
    let out = splice(TEMPLATE, "main_w1", &both()).expect("spliced");
    assert!(!out.contains(".entry other"), "{out}");
    assert!(!out.contains("other_param_0"), "{out}");
    for kept in [".version 8.4", ".extern .shared .align 16 .b8 dyn[];", "table[8] = {1, 2, 3};", ".maxntid 256"] {
        assert!(out.contains(kept), "{kept} in {out}");
    }
    assert_eq!(out.matches('{').count() - out.matches(": {").count(), out.matches('}').count());
}

#[test]
fn an_entry_without_holes_passes_through_unchanged() {
    let template = ".version 8.4\n.visible .entry a()\n{\n\tret;\n}\n";
    assert_eq!(splice(template, "a", &[]).expect("spliced"), template);
}

#[test]
fn holes_and_fills_must_match_one_to_one() {
    let only_load = [Fill { name: "load1", body: &load }];
    assert_eq!(splice(TEMPLATE, "main_w1", &only_load), Err(SpliceError::UnknownHole { hole: "combine".to_owned() }));
    assert_eq!(
        splice(TEMPLATE, "other", &both()),
        Err(SpliceError::MissingHole { hole: "combine".to_owned(), found: vec!["load1".to_owned()] })
    );
}

#[test]
fn a_missing_entry_is_named_with_those_that_are_there() {
    assert_eq!(
        splice(TEMPLATE, "nothing", &[]),
        Err(SpliceError::NoEntry { entry: "nothing".to_owned(), found: vec!["other".to_owned(), "main_w1".to_owned()] })
    );
}

#[test]
fn malformed_holes_are_refused() {
    for line in ["// @op.load1 %r1, %rd1", "// @op. %r1;", "// @op.load1 %r1,, %rd1;", "// @op.load1 %r1 %rd1;"] {
        let template = format!(".visible .entry a()\n{{\n\t{line}\n}}\n");
        let fills = [Fill { name: "load1", body: &load }];
        assert_eq!(splice(&template, "a", &fills), Err(SpliceError::Malformed { line: line.to_owned() }));
    }
}

#[test]
fn unbalanced_braces_are_refused() {
    assert_eq!(splice(".visible .entry a()\n{\n", "a", &[]), Err(SpliceError::Unbalanced));
    assert_eq!(splice("}\n", "a", &[]), Err(SpliceError::Unbalanced));
}

#[test]
fn a_generators_error_reaches_the_caller_as_it_is() {
    let refuse = |_: &Site<'_>| -> Result<String> { Err(Error::Empty { pattern: "test" }) };
    let fills = [Fill { name: "load1", body: &refuse }];
    let error = splice(TEMPLATE, "other", &fills).expect_err("refused");
    assert_eq!(error.into_error("kernel"), Error::Empty { pattern: "test" });
}

#[test]
fn every_entry_of_every_built_kernel_can_be_cut_out_and_filled() {
    let nothing = |_: &Site<'_>| -> Result<String> { Ok(String::new()) };
    for source in isowarp_kernels::Source::ALL {
        for build in source.builds() {
            for entry in build.entries {
                let fills: Vec<Fill<'_>> = entry.holes.iter().map(|name| Fill { name, body: &nothing }).collect();
                let out = splice(build.template(entry.name).expect("a listed entry"), entry.name, &fills).expect("spliced");
                assert_eq!(out.matches(".entry ").count(), 1, "{}", entry.name);
                assert!(!out.contains("@op."), "{}", entry.name);
            }
        }
    }
}

#[test]
fn an_entry_of_many_is_cut_out_with_what_stands_before_all() {
    let text = ".version 8.4\n\n.visible .entry add(\n)\n{\n\t// @op.combine %r1, %r2;\n\t// @op.combine %r3, %r2;\n\t// @op.load1 %r1;\n}\n\n.visible .entry add_more(\n)\n{\n}\n";
    let own = cut(text, "add").expect("it is there");
    assert!(own.starts_with(".version 8.4\n\n.visible .entry add(") && !own.contains("add_more"), "{own}");
    assert_eq!(holes(&own), ["combine", "load1"]);
    assert_eq!(cut(text, "add_more").expect("it is there"), ".version 8.4\n\n.visible .entry add_more(\n)\n{\n}\n");
    assert!(cut(text, "ad").is_none() && cut("", "add").is_none());
}

#[test]
fn what_is_cut_out_is_what_the_library_unpacks() {
    for build in isowarp_kernels::Source::ALL.iter().flat_map(|source| source.builds()) {
        let whole = build.ptx();
        for entry in build.entries {
            assert_eq!(cut(&whole, entry.name).as_deref(), build.template(entry.name), "{}", entry.name);
            let mut found: Vec<&str> = holes(build.template(entry.name).expect("a listed entry"));
            let mut listed = entry.holes.to_vec();
            found.sort_unstable();
            listed.sort_unstable();
            assert_eq!(found, listed, "{}", entry.name);
        }
    }
}
