//! Choice of the spins that flip, of 32: everything is done for all of them at once, a bit each.

use super::Acceptance;
use super::lattice::Lattice;
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat};
use crate::random::Blocks;

type Word = Expr<u32>;

/// Blocks that are computed for every word. Of a hundred words of 32 spins less than one has a spin that their twelve bits leave open; a loop decides that.
const BLOCKS: u32 = 3;

/// Blocks of a random number's 32 bits.
const ALL_BLOCKS: u32 = 8;

/// Sum and carry of three bits.
fn full(a: Word, b: Word, c: Word) -> (Word, Word) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

/// Counts the set bits among four or six, in binary.
pub(super) fn counted(bits: &[Word]) -> [Word; 3] {
    let (sum, carry) = full(bits[0], bits[1], bits[2]);
    if bits.len() == 4 {
        let more = sum & bits[3];
        return [sum ^ bits[3], carry ^ more, carry & more];
    }
    let (sum2, carry2) = full(bits[3], bits[4], bits[5]);
    let (twos, fours) = full(carry, carry2, sum & sum2);
    [sum ^ sum2, twos, fours]
}

/// The spins `own` after one step, with neighbours of the other colour.
pub(super) fn flipped(
    of: &Lattice,
    (own, other): (Word, ArrayExpr<u32>),
    blocks: &Blocks,
    (word, colour): (Word, Word),
    at: [Word; 3],
) -> Word {
    let place = of.place(word, colour);
    let mask = of.mask(&place);
    let equal: Vec<Word> = of.neighbours(other, &place).into_iter().map(|spins| !(own ^ spins)).collect();
    let [ones, twos, fours] = counted(&equal);
    // Sites of which one, two and three pairs of neighbours more are equal than differ.
    let classes = match of.axes {
        2 => vec![twos & ones, fours],
        _ => vec![fours & !(twos | ones), fours & ones, fours & twos],
    };
    let any = classes.iter().fold(lit(0u32), |all, &class| all | class) & mask;
    let compare = |block: Word, first: Word, (below, open): (Word, Word)| {
        let (less, equal) = compared(blocks.block(block), first, &classes, &at);
        (below | open & less, open & equal)
    };
    let (below, open) = (0..BLOCKS).fold((lit(0u32), any), |state, block| compare(lit(block), lit(4 * block), state));
    let (_, below, _) = repeat(ALL_BLOCKS - BLOCKS, (lit(BLOCKS), below, open), |(block, below, open)| {
        let (below, rest) = compare(block, block * 4, (below, open));
        next_while(open.ne(0), (block + 1, below, rest))
    });
    own ^ (below | mask & !any)
}

/// Whether four bits of random numbers, of which those from `first` on are compared, are below those of their class's threshold, and whether they are equal.
fn compared(bits: [Word; 4], first: Word, classes: &[Word], at: &[Word; 3]) -> (Word, Word) {
    let planes = bits.into_iter().enumerate().rev();
    planes.fold((lit(0u32), lit(u32::MAX)), |(less, equal), (k, bits)| {
        let threshold = classes.iter().zip(at).fold(lit(0u32), |all, (&class, &at)| {
            let is_set = (at << (first + k as u32)).bitcast::<i32>() >> 31;
            all | class & is_set.bitcast::<u32>()
        });
        let same = !(threshold ^ bits);
        (threshold & !bits | less & same, equal & same)
    })
}

impl Acceptance {
    /// The threshold of sites of which `2 k` more neighbours are equal than differ.
    pub(super) fn threshold(beta: f64, k: u32) -> u32 {
        // As casts do, 2^32 becomes the greatest number below.
        (super::super::host::exp(-4.0 * beta * f64::from(k)) * 4_294_967_296.0).floor() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::Numerics;
    use crate::element::{DType, Ty};
    use crate::input::Source as _;
    use crate::ir::{Func, Param, Ptx, PtxValue, array_expr, pack};
    use crate::random::{Attempts, Random};
    use std::collections::BTreeMap;

    fn step(shape: &[u32]) -> Func {
        let of = Lattice::new(shape).expect("even sides");
        let word = Param::Value(Ty::U32);
        let params = [&[word, Param::Array(DType::U32)][..], &[word; 6], &[Param::Index(Ty::U32)], &[word; 4]].concat();
        pack(params, || {
            let value = |k: u16| <Word as crate::ir::Traced>::params(k);
            let blocks = Attempts::new(Random::new(0), of.words().into(), 3).exprs(&mut 2);
            flipped(&of, (value(0), array_expr(1)), &blocks, (value(8), value(12)), [value(9), value(10), value(11)])
        })
        .expect("a step is an operator")
    }

    /// PTX instructions of four words, by name, before the loop and in it.
    fn instructions(f: &Func) -> [BTreeMap<String, u32>; 2] {
        let mut p = Ptx::new(Numerics::Strict, "zero");
        let shared: Vec<bool> = (0..f.params.len()).map(|k| k > 1).collect();
        let args: Vec<PtxValue> = (0..f.params.len()).map(|k| PtxValue { reg: format!("%arg{k}"), ty: Ty::U32 }).collect();
        p.call_four(f, &vec![args; 4], &shared, &mut |p, at| p.emit(Ty::U32, |o| format!("ld.global.b32 {o}, [{}]", at.index.reg)));
        let text = p.finish();
        let start = text.find("$IW_0:").expect("the loop has a label");
        [&text[..start], &text[start..]].map(|part| {
            let mut names = BTreeMap::new();
            for line in part.lines().filter(|l| l.ends_with(';') && !l.contains(".reg")) {
                let name = line.split_whitespace().find(|w| !w.starts_with('@')).unwrap_or_default();
                *names.entry(name.trim_end_matches(';').to_owned()).or_insert(0) += 1;
            }
            names
        })
    }

    /// Three blocks of ten rounds with four multiplications each are most of it.
    #[test]
    fn a_spin_takes_less_than_twenty_instructions() {
        for (shape, most) in [(&[1024u32, 1024, 1024][..], 17.0), (&[1024, 1024], 16.0)] {
            let [before, turn] = instructions(&step(shape));
            let sum = |of: &BTreeMap<String, u32>| f64::from(of.values().sum::<u32>()) / 128.0;
            println!("{shape:?}: {} a spin, {} more where a turn is taken\n{before:?}\n{turn:?}", sum(&before), sum(&turn));
            assert!(sum(&before) < most, "{}", sum(&before));
        }
    }
}
