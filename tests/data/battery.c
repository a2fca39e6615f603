/* Batteries of TestU01 over 32-bit words from standard input: battery NAME smallcrush|rabbit|alphabit [reversed]. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bbattery.h"
#include "swrite.h"
#include "unif01.h"

static unsigned long long taken;
static int reversed;

static unsigned int next(void) {
    static uint32_t words[1 << 16];
    static size_t at, end;
    if (at == end) {
        at = 0;
        end = fread(words, sizeof words[0], sizeof words / sizeof words[0], stdin);
        if (end == 0) {
            fprintf(stderr, "the input ended after %llu words\n", taken);
            exit(1);
        }
    }
    taken++;
    uint32_t x = words[at++];
    if (reversed) {
        x = (x >> 16) | (x << 16);
        x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
        x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
        x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
        x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    }
    return x;
}

int main(int argc, char **argv) {
    const double bits = 268435456.0;
    if (argc < 3) return 2;
    reversed = argc > 3 && strcmp(argv[3], "reversed") == 0;
    swrite_Basic = FALSE; /* the summary alone */
    unif01_Gen *gen = unif01_CreateExternGenBits(argv[1], next);
    if (strcmp(argv[2], "smallcrush") == 0) bbattery_SmallCrush(gen);
    else if (strcmp(argv[2], "rabbit") == 0) bbattery_Rabbit(gen, bits);
    else if (strcmp(argv[2], "alphabit") == 0) bbattery_Alphabit(gen, bits, 0, 32);
    else return 2;
    printf("words taken: %llu\n", taken);
    unif01_DeleteExternGenBits(gen);
    return 0;
}
