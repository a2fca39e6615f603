// NVIDIA's CUB, and gathers and scatters by hand, on the problems that `isowarp-bench` measures, in its way: calls in batches between two events, the device held until all of a batch are
// enqueued, inputs in turn where several would fit the L2, random data, the median.
//
// nvcc -O3 -std=c++17 --extended-lambda -arch=sm_90 cub.cu -o cub && ./cub
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        const cudaError_t status = (call);                                            \
        if (status != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

__host__ __device__ inline uint32_t random_word(uint64_t i) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (uint32_t)(z ^ z >> 31);
}

// 0: words, 1: floats in [0, 1), 2: 0 to 3, 3: half of them 77, 4: 77, 5: 1 in four, 6: rising, 7: falling, 8: bytes, 9: places with their bits in
// reverse, 10: halves that take turns
__global__ void fill(uint32_t* p, size_t n, int kind) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const uint32_t w = random_word(i);
        p[i] = kind == 0   ? w
               : kind == 1 ? __float_as_uint((float)(w >> 8) / 16777216.0f)
               : kind == 2 ? w & 3
               : kind == 3 ? (w & 1 ? w : 77)
               : kind == 4 ? 77
               : kind == 5 ? (w >> 30 == 0)
               : kind == 6 ? (uint32_t)i * (~0u / (uint32_t)n)
               : kind == 7 ? ~0u - (uint32_t)i * (~0u / (uint32_t)n)
               : kind == 8 ? w & 255
               : kind == 9 ? __brev((uint32_t)i)
                           : (uint32_t)(i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1);
    }
}
__global__ void axpy(float a, const float4* x, float4* y, float4* z, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 u = x[i];
    float4 v = y[i];
    v.x += a * u.x, v.y += a * u.y, v.z += a * u.z, v.w += a * u.w;
    z[i] = v;
}

// Gathers and scatters as one writes them by hand: an element to a thread, and four.
__global__ void gather_1(const float* x, const uint32_t* at, float* z, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[at[i]];
}
__global__ void gather_4(const float* x, const uint4* at, float4* z, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint4 k = at[i];
    z[i] = make_float4(x[k.x], x[k.y], x[k.z], x[k.w]);
}
__global__ void scatter_1(const float* x, const uint32_t* at, float* z, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) z[at[i]] = x[i];
}
__global__ void scatter_4(const float4* x, const uint4* at, float* z, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint4 k = at[i];
    const float4 v = x[i];
    z[k.x] = v.x, z[k.y] = v.y, z[k.z] = v.z, z[k.w] = v.w;
}
// The permutation of `isowarp-bench`.
__global__ void permutation(uint32_t* at, uint32_t n) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint32_t h = i * 0x9E3779B1u % n;
        at[i] = (h ^ h >> 7) % n;
    }
}

struct Less {
    template <class T>
    __host__ __device__ bool operator()(T a, T b) const { return a < b; }
};
struct Half {
    __host__ __device__ bool operator()(uint32_t x) const { return x >> 31 == 0; }
};
struct Always {
    bool yes;
    __host__ __device__ bool operator()(uint32_t) const { return yes; }
};

// The stream waits here until `open`, 50 ms at most: what is enqueued meanwhile begins together.
static void wait_for_host(void* open) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (!((std::atomic<bool>*)open)->load() && std::chrono::steady_clock::now() < end) {}
}
constexpr int HELD = 50;  // calls of a batch at most, as in `isowarp-bench`

constexpr size_t L2 = size_t(256) << 20;  // bytes that inputs take together, several times the cache

struct Bench {
    size_t n;
    int copies;
    std::vector<uint32_t*> x, y, z;
    uint32_t* few;
    void *scratch = nullptr;
    explicit Bench(size_t n) : n(n), copies((int)std::min<size_t>(64, std::max<size_t>(1, L2 / (4 * n)))) {
        for (auto* v : {&x, &y, &z})
            for (int c = 0; c < copies; ++c) {
                uint32_t* p;
                CHECK(cudaMalloc(&p, 4 * n));
                v->push_back(p);
            }
        CHECK(cudaMalloc(&few, size_t(8) << 20));
    }
    ~Bench() {
        for (auto* v : {&x, &y, &z})
            for (uint32_t* p : *v) CHECK(cudaFree(p));
        CHECK(cudaFree(few));
    }
    void inputs(const std::vector<uint32_t*>& v, int kind) const {
        for (uint32_t* p : v) fill<<<4096, 256>>>(p, n, kind);
        CHECK(cudaDeviceSynchronize());
    }
    // Seconds of a call, the median.
    double median(const std::function<void(int)>& call) const {
        cudaEvent_t begin, end;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        int turn = 0;
        std::atomic<bool> open;
        const auto batch = [&](int calls) {
            open = false;
            CHECK(cudaLaunchHostFunc(nullptr, wait_for_host, &open));
            CHECK(cudaEventRecord(begin));
            for (int k = 0; k < calls; ++k) call(turn++ % copies);
            CHECK(cudaEventRecord(end));
            open = true;
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            return ms * 1e-3;
        };
        batch(2);
        const int calls = (int)std::clamp(2e-3 / std::max(batch(4) / 4, 1e-6), 1.0, (double)HELD);
        std::vector<double> times;
        for (int k = 0; k < 11; ++k) times.push_back(batch(calls) / calls);
        CHECK(cudaGetLastError());
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }
    void print(const char* name, double seconds) const {
        printf("n=2^%d %-32s %10.1f us\n", (int)std::log2((double)n), name, seconds * 1e6);
        fflush(stdout);
    }
    void run(const char* name, const std::function<void(int)>& call) const { print(name, median(call)); }
    // A call of CUB's, which asks for scratch first.
    template <class F>
    void cub(const char* name, F call) {
        void* none = nullptr;
        size_t bytes = 0;
        CHECK(call(none, bytes, 0));
        CHECK(cudaMalloc(&scratch, bytes));
        run(name, [&](int c) { CHECK(call(scratch, bytes, c)); });
        CHECK(cudaFree(scratch));
    }
};

static double unit(uint64_t k) { return random_word(k) / 4294967296.0; }

// As many segments of each magnitude up to 10^6.
static std::vector<uint32_t> power_law(size_t n) {
    std::vector<uint32_t> offsets{0};
    for (size_t at = 0, k = 0; at < n; ++k) offsets.push_back((uint32_t)(at = std::min(n, at + (size_t)std::pow(1e6, unit(k)))));
    return offsets;
}
// One to twice as many elements as the mean.
static std::vector<uint32_t> around(size_t n, size_t mean) {
    std::vector<uint32_t> offsets{0};
    for (size_t k = 1; k < n / mean; ++k) offsets.push_back((uint32_t)(mean * k + unit(k) * mean));
    offsets.push_back((uint32_t)n);
    return offsets;
}

int main() {
    for (const int lg : {16, 20, 24, 28}) {
        Bench b(size_t(1) << lg);
        const int64_t n = (int64_t)b.n;
        auto &x = b.x, &y = b.y, &z = b.z;
        uint32_t* const few = b.few;
        const auto f = [](uint32_t* p) { return (float*)p; };

        b.inputs(x, 1), b.inputs(y, 1);
        b.run("copy f32", [&](int c) { CHECK(cudaMemcpyAsync(z[c], x[c], 4 * n, cudaMemcpyDeviceToDevice)); });
        b.run("map/axpy f32", [&](int c) { axpy<<<(n / 4 + 255) / 256, 256>>>(2.f, (float4*)x[c], (float4*)y[c], (float4*)z[c], n / 4); });
        b.cub("reduce/sum f32", [&](void* t, size_t& s, int c) { return cub::DeviceReduce::Sum(t, s, f(x[c]), f(few), n); });
        b.cub("reduce/argmin f32", [&](void* t, size_t& s, int c) { return cub::DeviceReduce::ArgMin(t, s, f(x[c]), f(few), (int64_t*)(few + 2), n); });
        b.cub("scan/inclusive f32", [&](void* t, size_t& s, int c) { return cub::DeviceScan::InclusiveSum(t, s, f(x[c]), f(z[c]), n); });
        b.cub("scan/exclusive f32", [&](void* t, size_t& s, int c) { return cub::DeviceScan::ExclusiveSum(t, s, f(x[c]), f(z[c]), n); });
        b.cub("histogram/even f32", [&](void* t, size_t& s, int c) { return cub::DeviceHistogram::HistogramEven(t, s, f(x[c]), few, 257, 0.f, 1.f, n); });
        b.inputs(x, 0);
        b.cub("reduce/sum u32", [&](void* t, size_t& s, int c) { return cub::DeviceReduce::Sum(t, s, x[c], few, n); });
        b.cub("scan/inclusive u32", [&](void* t, size_t& s, int c) { return cub::DeviceScan::InclusiveSum(t, s, x[c], z[c], n); });
        b.cub("scan/exclusive u32", [&](void* t, size_t& s, int c) { return cub::DeviceScan::ExclusiveSum(t, s, x[c], z[c], n); });
        b.cub("select/half u32", [&](void* t, size_t& s, int c) { return cub::DeviceSelect::If(t, s, x[c], z[c], few, n, Half{}); });
        b.cub("select/partition u32", [&](void* t, size_t& s, int c) { return cub::DevicePartition::If(t, s, x[c], z[c], few, n, Half{}); });
        b.cub("histogram/even u32", [&](void* t, size_t& s, int c) { return cub::DeviceHistogram::HistogramEven(t, s, x[c], few, 257, 0u, ~0u, n); });
        b.cub("histogram/even u8", [&](void* t, size_t& s, int c) { return cub::DeviceHistogram::HistogramEven(t, s, (uint8_t*)x[c], few, 257, 0, 256, n); });
        b.cub("sort/keys u32", [&](void* t, size_t& s, int c) { return cub::DeviceRadixSort::SortKeys(t, s, x[c], z[c], n); });
        b.cub("sort/by u32", [&](void* t, size_t& s, int c) { return cub::DeviceMergeSort::SortKeysCopy(t, s, x[c], z[c], n, Less{}); });
        {
            std::vector<uint32_t*> w;
            for (int c = 0; c < b.copies; ++c) CHECK(cudaMalloc(&w.emplace_back(), 4 * n));
            b.cub("sort/pairs u32", [&](void* t, size_t& s, int c) { return cub::DeviceRadixSort::SortPairs(t, s, x[c], z[c], y[c], w[c], n); });
            // Both halves in order, for merges.
            void* t = nullptr;
            size_t s = 0;
            CHECK(cub::DeviceRadixSort::SortKeys(t, s, x[0], w[0], n));
            CHECK(cudaMalloc(&t, s));
            for (int c = 0; c < b.copies; ++c)
                for (int h = 0; h < 2; ++h) CHECK(cub::DeviceRadixSort::SortKeys(t, s, x[c] + h * n / 2, w[c] + h * n / 2, n / 2));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaFree(t));
            b.cub("merge/keys u32", [&](void* t, size_t& s, int c) { return cub::DeviceMerge::MergeKeys(t, s, w[c], n / 2, w[c] + n / 2, n / 2, z[c], Less{}); });
            for (uint32_t* p : w) CHECK(cudaFree(p));
        }
        for (const auto& [kind, name, bytes] : {std::tuple(3, "histogram/skewed u32", "histogram/skewed u8"), std::tuple(4, "histogram/one_bin u32", "histogram/one_bin u8")}) {
            b.inputs(x, kind);
            b.cub(name, [&](void* t, size_t& s, int c) { return cub::DeviceHistogram::HistogramEven(t, s, x[c], few, 257, 0u, ~0u, n); });
            // Bytes of which all, or half, are alike.
            for (uint32_t* p : x) {
                if (kind == 4) CHECK(cudaMemset(p, 77, n));
            }
            if (kind == 4) b.cub(bytes, [&](void* t, size_t& s, int c) { return cub::DeviceHistogram::HistogramEven(t, s, (uint8_t*)x[c], few, 257, 0, 256, n); });
        }
        b.inputs(x, 2);
        b.cub("select/unique u32", [&](void* t, size_t& s, int c) { return cub::DeviceSelect::Unique(t, s, x[c], z[c], few, n); });
        b.cub("select/runs u32", [&](void* t, size_t& s, int c) { return cub::DeviceRunLengthEncode::Encode(t, s, x[c], z[c], y[c], few, n); });
        {
            // Runs of 4 on average.
            void* t = nullptr;
            size_t s = 0;
            b.inputs(x, 5), b.inputs(y, 0);
            CHECK(cub::DeviceScan::InclusiveSum(t, s, x[0], x[0], n));
            CHECK(cudaMalloc(&t, s));
            for (uint32_t* p : x) CHECK(cub::DeviceScan::InclusiveSum(t, s, p, p, n));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaFree(t));
            uint32_t* sums;
            CHECK(cudaMalloc(&sums, 4 * n));
            b.cub("segmented/by_key u32", [&](void* t, size_t& s, int c) { return cub::DeviceReduce::ReduceByKey(t, s, x[c], z[c], y[c], sums, few, cuda::std::plus<>{}, n); });
            CHECK(cudaFree(sums));
        }
        for (const auto& [kind, of, merges] : {std::tuple(6, "rising", "apart"), std::tuple(7, "falling", ""), std::tuple(4, "alike", "alike"),
                                               std::tuple(2, "few", ""), std::tuple(8, "low_digit", ""), std::tuple(9, "bits_reversed", ""),
                                               std::tuple(10, "", "turns")}) {
            b.inputs(x, kind);
            const auto name = [](const char* pattern, const char* of) { return std::string(pattern) + of + " u32"; };
            if (kind != 9 && kind != 10)
                b.cub(name("sort/keys_", of).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceRadixSort::SortKeys(t, s, x[c], z[c], n); });
            if (kind != 8 && kind != 10)
                b.cub(name("sort/by_", of).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceMergeSort::SortKeysCopy(t, s, x[c], z[c], n, Less{}); });
            if (*merges)
                b.cub(name("merge/", merges).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceMerge::MergeKeys(t, s, x[c], n / 2, x[c] + n / 2, n / 2, z[c], Less{}); });
            if (kind != 4 && kind != 6) continue;
            b.cub(name("select/unique_", of).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceSelect::Unique(t, s, x[c], z[c], few, n); });
            b.cub(name("select/runs_", of).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceRunLengthEncode::Encode(t, s, x[c], z[c], y[c], few, n); });
            b.cub(name("segmented/by_key_", of).c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceReduce::ReduceByKey(t, s, x[c], z[c], x[c], y[c], few, cuda::std::plus<>{}, n); });
            if (kind != 6) continue;
            for (const auto& [yes, all] : {std::pair(false, "select/none u32"), std::pair(true, "select/all u32")})
                b.cub(all, [&, keeps = Always{yes}](void* t, size_t& s, int c) { return cub::DeviceSelect::If(t, s, x[c], z[c], few, n, keeps); });
            b.cub("select/first_half u32", [&](void* t, size_t& s, int c) { return cub::DeviceSelect::If(t, s, x[c], z[c], few, n, Half{}); });
            b.cub("select/partition_first_half u32", [&](void* t, size_t& s, int c) { return cub::DevicePartition::If(t, s, x[c], z[c], few, n, Half{}); });
        }
        b.inputs(x, 1);
        for (uint32_t* p : y) permutation<<<4096, 256>>>(p, (uint32_t)n);
        const unsigned blocks = (unsigned)(n / 256), quarter = (unsigned)(n / 1024);
        b.run("move/gather f32, by one", [&](int c) { gather_1<<<blocks, 256>>>(f(x[c]), y[c], f(z[c]), n); });
        b.run("move/gather f32, by four", [&](int c) { gather_4<<<quarter, 256>>>(f(x[c]), (uint4*)y[c], (float4*)z[c], n / 4); });
        b.run("move/scatter_unique f32, by one", [&](int c) { scatter_1<<<blocks, 256>>>(f(x[c]), y[c], f(z[c]), n); });
        b.run("move/scatter_unique f32, by four", [&](int c) { scatter_4<<<quarter, 256>>>((float4*)x[c], (uint4*)y[c], f(z[c]), n / 4); });
        b.inputs(x, 1), b.inputs(y, 0);
        for (const auto& [of, host] : {std::pair("power_law", power_law(n)), std::pair("tiny", around(n, 16)), std::pair("hundreds", around(n, 400)),
                                       std::pair("middle", around(n, 3000)), std::pair("one", std::vector<uint32_t>{0, (uint32_t)n})}) {
            uint32_t* offsets;
            CHECK(cudaMalloc(&offsets, 4 * host.size()));
            CHECK(cudaMemcpy(offsets, host.data(), 4 * host.size(), cudaMemcpyHostToDevice));
            const int64_t segments = (int64_t)host.size() - 1;
            const std::string name = of;
            b.cub(("segmented/" + name + " f32").c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceSegmentedReduce::Sum(t, s, f(x[c]), f(z[c]), segments, offsets, offsets + 1); });
            if (name != "one" && name != "hundreds")
                b.cub(name == "power_law" ? "segmented/sort u32" : ("segmented/sort_" + name + " u32").c_str(), [&](void* t, size_t& s, int c) { return cub::DeviceSegmentedSort::SortKeys(t, s, y[c], z[c], n, segments, offsets, offsets + 1); });
            CHECK(cudaFree(offsets));
        }
    }
}
