// Convolutions of f32 images of several channels, by filters that look at all channels of a group, surrounded by zeros: products of the filters and of a matrix
// with a column to each window, whose rows are the taps of one channel after the other. See contract.cuh for their sums. A block of threads takes a tile of 64
// filters and 256 windows, of whatever images these are, and a thread reads the elements of one window. Where a tap lies is the same for all windows: a tile's
// terms are described once, and a window adds its own place, and has a bit to each tap that lies inside its image.
#include "contract.cuh"

namespace of = params::layer;

namespace {

using Type = Kind<float>;

// Rows, columns and terms of a tile; taps of a channel.
constexpr int TM = 64, TN = 256, TK = 8, RM = 8, RN = 8, MAX_TAPS = 64, PITCH_A = TM + 4;
constexpr uint32_t NONE = 0xffffffffu;

// An axis of windows: elements of an image, windows, taps of a filter, steps, and elements that the first window begins before the image.
struct Axis {
    uint32_t n, windows, taps, stride, dilation, before;

    IW_DEVICE Axis(const Args& args, uint32_t n, uint32_t windows, uint32_t steps)
        : n(args.u[n]), windows(args.u[windows]), taps(byte(args.u[steps], 0)), stride(byte(args.u[steps], 1)), dilation(byte(args.u[steps], 2)),
          before(byte(args.u[steps], 3)) {}

    IW_DEVICE static uint32_t byte(uint32_t word, int k) { return word >> 8 * k & 255; }

    // Where a window begins, from the image's first element on.
    IW_DEVICE uint32_t start(uint32_t window) const { return window * stride - before; }

    // A bit to each tap of a window that lies inside.
    IW_DEVICE uint64_t inside(uint32_t start) const {
        uint64_t bits = 0;
#pragma unroll 1
        for (uint32_t t = 0; t < taps; ++t) bits |= (uint64_t)(start + t * dilation < n) << t;
        return bits;
    }
};

// A term of a sum: where its element is from the start of a window, and the bit of its tap.
struct alignas(16) Term {
    uint32_t offset, low, high, unused;
};

IW_DEVICE void layer(const Args& args) {
    extern __shared__ __align__(16) float totals[];
    __shared__ __align__(16) float a_tile[2][TK * PITCH_A], b_tile[2][TK * TN];
    __shared__ Term terms[2][TK];
    __shared__ uint32_t offsets[MAX_TAPS];

    const uint32_t t = threadIdx.x, lane = lane_id(), warp = warp_id();
    const Axis z(args, of::DEPTH, of::WINDOWS_Z, of::STEPS_Z), y(args, of::HEIGHT, of::WINDOWS_Y, of::STEPS_Y), x(args, of::WIDTH, of::WINDOWS_X, of::STEPS_X);
    const uint32_t filters = args.u[of::FILTERS], groups = args.u[of::CHANNEL_GROUPS], per_block = args.u[of::BLOCK];
    const uint32_t windows = z.windows * y.windows * x.windows, all = windows * args.u[of::IMAGES], points = z.n * y.n * x.n;
    const uint32_t taps = z.taps * y.taps * x.taps, depth = taps * args.u[of::CHANNELS];
    const uint32_t tiles_m = (filters + TM - 1) / TM, tiles_n = (all + TN - 1) / TN;
    uint32_t index = blockIdx.x;
    const uint32_t m0 = index % tiles_m * TM;
    index /= tiles_m;
    const uint32_t n0 = index % tiles_n * TN, group = index / tiles_n;

    // The window whose elements this thread reads: the place of its first one, which may lie outside, and the taps that are inside.
    uint32_t start = 0, low = 0, high = 0;
    if (n0 + t < all) {
        const uint32_t image = (n0 + t) / windows, window = (n0 + t) % windows, row = window / x.windows;
        const uint32_t at_x = x.start(window % x.windows), at_y = y.start(row % y.windows), at_z = z.start(row / y.windows);
        const uint64_t in_x = x.inside(at_x), in_y = y.inside(at_y), in_z = z.inside(at_z);
        uint64_t bits = 0;
        uint32_t tap = 0;
#pragma unroll 1
        for (uint32_t a = 0; a < z.taps; ++a)
#pragma unroll 1
            for (uint32_t b = 0; b < y.taps; ++b, tap += x.taps)
                if (in_z >> a & in_y >> b & 1) bits |= in_x << tap;
        low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
        start = (image * groups + group) * args.u[of::CHANNELS] * points + (at_z * y.n + at_y) * x.n + at_x;
    }
    if (t < taps) offsets[t] = (t / x.taps / y.taps * z.dilation * y.n + t / x.taps % y.taps * y.dilation) * x.n + t % x.taps * x.dilation;
    __syncthreads();

    // The first threads describe the terms of a tile, one each: the taps of a channel, then those of the next one.
    uint32_t term = t, tap = t % taps, channel = t / taps * points;
    const uint32_t tap_step = TK % taps, channel_step = TK / taps * points;
    auto describe = [&](int buffer) {
        if (t >= TK) return;
        const uint32_t bit = term < depth ? 1u << tap % 32 : 0;
        terms[buffer][t] = {channel + offsets[tap], tap < 32 ? bit : 0, tap < 32 ? 0 : bit, 0};
        term += TK, tap += tap_step, channel += channel_step;
        if (tap >= taps) tap -= taps, channel += points;
    };

    // A thread brings one term of A, of so many rows, and all terms of its window.
    constexpr int CA = TM * TK / THREADS;
    const uint32_t a_k = t % TK, a_i = t / TK * CA;
    const uint64_t from_a = ((uint64_t)group * filters + m0 + a_i) * depth + a_k;
    Acc<1> next_a[CA], next_b[TK];
    auto bring = [&](uint32_t k, int buffer) {
#pragma unroll
        for (uint32_t c = 0; c < CA; ++c) {
            next_a[c].w[0] = Type::NO_A;
            if (k + a_k < depth && m0 + a_i + c < filters) load_a1(next_a[c], from_a + (uint64_t)c * depth + k);
        }
#pragma unroll
        for (int q = 0; q < TK; ++q) {
            const uint4 of_term = *(const uint4*)&terms[buffer][q];
            const bool inside = (low & of_term.y | high & of_term.z) != 0;
            load_b1(next_b[q], inside ? start + of_term.x : NONE);
        }
    };
    auto put = [&](int buffer) {
#pragma unroll
        for (int c = 0; c < CA; ++c) a_tile[buffer][a_k * PITCH_A + a_i + c] = Type::of(next_a[c]);
#pragma unroll
        for (int q = 0; q < TK; ++q) b_tile[buffer][q * TN + t] = Type::of(next_b[q]);
    };

    // Lanes that differ in their lowest bit read the same elements of A, those that differ in the next ones the same of B.
    const uint32_t row = lane / 2 % 8 * 4, column = warp * (4 * RN) + (lane % 2 + lane / 16 * 2) * 4;
    float sum[RM][RN];
    auto clear = [&] {
#pragma unroll
        for (int r = 0; r < RM; ++r)
#pragma unroll
            for (int c = 0; c < RN; ++c) sum[r][c] = 0;
    };
    clear();
    describe(1);
    __syncthreads();
    uint32_t end_of_block = per_block;
    bool first = true;
    int buffer = 0;
    // Brings a tile of terms, and computes with the one before it.
#pragma unroll 1
    for (uint32_t k = 0;; k += TK) {
        const bool more = k < depth;
        if (more) bring(k, buffer ^ 1);
        if (k > 0) {
            const float* const as = a_tile[buffer] + row;
            const float* const bs = b_tile[buffer] + column;
#pragma unroll
            for (int q = 0; q < TK; ++q) {
                float a[RM], b[RN];
#pragma unroll
                for (int r = 0; r < RM; r += 4) read4(a + r, as + q * PITCH_A + r * 8);
#pragma unroll
                for (int c = 0; c < RN; c += 4) read4(b + c, bs + q * TN + c * 4);
#pragma unroll
                for (int r = 0; r < RM; ++r)
#pragma unroll
                    for (int c = 0; c < RN; ++c) sum[r][c] = Type::fma(a[r], b[c], sum[r][c]);
            }
        }
        if (more) put(buffer ^ 1);
        if (k >= end_of_block || !more) {
#pragma unroll
            for (int r = 0; r < RM; ++r)
#pragma unroll
                for (int c = 0; c < RN; c += 4) {
                    float4& total = *(float4*)&totals[(row + r / 4 * 32 + r % 4) * TN + column + c * 4];
                    float4 v = make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
                    if (!first) {
                        const float4 w = total;
                        v.x = __fadd_rn(w.x, v.x), v.y = __fadd_rn(w.y, v.y), v.z = __fadd_rn(w.z, v.z), v.w = __fadd_rn(w.w, v.w);
                    }
                    total = v;
                }
            clear();
            first = false, end_of_block += per_block;
        }
        if (!more) break;
        describe(buffer);
        buffer ^= 1;
        __syncthreads();
    }

    __syncthreads();
    const uint32_t j = t % (TN / 4) * 4;
#pragma unroll 1
    for (uint32_t i = t / (TN / 4); i < TM && m0 + i < filters; i += THREADS / (TN / 4)) {
        uint32_t image = (n0 + j) / windows, window = (n0 + j) % windows;
        const float4 v = *(const float4*)(totals + i * TN + j);
        const Acc<1> four[4] = {Type::words(v.x), Type::words(v.y), Type::words(v.z), Type::words(v.w)};
        auto place = [&] { return (((uint64_t)image * groups + group) * filters + m0 + i) * windows + window; };
        // Images of whole vectors.
        if (args.u[of::FORM]) {
            if (n0 + j < all) epilogue4(place(), four);
            continue;
        }
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e) {
            if (n0 + j + e < all) epilogue(place(), four[e]);
            if (++window == windows) window = 0, ++image;
        }
    }
}

}  // namespace

IW_CONTRACT convolve_layer(const __grid_constant__ Args args) { layer(args); }
