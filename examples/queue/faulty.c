/* Sorts the letters of a text into vowels and consonants, and writes down what it does to its queue as JSON
 * Lines. It does not look how full the queue is: the consonants run over into the vowels behind them. */
#include <stdio.h>
#include <string.h>

#define SIZE 16

struct queue {
    int vowel_count, consonant_count;
    char consonants[SIZE / 2];
    char vowels[SIZE / 2];
};

/* The address of the queue in the recorded run: a fixed one, so that every run writes the same trace. */
static const long QUEUE = 93824992252512;

static void queue_new(struct queue *queue) {
    printf("{\"event\": \"queue_new\", \"queue\": %ld, \"size\": %d}\n", QUEUE, SIZE);
    memset(queue, 0, sizeof *queue);
}

static void queue_push(struct queue *queue, char c) {
    printf("{\"event\": \"queue_push\", \"queue\": %ld, \"c\": \"%c\"}\n", QUEUE, c);
    if (strchr("aeiouy", c))
        queue->vowels[queue->vowel_count++] = c;
    else if (c >= 'a' && c <= 'z')
        queue->consonants[queue->consonant_count++] = c;
}

int main(void) {
    struct queue queue;
    queue_new(&queue);
    for (const char *c = "oh, a nasty bug is here!"; *c; c++)
        queue_push(&queue, *c);
    fprintf(stderr, "consonants: %.*s\n", queue.consonant_count, queue.consonants);
    fprintf(stderr, "vowels: %.*s\n", queue.vowel_count, queue.vowels);
    return 0;
}
