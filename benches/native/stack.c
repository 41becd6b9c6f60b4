/* Adds the first hundred naturals to a stack and removes them, again and again, in one of three orders:
   turns  each is removed before the next is added
   last   all are added, then all removed, the last first
   first  all are added, then all removed, the first first
   stack ROUNDS ORDER RESULT: writes the nanoseconds that the quickest round took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NUMBERS 100

static int items[NUMBERS];
static int filled;

void stack_add(int value) { items[filled++] = value; }

void stack_remove(int value) {
    int at = filled - 1;
    while (at >= 0 && items[at] != value) at--;
    if (at < 0) exit(4);
    filled--;
    memmove(items + at, items + at + 1, (filled - at) * sizeof *items);
}

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int rounds = atoi(argv[1]);
    int turns = strcmp(argv[2], "turns") == 0, first = strcmp(argv[2], "first") == 0;
    long long least = 0;
    for (int round = 0; round < rounds; round++) {
        long long begun = now();
        for (int value = 0; value < NUMBERS; value++) {
            stack_add(value);
            if (turns) stack_remove(value);
        }
        for (int value = 0; !turns && value < NUMBERS; value++) stack_remove(first ? value : NUMBERS - 1 - value);
        long long took = now() - begun;
        if (round == 0 || took < least) least = took;
    }
    FILE *out = fopen(argv[3], "w");
    if (!out) return 3;
    fprintf(out, "%lld\n", least);
    return fclose(out) == 0 ? 0 : 3;
}
