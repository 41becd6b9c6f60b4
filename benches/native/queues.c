/* Calls a function for one of many queues after the other; each thread has queues of its own.
   queues CALLS QUEUES RESULT [THREADS]: writes the nanoseconds that a call took. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct queue {
    long size;
    char rest[56];
};

struct part {
    struct queue *queues;
    long calls, count;
    pthread_t thread;
};

__attribute__((noinline)) long push(struct queue *q, long item) {
    __asm__ volatile("" : : "r"(q), "r"(item) : "memory");
    return item;
}

static void *work(void *argument) {
    struct part *part = argument;
    struct queue *queues = part->queues;
    long calls = part->calls, count = part->count;
    for (long i = 0, at = 0; i < calls; i++) {
        push(&queues[at], i);
        at += 40503;
        at %= count;
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 5) return 2;
    long calls = atol(argv[1]), count = atol(argv[2]), threads = argc == 5 ? atol(argv[4]) : 1;
    struct queue *queues = calloc(count, sizeof *queues);
    struct part *parts = calloc(threads, sizeof *parts);
    struct timespec begun, ended;
    /* All queues are known before the clock runs. */
    for (long i = 0; i < count; i++) push(&queues[i], i);
    for (long i = 0; i < threads; i++) {
        parts[i].count = count / threads;
        parts[i].queues = queues + i * parts[i].count;
        parts[i].calls = calls;
    }
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&parts[i].thread, NULL, work, &parts[i]) != 0) return 4;
    work(&parts[0]);
    for (long i = 1; i < threads; i++)
        if (pthread_join(parts[i].thread, NULL) != 0) return 4;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double each = ((ended.tv_sec - begun.tv_sec) * 1e9 + (ended.tv_nsec - begun.tv_nsec)) / (calls ? calls : 1);
    FILE *out = fopen(argv[3], "w");
    if (!out) return 3;
    fprintf(out, "%f\n", each);
    return fclose(out) == 0 ? 0 : 3;
}
