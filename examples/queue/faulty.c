/* Sorts the letters of a text into vowels and consonants. The bug: a consonant is among the vowels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define size 16

typedef struct {
    int consonant_count, vowel_count;
    char consonants[size / 2];
    char vowels[size / 2];
} queue_t;

queue_t *queue_new(void) {
    return calloc(1, sizeof(queue_t));
}

void queue_push(queue_t *queue, char c) {
    if (strchr("aeiouy", c))
        queue->vowels[queue->vowel_count++] = c;
    else if (strchr("bcdfghjklmnpqrstvwxz", c))
        queue->consonants[queue->consonant_count++] = c;
}

void queue_push_str(queue_t *queue, const char *text) {
    while (*text)
        queue_push(queue, *text++);
}

void queue_show(const queue_t *queue) {
    printf("consonants: %.*s\n", queue->consonant_count, queue->consonants);
    printf("vowels: %.*s\n", queue->vowel_count, queue->vowels);
}

int main(void) {
    queue_t *queue = queue_new();
    queue_push_str(queue, "oh, a nasty bug is here!");
    queue_show(queue);
    free(queue);
    return 0;
}
