// Loads of five words: an element of up to four and its part, or four bins and a weight.
#pragma once
#include "iw.cuh"

IW_DEVICE void load1(Acc<5>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1, %2, %3, %4, %5;"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]), "=r"(v.w[4])
                 : "l"(i));
}
IW_DEVICE void load4(Acc<5> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20;"
                 : "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[0].w[2]), "=r"(v[0].w[3]), "=r"(v[0].w[4]), "=r"(v[1].w[0]), "=r"(v[1].w[1]),
                   "=r"(v[1].w[2]), "=r"(v[1].w[3]), "=r"(v[1].w[4]), "=r"(v[2].w[0]), "=r"(v[2].w[1]), "=r"(v[2].w[2]), "=r"(v[2].w[3]),
                   "=r"(v[2].w[4]), "=r"(v[3].w[0]), "=r"(v[3].w[1]), "=r"(v[3].w[2]), "=r"(v[3].w[3]), "=r"(v[3].w[4])
                 : "l"(i));
}
