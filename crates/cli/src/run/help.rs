//! The text of `isowarp run --help` beside its verbs.

/// Operators and expressions.
pub(crate) const OPERATORS: &str = "\
Operators:
  names        sum product min max and or xor count any all (reduce, scan, reduce-by-key, segmented-reduce, segmented-scan)
  expressions  \"exp(-x*x) + 0.5*y\" of x, y, z, w (the inputs in order) and i (the index); for these patterns an associative one of x and y
               c ? a : b  || &&  < <= > >= == !=  | ^ &  << >>  + - * / %  - ! ~
               abs min max clamp select fma mul_rn sqrt rsqrt cbrt floor ceil trunc round exp exp2 expm1 log log2 log10 log1p sin cos tan ...
               casts f32(x) f64 i32 u32 i64 u64; pi e inf nan true false
  functions    a bare name such as sqrt or max is applied to the inputs";

/// The conventions of all verbs.
pub(crate) const CONVENTIONS: &str = "\
Conventions:
  A literal takes the type of what it meets, and so does the index. Integers wrap; sums and products of them (sum, product) are of 64 bits, as NumPy's,
  unless --dtype says otherwise. A product next to a sum is one fused multiply-add, two are rounded each by itself; mul_rn(a, b) is the rounded
  product. A sum of nothing is 0, a minimum of nothing an error. argmin and argmax give the lowest index, u32. A reduction writes shape (1,), or the
  other axes with --axis. Comparisons are written as NumPy bool. Other outputs have their inputs' type, of f16, i8, i16, u8 and u16 too, unless --dtype says otherwise; products and convolutions give f32, i32 and u32 of these, and exact sums f32. gather and scatter take indices of any integer type
  into the array as one line; one that is negative or too large is an error. Of several scattered to one place the last stays.
  Sums of f32 that are scattered are exact, rounded once; a minimum or maximum with NaN is NaN, and -0 is below 0. match and tickets take all NaN for
  one value, and -0 and 0 for two.
  Bins of a histogram are half open: the upper end of --range and the last edge are in none (NumPy's last bin is closed), nor is NaN; what is
  in none is dropped. Even bins of floats are those between the edges that NumPy's linspace gives. Sums of f32 and f64 weights are exact, rounded once; sums of integers wrap. Channels with as many bins each have an axis of
  their own, the first; else their counts are one line.
  select, partition, count, any, all and find take an expression of x, y, z, w (arrays of one shape) and i, which holds where it is not zero;
  what is kept is of the first array. unique and rle compare neighbours by value: NaN differs from everything, -0 equals 0. sort and
  argsort of one dimension, is-sorted, merge, search and the set operations take a comparison of x and y that says whether x comes before y:
  --op \"x % 100 < y % 100\"; where it contradicts itself, as < does with NaN, elements may be missing. topk takes the array as one line, or with --axis -1 each row by itself, and
  of equal elements those that come first. What is moved, sorted or selected keeps its bits, but for NaN: of keys that are sorted, merged or searched they are
  the one NaN, which is greater than all numbers (--total-order keeps them), and so are those of f16 that are selected.
  With --by-key values of any type travel with the elements of sort, topk and merge, and of segmented-sort, whose offsets come last; unique gives the first value of each run of equal keys,
  and scan combines the values of each run. --out gets the values, --keys-out their keys.
  merge, search, co-ranks and the set operations take arrays as one line each, sorted as sort sorts them; one that is not is an error.
  sort, argsort, histogram, scan, select, partition, unique and rle take an array that is too large for the device, or for what the host may use (its limits and those of its
  control groups count), in chunks, with the same result to the bit; so do they with --chunk-size, which is the memory to work in. A row that is longer than a chunk goes through temporary files as large as it is, without a name, in
  --temp-dir. Where a comparison of your own contradicts itself, chunks do show. Counts of more than 2^32 - 1 samples are u64.
  Offsets of segments are u32, i32, u64 or i64, one more than there are segments; one that is below the one before it, or behind the end, is an
  error. An empty segment gives what the operator starts with: 0 for a sum, inf or the greatest value for a minimum.

  Elements of bool files are truth values: !x, x && y, x ? a : b, x == y, x < y; numbers are made of them by u32(x), for + too. What selects, moves and
  sorts them gives bool files, and so do min, max, and, or, xor and expressions that combine them; a sum of them is a count, a product 1 where
  all hold, both u32. dot, gemm, gemv and conv of two say where both hold somewhere; mean gives the share that is true and norm that of zeros and ones,
  both f64, and sum how many are true, u32. cast, fft, ulp and the solves take no bool.

Files: .npy of f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 (NumPy's f2 to u8) or bool, and of fft complex64 and complex128, of either byte order and in C or Fortran order; arrays.npz/name is the array `name` of
an archive. The output, little-endian and in C order, is written beside its place and renamed.";
