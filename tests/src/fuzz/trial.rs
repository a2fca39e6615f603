//! One thing that is tried: a pattern, its options, its inputs element by element, its operators. A line of text says all of it.

use super::text;
use super::tree::{INPUTS, Tree};
use super::verbs::Verb;
use isowarp::element::{DType, Ty};
use std::fmt;

/// An input: an array in its memory, and which of its elements stands at each index.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// Element type.
    pub dtype: DType,
    /// Stored bits.
    pub bits: Vec<u64>,
    /// Elements that lie in front of it in the same memory.
    pub lead: u64,
    /// The element at index 0.
    pub start: u64,
    /// Elements from one index to the next.
    pub stride: i64,
}

impl Array {
    /// An array that is read from its first element on, and is all of its memory.
    #[must_use]
    pub fn plain(dtype: DType, bits: Vec<u64>) -> Self {
        Self { dtype, bits, lead: 0, start: 0, stride: 1 }
    }

    /// The stored bits of the elements at the indices `0..n`.
    #[must_use]
    pub fn seen(&self, n: usize) -> Vec<u64> {
        (0..n as i64).map(|i| self.bits[self.start.wrapping_add_signed(i * self.stride) as usize]).collect()
    }

    /// Whether it has an element at each of these indices.
    #[must_use]
    pub fn holds(&self, n: usize) -> bool {
        let last = self.start as i128 + (n as i128 - 1) * i128::from(self.stride);
        let inside = 0..self.bits.len() as i128;
        n == 0 || (inside.contains(&i128::from(self.start)) && inside.contains(&last))
    }
}

/// Work that is tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The pattern.
    pub verb: Verb,
    /// Number of indices, elements or rows, as the pattern takes it.
    pub n: usize,
    /// Further numbers, by name.
    pub numbers: Vec<(String, u64)>,
    /// Inputs.
    pub inputs: Vec<Array>,
    /// Operators, and the element types that their results are stored as.
    pub trees: Vec<(Tree, DType)>,
}

impl Trial {
    /// A number by its name; 0 if it is not given.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.numbers.iter().find(|(n, _)| n == name).map_or(0, |(_, v)| *v)
    }

    /// Element types of the inputs.
    #[must_use]
    pub fn dtypes(&self) -> Vec<DType> {
        self.inputs.iter().map(|a| a.dtype).collect()
    }

    /// The operators.
    #[must_use]
    pub fn operators(&self) -> Vec<&Tree> {
        self.trees.iter().map(|(t, _)| t).collect()
    }

    /// Element types that a device needs.
    #[must_use]
    pub fn needs(&self) -> Vec<DType> {
        let mut all = self.dtypes();
        for (tree, dtype) in &self.trees {
            all.push(*dtype);
            tree.visit(&mut |t| all.push(t.ty().dtype()));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The operations that it has, by name: two differences with the same are likely one fault.
    #[must_use]
    pub fn signature(&self) -> String {
        let mut names = vec![self.verb.name().to_owned()];
        for (tree, dtype) in &self.trees {
            tree.visit(&mut |t| {
                if let Tree::Node(op, ty, args) = t {
                    names.push(format!("{}/{}/{}", op.name(), args[0].ty(), ty));
                }
            });
            if tree.ty() != Ty::Bool && tree.ty().dtype() != *dtype {
                names.push(dtype.name().to_owned());
            }
        }
        names.sort();
        names.dedup();
        names.join(" ")
    }

    /// Reads what [`fmt::Display`] writes.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let (head, tail) = line.split_once(" :").unwrap_or((line, ""));
        let mut words = head.split_whitespace();
        let name = words.next().unwrap_or_default();
        let verb = Verb::named(name).ok_or_else(|| format!("`{name}` is no pattern"))?;
        let (mut n, mut numbers, mut inputs) = (None, Vec::new(), Vec::new());
        for word in words {
            let (left, values) = word.split_once('=').ok_or_else(|| format!("`{word}` has no value"))?;
            match left.split_once(':') {
                Some((name, shape)) => {
                    if INPUTS.get(inputs.len()) != Some(&name) {
                        return Err(format!("`{name}` is not the next input"));
                    }
                    inputs.push(array(shape, values)?);
                }
                None if left == "n" => n = values.parse().ok(),
                None => numbers.push((left.to_owned(), values.parse().map_err(|_| format!("`{values}` is no number"))?)),
            }
        }
        let dtypes: Vec<DType> = inputs.iter().map(|a: &Array| a.dtype).collect();
        let trees = tail.split(';').map(str::trim).filter(|t| !t.is_empty()).map(|t| stored(t, &dtypes)).collect::<Result<_, _>>()?;
        let n = n.unwrap_or_else(|| inputs.first().map_or(1, |a| a.bits.len()));
        let trial = Self { verb, n, numbers, inputs, trees };
        trial.verb.check(&trial)?;
        Ok(trial)
    }
}

/// `i32`, or with what lies in front of it and its view `i32~3@5*-1`, and its elements.
fn array(shape: &str, values: &str) -> Result<Array, String> {
    let (shape, view) = shape.split_once('@').unwrap_or((shape, "0*1"));
    let (name, lead) = shape.split_once('~').unwrap_or((shape, "0"));
    let (start, stride) = view.split_once('*').unwrap_or((view, "1"));
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let dtype = text::dtype(name)?;
    let bits = values.split(',').filter(|v| !v.is_empty()).map(|v| text::bits(dtype, v)).collect::<Result<_, _>>()?;
    let stride = stride.parse().map_err(|_| format!("`{stride}` is no number"))?;
    Ok(Array { dtype, bits, lead: number(lead)?, start: number(start)?, stride })
}

fn stored(text: &str, inputs: &[DType]) -> Result<(Tree, DType), String> {
    let (tree, dtype) = text.rsplit_once(" as ").map_or((text, None), |(t, d)| (t, Some(d)));
    let tree = text::parse(tree, inputs)?;
    let dtype = dtype.map_or(Ok(tree.ty().dtype()), text::dtype)?;
    if dtype.ty() == tree.ty() || (tree.ty() == Ty::Bool && dtype == DType::U32) {
        Ok((tree, dtype))
    } else {
        Err(format!("{} is not stored as {dtype}", tree.ty()))
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} n={}", self.verb.name(), self.n)?;
        for (name, value) in &self.numbers {
            write!(f, " {name}={value}")?;
        }
        for (a, name) in self.inputs.iter().zip(INPUTS) {
            write!(f, " {name}:{}", a.dtype)?;
            if a.lead != 0 {
                write!(f, "~{}", a.lead)?;
            }
            if (a.start, a.stride) != (0, 1) {
                write!(f, "@{}*{}", a.start, a.stride)?;
            }
            // A float's bits are short, and all of a NaN's are kept.
            let is_float = matches!(a.dtype, DType::F16 | DType::F32 | DType::F64);
            let one = |&b: &u64| if is_float { format!("{b:#x}") } else { text::number(a.dtype, b) };
            write!(f, "={}", a.bits.iter().map(one).collect::<Vec<_>>().join(","))?;
        }
        let trees: Vec<String> = self
            .trees
            .iter()
            .map(|(t, d)| if t.ty().dtype() == *d { text::tree(t) } else { format!("{} as {d}", text::tree(t)) })
            .collect();
        write!(f, " : {}", trees.join("; "))
    }
}

impl Trial {
    /// The same through the command, where its expressions have all operations of a map's operator: lines of a shell.
    #[must_use]
    pub fn command(&self, backend: &str) -> Option<String> {
        let [(tree, dtype)] = &self.trees[..] else { return None };
        let known = !tree.any(|t| matches!(t, Tree::Node(op, ..) if !op.is_in_the_command()));
        let plain = self.inputs.iter().all(|a| (a.lead, a.start, a.stride, a.bits.len()) == (0, 0, 1, 1));
        // A number cannot say which NaN it is.
        let finite = self.inputs.iter().all(|a| a.bits.iter().all(|&b| text::bits(a.dtype, &text::number(a.dtype, b)) == Ok(b)));
        if self.verb != Verb::Map || !known || !plain || !finite || self.inputs.is_empty() || self.number("lead") != 0 {
            return None;
        }
        let mut lines = Vec::new();
        for (a, name) in self.inputs.iter().zip(INPUTS) {
            let value = text::number(a.dtype, a.bits[0]);
            lines.push(format!("isowarp run generate --n 1 --dtype {} --op='{value}' --out {name}.npy", a.dtype));
        }
        let files: Vec<String> = INPUTS.iter().take(self.inputs.len()).map(|n| format!("--in {n}.npy")).collect();
        let verb = if files.len() == 1 { "map" } else { "zip" };
        let (op, files) = (text::tree(tree), files.join(" "));
        lines.push(format!("isowarp run {verb} --backend {backend} --op='{op}' --dtype {dtype} {files} --out out.npy"));
        Some(lines.join(" && "))
    }

    /// Leaves out an input that no operator reads; those after it move up.
    pub fn without_input(&mut self, k: u8) {
        self.inputs.remove(usize::from(k));
        self.trees.iter_mut().for_each(|(t, _)| t.renumber(&|i| if i > k { i - 1 } else { i }));
    }
}
