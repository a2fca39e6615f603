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

// Keys of 8 bytes; and of up to four bytes, which are words: holes hold how many bytes each takes, and whether a narrow one is the word's high bits or its
// low ones.
template <class K>
struct Moved {
    const K* first;
    IW_DEVICE Moved(uint64_t base, uint32_t begin) : first((const K*)base + begin) {}
    IW_DEVICE Moved behind(uint32_t at) const { return Moved((uint64_t)first, at); }
    IW_DEVICE Moved far_behind(uint64_t at) const { return Moved((uint64_t)(first + at), 0); }
    IW_DEVICE K get(uint64_t at) const { return first[at]; }
    template <int AT>
    IW_DEVICE K load() const {
        return first[AT];
    }
    // One of two, by predicates: to choose an address takes longer.
    template <int AT>
    IW_DEVICE static K load_one_of(const Moved& a, const Moved& b, bool of_a) {
        K key;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.u64 %0, [%1+%4]; @!p ld.global.u64 %0, [%2+%4]; }"
                     : "=l"(key)
                     : "l"(a.first), "l"(b.first), "r"((uint32_t)of_a), "n"(AT * sizeof(K))
                     : "memory");
        return key;
    }
    IW_DEVICE void store(uint32_t at, K key) const { ((K*)first)[at] = key; }
    // Aligned to as many.
    IW_DEVICE void store_all(uint32_t at, const K (&keys)[2]) const { *(ulonglong2*)(first + at) = {keys[0], keys[1]}; }
};
#define MOVED_BY_HOLES(NAME, OF)                                                                                                                  \
    struct NAME {                                                                                                                                 \
        uint64_t first;                                                                                                                           \
        IW_DEVICE NAME(uint64_t base, uint32_t begin) { asm("// @op." OF "_at %0, %1, %2;" : "=l"(first) : "l"(base), "r"(begin)); }              \
        IW_DEVICE NAME behind(uint32_t at) const { return NAME(first, at); }                                                                      \
        IW_DEVICE NAME far_behind(uint64_t at) const {                                                                                            \
            NAME moved(*this);                                                                                                                    \
            asm("// @op." OF "_far %0, %1, %2;" : "=l"(moved.first) : "l"(first), "l"(at));                                                       \
            return moved;                                                                                                                         \
        }                                                                                                                                         \
        IW_DEVICE uint32_t get(uint64_t at) const { return far_behind(at).load<0>(); }                                                            \
        template <int AT>                                                                                                                         \
        IW_DEVICE uint32_t load() const {                                                                                                         \
            uint32_t word;                                                                                                                        \
            asm volatile("// @op." OF "_load %0, %1, %2;" : "=r"(word) : "l"(first), "n"(AT));                                                    \
            return word;                                                                                                                          \
        }                                                                                                                                         \
        template <int AT>                                                                                                                         \
        IW_DEVICE static uint32_t load_one_of(const NAME& a, const NAME& b, bool of_a) {                                                          \
            uint32_t word;                                                                                                                        \
            asm volatile("// @op." OF "_load_of %0, %1, %2, %3, %4;"                                                                              \
                         : "=r"(word)                                                                                                             \
                         : "l"(a.first), "l"(b.first), "r"((uint32_t)of_a), "n"(AT)                                                               \
                         : "memory");                                                                                                             \
            return word;                                                                                                                          \
        }                                                                                                                                         \
        IW_DEVICE void store(uint32_t at, uint32_t word) const {                                                                                  \
            asm volatile("// @op." OF "_store %0, %1, %2;" ::"l"(first), "r"(at), "r"(word) : "memory");                                          \
        }                                                                                                                                         \
        IW_DEVICE void store_all(uint32_t at, const uint32_t (&w)[4]) const {                                                                     \
            asm volatile("// @op." OF "_store4 %0, %1, %2, %3, %4, %5;" ::"l"(first), "r"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])         \
                         : "memory");                                                                                                             \
        }                                                                                                                                         \
    };
MOVED_BY_HOLES(KeyWords, "key")
MOVED_BY_HOLES(ValueWords, "value")

template <class K, bool WORDS = sizeof(K) == 4>
struct MovedAs {
    using Keys = Moved<K>;
    using Values = Moved<K>;
};
template <class K>
struct MovedAs<K, true> {
    using Keys = KeyWords;
    using Values = ValueWords;
};
template <class K>
using Keys = typename MovedAs<K>::Keys;
template <class K>
using Values = typename MovedAs<K>::Values;

// Values that travel with a key, by its bytes.
struct Nothing {};
template <int P>
struct PayloadOf {
    using Type = Nothing;
};
template <>
struct PayloadOf<4> {
    using Type = uint32_t;
};
template <>
struct PayloadOf<8> {
    using Type = uint64_t;
};
