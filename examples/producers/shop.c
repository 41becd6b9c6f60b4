/* Five producers put numbers into a queue, twenty consumers take them out and add them up. The sum is not always
 * correct. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PRODUCERS = 5, CONSUMERS = 20, SIZE = 8, EACH = 40, TOTAL = PRODUCERS * EACH };

typedef struct {
    int first, count, size;
    int items[];
} queue_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, goods = PTHREAD_COND_INITIALIZER;
static queue_t *queue;
static int waiting, is_open, produced, consumed;
static long sum;

queue_t *queue_new(int size) {
    queue_t *made = calloc(1, sizeof(queue_t) + size * sizeof(int));
    made->size = size;
    return made;
}

/* The caller holds the lock, and there is room. */
void queue_push(queue_t *queue, int item) {
    queue->items[(queue->first + queue->count) % queue->size] = item;
    queue->count++;
}

/* The caller holds the lock, and the queue is not empty. */
int queue_pop(queue_t *queue) {
    int item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->size;
    queue->count--;
    return item;
}

static void wait_for_room(void) {
    waiting++;
    pthread_cond_wait(&room, &lock);
    waiting--;
}

void produce(int item) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (queue->count == queue->size)
        wait_for_room();
#else
    if (queue->count == queue->size)
        wait_for_room();
#endif
    queue_push(queue, item);
    produced++;
    pthread_cond_broadcast(&goods);
    pthread_mutex_unlock(&lock);
}

/* Takes one item; returns 0 when all have been taken. */
static int consume(void) {
    pthread_mutex_lock(&lock);
    while (consumed < TOTAL && (queue->count == 0 || !is_open))
        pthread_cond_wait(&goods, &lock);
    int is_there = consumed < TOTAL;
    if (is_there) {
        sum += queue_pop(queue);
        consumed++;
        pthread_cond_broadcast(&room);
    }
    if (consumed == TOTAL)
        pthread_cond_broadcast(&goods);
    pthread_mutex_unlock(&lock);
    return is_there;
}

static void *producer(void *first) {
    for (int i = 0; i < EACH; i++)
        produce((int)(long)first + i);
    return NULL;
}

static void *consumer(void *unused) {
    (void)unused;
    while (consume())
        ;
    return NULL;
}

/* Waits until a counter has reached a value. */
static void await(const int *what, int at_least) {
    for (int there = 0; !there; usleep(1000)) {
        pthread_mutex_lock(&lock);
        there = *what >= at_least;
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    pthread_t threads[PRODUCERS + CONSUMERS];
    queue = queue_new(SIZE);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[i], NULL, consumer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[CONSUMERS + i], NULL, producer, (void *)(long)(i * EACH + 1));

    /* When the queue is full and every producer waits, take one item out: then there is
     * room for one more. */
    await(&waiting, PRODUCERS);
    pthread_mutex_lock(&lock);
    sum += queue_pop(queue);
    consumed++;
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&lock);
    await(&produced, SIZE + 1);
    usleep(50000);

    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&goods);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);

    long expected = (long)TOTAL * (TOTAL + 1) / 2;
    printf("sum: %ld, expected: %ld\n", sum, expected);
    return sum != expected;
}
