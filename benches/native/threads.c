/* Threads that take turns: each waits on a condition variable for its turn, adds to a sum under a mutex, and
   is joined in the end.
   threads THREADS TURNS RESULT: writes the sum, which is known beforehand. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static long threads, turns, turn, sum;
static __thread long own;

void halfway(long at) { (void)at; }

void take_turn(long number) { own += number; }

static void *work(void *argument) {
    long me = (long)argument;
    pthread_mutex_lock(&lock);
    while (turn < turns) {
        if (turn % threads != me) {
            pthread_cond_wait(&moved, &lock);
            continue;
        }
        take_turn(turn);
        sum += turn;
        turn++;
        if (turn == turns / 2) halfway(turn);
        pthread_cond_broadcast(&moved);
    }
    pthread_mutex_unlock(&lock);
    return (void *)own;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    threads = atol(argv[1]);
    turns = atol(argv[2]);
    pthread_t *all = calloc(threads, sizeof *all);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, (void *)i) != 0) return 4;
    long owns = 0;
    for (long i = 0; i < threads; i++) {
        void *result;
        if (pthread_join(all[i], &result) != 0) return 4;
        owns += (long)result;
    }
    if (owns != sum) return 5;
    FILE *out = fopen(argv[3], "w");
    if (!out) return 3;
    fprintf(out, "%ld\n", sum);
    return fclose(out) == 0 ? 0 : 3;
}
