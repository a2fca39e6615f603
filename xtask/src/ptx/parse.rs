//! Reading what NVRTC wrote and what a kernel asks for.

use std::collections::HashMap;
use std::fmt::Write as _;

/// Prefix of a line that the driver's host side replaces by an operator.
const HOLE: &str = "// @op.";

/// The architectures that a source asks for, in lines that begin with this: `// @also ` beside the baseline, `// @from ` instead of it.
pub(super) fn architectures(source: &str, mark: &str) -> Vec<String> {
    source.lines().filter_map(|line| line.trim().strip_prefix(mark)).flat_map(|rest| rest.split_whitespace().map(str::to_owned)).collect()
}

/// Splits the compiler's banner from the PTX; the banner's build line identifies the toolchain.
///
/// The banner is left out of the committed text because it differs between patch releases that
/// generate the same code.
pub(super) fn split_banner(ptx: &str) -> Option<(String, &str)> {
    let body_at = ptx.find(".version")?;
    let (banner, body) = ptx.split_at(body_at);
    let build = banner.lines().find_map(|line| line.split_once("Cuda compilation tools, ")).map(|(_, build)| build.trim().to_owned())?;
    Some((build, body.trim_end_matches('\0')))
}

/// The text without the global variables that nothing names: the compiler writes one for each constant of a source, and every kernel that is
/// loaded pays for them.
pub(super) fn without_unused_globals(ptx: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for name in ptx.split(|c| !is_name(c)) {
        *uses.entry(name).or_default() += 1;
    }
    let unused = |line: &str| {
        let name =
            line.strip_prefix(".global ").and_then(|l| l.strip_suffix(';')).and_then(|l| l.split(" = ").next()?.split_whitespace().last());
        name.is_some_and(|name| uses.get(name) == Some(&1))
    };
    ptx.split_inclusive('\n').filter(|line| !unused(line.trim_end())).collect()
}

/// A kernel that calls every function of a header of functions from floats to a float, each for its own result.
pub(super) fn calls_of_header(header: &str, name: &str) -> String {
    let mut body = String::new();
    let functions = header.lines().filter_map(|line| line.strip_prefix("__device__ __forceinline__ float ")?.split_once('('));
    for (k, (function, parameters)) in functions.enumerate() {
        let arguments: Vec<String> = (0..parameters.matches("float ").count()).map(|a| format!("in[{a}]")).collect();
        let _ = writeln!(body, "    out[{k}] = {function}({});", arguments.join(", "));
    }
    format!("#include \"{name}\"\nextern \"C\" __global__ void all(const float* in, float* out) {{\n{body}}}\n")
}

/// The text without what only pads it: comments other than holes, blank lines, and what aligns operands.
pub(super) fn without_padding(ptx: &str) -> String {
    let comment = |line: &str| line.starts_with("//") && !line.starts_with(HOLE);
    let kept = ptx.lines().map(str::trim_end).filter(|line| !line.is_empty() && !comment(line.trim_start()));
    kept.fold(String::with_capacity(ptx.len()), |mut text, line| {
        text.push_str(&line.replace(" \t", " "));
        text.push('\n');
        text
    })
}

/// The same text in fewer bytes: no indent, no space behind a comma, and short names for parameters, labels, 64-bit registers and variables in shared
/// memory.
pub(super) fn shortened(ptx: &str) -> String {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut of_all = None;
    let mut entry = "";
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        if line.contains(".entry ") {
            entry = line.rsplit(' ').next().unwrap_or_default().trim_end_matches('(');
            // Variables in front of the first entry are those of all.
            let of_all = *of_all.get_or_insert(names.len());
            names.retain(|_, number| *number < of_all);
        }
        let mut rest = line.trim_start();
        while let Some(at) = rest.find(['%', '$', '_', ',', ' ']) {
            let (before, found) = rest.split_at(at);
            text.push_str(before);
            let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
            let name = found.find(|c| !of_name(c)).map_or(found, |end| &found[..end]);
            let whole = !before.ends_with(of_name);
            // The block's number in front of a label's is one for all labels of an entry.
            let label = name.strip_prefix("$L__BB").and_then(|numbers| numbers.split_once('_'));
            let parameter = name.strip_prefix("_param_").filter(|_| !entry.is_empty() && text.ends_with(entry));
            let length = if let Some(number) = parameter {
                text.truncate(text.len() - entry.len());
                let _ = write!(text, "p{number}");
                name.len()
            } else if let Some((_, number)) = label {
                text.push('$');
                text.push_str(number);
                name.len()
            } else if whole && name.starts_with("_Z") {
                let next = names.len();
                let number = names.entry(name).or_insert(next);
                let _ = write!(text, "_{number}");
                name.len()
            } else if found.strip_prefix("%rd").is_some_and(|n| n.starts_with(['<', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])) {
                text.push_str("%d");
                3
            } else if found.starts_with(", ") {
                text.push(',');
                2
            } else if found.starts_with("  ") {
                1
            } else {
                let one = found.chars().next().map_or(0, char::len_utf8);
                text.push_str(&found[..one]);
                one
            };
            rest = &found[length..];
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

/// One entry point of a PTX module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Names of the holes in its body, each once, in order of first use.
    pub(super) holes: Vec<String>,
}

/// The entry points of a PTX module with their holes.
pub(super) fn entries(ptx: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for line in ptx.lines() {
        let line = line.trim();
        if let Some(name) = entry_name(line) {
            found.push(Entry { name: name.to_owned(), holes: Vec::new() });
        } else if let (Some(hole), Some(entry)) = (hole_name(line), found.last_mut())
            && !entry.holes.iter().any(|known| known == hole)
        {
            entry.holes.push(hole.to_owned());
        }
    }
    found
}

fn entry_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(".entry ")?;
    let linkage = before.trim();
    if !matches!(linkage, "" | ".visible" | ".weak" | ".extern") {
        return None;
    }
    after.split(['(', ' ']).find(|word| !word.is_empty())
}

fn hole_name(line: &str) -> Option<&str> {
    line.strip_prefix(HOLE)?.split([' ', ';']).find(|word| !word.is_empty())
}

/// Where two texts first differ, in words, or `None` when they are equal.
pub(super) fn first_difference(committed: &str, built: &str) -> Option<String> {
    if committed == built {
        return None;
    }
    let mut old = committed.lines();
    let mut new = built.lines();
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (None, None) => return Some("differs in its line endings".to_owned()),
            (a, b) => {
                let show = |line: Option<&str>| line.map_or("end of file".to_owned(), |l| format!("`{l}`"));
                return Some(format!("line {number}: committed {}, built {}", show(a), show(b)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_is_cut_and_its_build_kept() {
        let ptx = "//\n// Generated by NVIDIA NVVM Compiler\n//\n// Compiler Build ID: CL-1\n// Cuda compilation tools, release 12.4, V12.4.131\n//\n\n.version 8.4\n.target sm_70\n\0";
        let (build, body) = split_banner(ptx).expect("banner");
        assert_eq!(build, "release 12.4, V12.4.131");
        assert_eq!(body, ".version 8.4\n.target sm_70\n");
    }

    #[test]
    fn globals_that_nothing_names_are_left_out() {
        let ptx = ".version 8.4\n.global .align 4 .u32 ROW = 128;\n.global .align 4 .u32 USED = 1;\n.entry a() {\n\tld.global.u32 %r1, [USED];\n}\n";
        assert_eq!(without_unused_globals(ptx), ptx.replace(".global .align 4 .u32 ROW = 128;\n", ""));
    }

    #[test]
    fn comments_that_are_no_holes_and_padding_are_left_out() {
        let ptx = "// made by\n\n\t// .globl\ta\n.visible .entry a()\n{\n\t// begin inline asm\n\t// @op.load1 %r1, %rd1;\n\t// end inline asm\n\n$L__BB0_1:\n\tadd.s32 \t%r2, %r1, 1;\n\tret;\n\n}\n";
        let kept = ".visible .entry a()\n{\n\t// @op.load1 %r1, %rd1;\n$L__BB0_1:\n\tadd.s32 %r2, %r1, 1;\n\tret;\n}\n";
        assert_eq!(without_padding(ptx), kept);
    }

    #[test]
    fn names_and_spaces_are_short() {
        let ptx = ".extern .shared .b8 _Z7dynamic[];\n.visible .entry a(\n\t.param .b8 a_param_0[8]\n)\n{\n\t.reg .b64 %rd<3>;\n\t.shared .b8 _ZZ1aE1x[4];\n\tand.b32  %r2, %r1, _ZZ1aE1x;\n$L__BB0_12:\n\t// @op.load1 %r1, %rd1;\n\t@%p1 bra $L__BB0_12;\n\tld.shared.u32 %r1, [_ZZ1aE1x+4];\n}\n.visible .entry b()\n{\n\t.shared .b8 _ZZ1bE1y[4];\n\tmov.u32 %r1, _Z7dynamic;\n}\n";
        let short = ".extern .shared .b8 _0[];\n.visible .entry a(\n.param .b8 p0[8]\n)\n{\n.reg .b64 %d<3>;\n.shared .b8 _1[4];\nand.b32 %r2,%r1,_1;\n$12:\n// @op.load1 %r1,%d1;\n@%p1 bra $12;\nld.shared.u32 %r1,[_1+4];\n}\n.visible .entry b()\n{\n.shared .b8 _1[4];\nmov.u32 %r1,_0;\n}\n";
        assert_eq!(shortened(ptx), short);
    }

    #[test]
    fn entries_list_their_holes_once_each() {
        let ptx = ".visible .entry a(\n.param .b8 a_param_0[272]\n)\n{\n// @op.load1 %r1, %rd1;\n// @op.load1 %r2, %rd2;\n// @op.store1 %rd1, %r1;\n}\n.visible .entry b()\n{ ret; }\n";
        let found = entries(ptx);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name, "a");
        assert_eq!(found[0].holes, ["load1", "store1"]);
        assert_eq!(found[1].name, "b");
        assert!(found[1].holes.is_empty());
    }

    #[test]
    fn further_architectures_are_read_from_comment_lines() {
        let found = architectures("// @also compute_80 compute_90a\nint x; // @also no\n  // @also compute_100\n", "// @also ");
        assert_eq!(found, ["compute_80", "compute_90a", "compute_100"]);
    }

    #[test]
    fn every_function_of_the_header_is_called_with_its_arguments() {
        let header = "#pragma once\n\n__device__ __forceinline__ float iw_exp(float p0) {\n    return p0;\n}\n__device__ __forceinline__ float iw_pow(float p0, float p1) {\n";
        let kernel = calls_of_header(header, "a.cuh");
        assert!(kernel.starts_with("#include \"a.cuh\"\n"));
        assert!(kernel.contains("    out[0] = iw_exp(in[0]);\n    out[1] = iw_pow(in[0], in[1]);\n}\n"), "{kernel}");
        let committed = include_str!("../../../kernels-cu/src/numerics.cuh");
        let calls = calls_of_header(committed, "numerics.cuh").matches("] = iw_").count();
        assert_eq!(calls, committed.matches("__device__").count());
        assert!(calls > 20);
    }

    #[test]
    fn a_difference_names_its_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n").expect("differs"), "line 2: committed `b`, built `c`");
        assert_eq!(first_difference("a\n", "a\nc\n").expect("differs"), "line 2: committed end of file, built `c`");
    }
}
