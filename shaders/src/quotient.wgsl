// The 64-bit integer part of the numerics prelude: quotients and remainders.

//@ iw_digit:
// A digit of a quotient in base 65536: of `u`, less than `v`, and the next digit of the dividend; the highest bit of `v` is set. Off by two at most before it
// is set right (Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D).
fn iw_digit(u: u32, next: u32, v: u32) -> u32 {
    let high = v >> 16u;
    let low = v & 0xffffu;
    var digit = u / high;
    var rest = u - digit * high;
    for (var k = 0u; k < 2u; k++) {
        let over = (rest <= 0xffffu) & ((digit > 0xffffu) | (digit * low > ((rest << 16u) | next)));
        digit -= u32(over);
        rest += select(0u, high, over);
    }
    return digit;
}

//@ iw_div_two_words: iw_digit
// The quotient of two words by one that is greater than the higher one.
fn iw_div_two_words(high: u32, low: u32, by: u32) -> u32 {
    let shift = countLeadingZeros(by);
    let v = by << shift;
    let u = (high << shift) | ((low >> 1u) >> (31u - shift));
    let rest = low << shift;
    let first = iw_digit(u, rest >> 16u, v);
    let second = iw_digit(((u << 16u) | (rest >> 16u)) - first * v, rest & 0xffffu, v);
    return (first << 16u) | second;
}

//@ iw_div_u64: iw_opaque64 iw_div_two_words
// In 64 bits NVIDIA's compiler has a function of its own for `/` and `%`, around which it loses registers: `2478 % x * (y & 1)` was 2478 where y is 0, and
// `y % x - c` was `y - c`. So quotients are made of words, by a word in two steps, by more from half the dividend and the divisor's highest 32 bits, which
// gives one too many at most (Warren, Hacker's Delight, 9-5). By zero is by one.
fn iw_div_u64(a: u64, b: u64) -> u64 {
    let by = iw_opaque64(select(b, 1lu, b == 0lu));
    let is_wide = u32(by >> 32u) != 0u;
    let shift = countLeadingZeros(u32(by >> 32u)) & 31u;
    let word = select(u32(by), u32((by << shift) >> 32u), is_wide);
    let a_high = u32(a >> 32u);
    let first = select(a_high / word, 0u, is_wide);
    let half = a >> 1u;
    let high = select(a_high - first * word, u32(half >> 32u), is_wide);
    let quotient = iw_div_two_words(high, select(u32(a), u32(half), is_wide), word);
    let low = iw_opaque64(u64(quotient));
    let guess = (low << shift) >> 31u;
    let least = guess - select(0lu, 1lu, guess != 0lu);
    let exact = least + select(0lu, 1lu, a - least * by >= by);
    return iw_opaque64(select((iw_opaque64(u64(first)) << 32u) | low, exact, is_wide));
}

//@ iw_rem_u64: iw_opaque64 iw_div_u64
fn iw_rem_u64(a: u64, b: u64) -> u64 {
    let by = select(b, 1lu, b == 0lu);
    return iw_opaque64(a - iw_div_u64(a, by) * by);
}

//@ iw_size_i64: iw_minus64
fn iw_size_i64(x: i64) -> u64 {
    return select(bitcast<u64>(x), iw_minus64(bitcast<u64>(x)), x < 0li);
}

//@ iw_div_i64: iw_size_i64 iw_minus64 iw_div_u64
// The least number by -1 is itself.
fn iw_div_i64(a: i64, b: i64) -> i64 {
    let size = iw_div_u64(iw_size_i64(a), iw_size_i64(b));
    return bitcast<i64>(select(size, iw_minus64(size), (a < 0li) != (b < 0li)));
}

//@ iw_rem_i64: iw_size_i64 iw_minus64 iw_rem_u64
fn iw_rem_i64(a: i64, b: i64) -> i64 {
    let size = iw_rem_u64(iw_size_i64(a), iw_size_i64(b));
    return bitcast<i64>(select(size, iw_minus64(size), a < 0li));
}
