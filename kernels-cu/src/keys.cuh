// Keys and values in memory, of widths that kernels need not know: one kernel moves those of up to four bytes.
#pragma once
#include "iw.cuh"

// Calls `act` for the numbers below COUNT, each a constant.
template <int K>
struct Constant {
    static constexpr int value = K;
    IW_DEVICE constexpr operator int() const { return K; }
};
template <int COUNT, int K = 0, class F>
IW_DEVICE void unrolled(const F& act) {
    if constexpr (K < COUNT) {
        act(Constant<K>());
        unrolled<COUNT, K + 1>(act);
    }
}

// Keys in memory. Those of up to four bytes are words: holes hold how many bytes each takes, and whether a narrow one is the word's high bits or its low
// ones.
template <class K>
struct Keys {
    const K* first;
    IW_DEVICE Keys(uint64_t base, uint32_t begin) : first((const K*)base + begin) {}
    IW_DEVICE Keys behind(uint32_t at) const { return Keys((uint64_t)first, at); }
    IW_DEVICE Keys far_behind(uint64_t at) const { return Keys((uint64_t)(first + at), 0); }
    template <int AT>
    IW_DEVICE K load() const {
        return first[AT];
    }
    // One of two, by predicates: to choose an address takes longer.
    template <int AT>
    IW_DEVICE static K load_one_of(const Keys& a, const Keys& b, bool of_a) {
        K key;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.u64 %0, [%1+%4]; @!p ld.global.u64 %0, [%2+%4]; }"
                     : "=l"(key)
                     : "l"(a.first), "l"(b.first), "r"((uint32_t)of_a), "n"(AT * sizeof(K))
                     : "memory");
        return key;
    }
    IW_DEVICE void store(uint32_t at, K key) const { ((K*)first)[at] = key; }
};
template <>
struct Keys<uint32_t> {
    uint64_t first;
    IW_DEVICE Keys(uint64_t base, uint32_t begin) { asm("// @op.key_at %0, %1, %2;" : "=l"(first) : "l"(base), "r"(begin)); }
    IW_DEVICE Keys behind(uint32_t at) const { return Keys(first, at); }
    IW_DEVICE Keys far_behind(uint64_t at) const {
        Keys keys(*this);
        asm("// @op.key_far %0, %1, %2;" : "=l"(keys.first) : "l"(first), "l"(at));
        return keys;
    }
    template <int AT>
    IW_DEVICE uint32_t load() const {
        uint32_t key;
        asm volatile("// @op.key_load %0, %1, %2;" : "=r"(key) : "l"(first), "n"(AT));
        return key;
    }
    template <int AT>
    IW_DEVICE static uint32_t load_one_of(const Keys& a, const Keys& b, bool of_a) {
        uint32_t key;
        asm volatile("// @op.key_load_of %0, %1, %2, %3, %4;" : "=r"(key) : "l"(a.first), "l"(b.first), "r"((uint32_t)of_a), "n"(AT) : "memory");
        return key;
    }
    IW_DEVICE void store(uint32_t at, uint32_t key) const { asm volatile("// @op.key_store %0, %1, %2;" ::"l"(first), "r"(at), "r"(key) : "memory"); }
};
