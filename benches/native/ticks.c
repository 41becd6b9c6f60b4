/* Calls a function that does nothing, with busy work of a given duration between two calls.
   ticks CALLS GAP_NS RESULT: writes the nanoseconds that a call and what follows it took. With a gap that is
   the median; without one calls are too short to be timed, and it is the mean. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void tick(int value) { (void)value; }

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    long calls = atol(argv[1]);
    long long gap = atoll(argv[2]);
    long long *times = gap > 0 ? calloc(calls + 1, sizeof *times) : NULL;
    long long begun = now(), last = begun;
    for (long i = 0; i < calls; i++) {
        tick(i % 16);
        if (gap > 0) {
            long long from = now(), at = from;
            while (at - from < gap) at = now();
            times[i] = at - last;
            last = at;
        }
    }
    double each = calls > 0 ? (double)(now() - begun) / calls : 0;
    if (gap > 0) {
        qsort(times, calls, sizeof *times, compare);
        each = times[calls / 2];
    }
    FILE *out = fopen(argv[3], "w");
    if (!out) return 3;
    fprintf(out, "%f\n", each);
    return fclose(out) == 0 ? 0 : 3;
}
