// Keys of 1 to 8 bytes in registers, for merges whose heads of runs are loaded by inline assembly.
#pragma once
#include "iw.cuh"

// What a key is held in.
template <class K>
struct HeldIn {
    using Type = uint32_t;
};
template <>
struct HeldIn<uint64_t> {
    using Type = uint64_t;
};
template <class K>
using Held = typename HeldIn<K>::Type;
