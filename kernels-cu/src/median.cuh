// Medians of 3x3 in tiles of 2x2 windows, which share the block of 2x2 samples in their middle. Two windows side by side share the two
// samples above or below it as well; two windows on top of each other the two left or right of it.
// What has five samples of its window above it or below it can't be the median and is dropped on the way.
// A format says how it sorts: `Value` (one sample or several side by side), `smaller`, `larger`, and `sort` of two in place.
#pragma once

// Samples common to two windows side by side: their six samples without the least and the greatest, in order.
template <class F>
struct Six {
    typename F::Value v[4];
};

// The 2x2 block of two columns that are in order: lows and highs. Sorted.
template <class F, class V>
IW_DEVICE void block_of(V low_a, V high_a, V low_b, V high_b, V (&block)[4]) {
    F::sort(low_a, low_b);
    F::sort(high_a, high_b);
    F::sort(low_b, high_a);
    block[0] = low_a, block[1] = low_b, block[2] = high_a, block[3] = high_b;
}

// The block and two samples more, merged: even places and odd places first, then neighbours.
template <class F, class V>
IW_DEVICE Six<F> six_of(const V (&block)[4], V a, V b) {
    F::sort(a, b);
    V even = F::larger(block[0], a), odd = F::smaller(block[3], b), below = block[1], above = block[2];
    F::sort(even, above);
    F::sort(below, odd);
    F::sort(even, below);
    F::sort(above, odd);
    return {{even, below, above, odd}};
}

// The median of the six, two more samples in order, and a ninth.
template <class F, class V>
IW_DEVICE V median_of(const Six<F>& six, V low, V high, V last) {
    V p = F::larger(six.v[1], low), q = F::smaller(six.v[2], high);
    F::sort(p, q);
    return F::larger(F::larger(six.v[0], p), F::smaller(F::smaller(six.v[3], q), last));
}

// Medians of two rows of windows in four rows of values; a window's columns are STEP values apart.
template <class F, int STEP, int N, int V, class Value>
IW_DEVICE void medians(const Value (&rows)[4][V], Value (&done)[2][N]) {
    static_assert(V == N + 2 * STEP, "a window reaches STEP values to either side");
    Value low[V], high[V];
#pragma unroll
    for (int k = 0; k < V; ++k) {
        low[k] = rows[1][k], high[k] = rows[2][k];
        F::sort(low[k], high[k]);
    }
#pragma unroll
    for (int k = 0; k < N; ++k) {
        if (k / STEP % 2 != 0 || F::skips(k)) continue;
        // Windows k and k + STEP share columns a and b.
        const int a = k + STEP, b = k + 2 * STEP;
        Value block[4];
        block_of<F>(low[a], high[a], low[b], high[b], block);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const auto& row = rows[3 * r];
            const Six<F> six = six_of<F>(block, row[a], row[b]);
            done[r][k] = median_of<F>(six, low[k], high[k], row[k]);
            if (k + STEP < N) done[r][k + STEP] = median_of<F>(six, low[b + STEP], high[b + STEP], row[b + STEP]);
        }
    }
}
