/* Calls a function for one of many queues after the other.
   queues CALLS QUEUES RESULT: writes the nanoseconds that a call took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct queue {
    long size;
    char rest[56];
};

__attribute__((noinline)) long push(struct queue *q, long item) {
    __asm__ volatile("" : : "r"(q), "r"(item) : "memory");
    return item;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    long calls = atol(argv[1]), count = atol(argv[2]);
    struct queue *queues = calloc(count, sizeof *queues);
    struct timespec begun, ended;
    /* All queues are known before the clock runs. */
    for (long i = 0; i < count; i++) push(&queues[i], i);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long i = 0, at = 0; i < calls; i++) {
        push(&queues[at], i);
        at += 40503;
        at %= count;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double each = ((ended.tv_sec - begun.tv_sec) * 1e9 + (ended.tv_nsec - begun.tv_nsec)) / (calls ? calls : 1);
    FILE *out = fopen(argv[3], "w");
    if (!out) return 3;
    fprintf(out, "%f\n", each);
    return fclose(out) == 0 ? 0 : 3;
}
