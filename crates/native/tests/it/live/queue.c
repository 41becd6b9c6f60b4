/* Sorts the letters of a text into vowels and consonants. Something is wrong: a consonant is among the vowels. */
#define size 16

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int pos_c;
    int pos_v;
    char consonants[size / 2];
    char vowels[size / 2];
} double_queue_t;

double_queue_t *queue_new(void) {
    double_queue_t *queue = malloc(sizeof(double_queue_t));
    queue->pos_c = 0;
    queue->pos_v = 0;
    memset(queue->consonants, 0, size / 2);
    memset(queue->vowels, 0, size / 2);
    return queue;
}

void queue_destroy(double_queue_t *queue) {
    free(queue);
}

void queue_push(double_queue_t *queue, char c) {
    if (strchr("aeiouy", c))
        queue->vowels[queue->pos_v++] = c;
    else if (strchr("bcdfghjklmnpqrstvwxz", c))
        queue->consonants[queue->pos_c++] = c;
}

void queue_push_str(double_queue_t *queue, const char *s) {
    while (*s != '\0')
        queue_push(queue, *s++);
}

void queue_display_result(double_queue_t *queue) {
    printf("Consonants: ");
    for (int i = 0; i < queue->pos_c; i++)
        putchar(queue->consonants[i]);
    printf("\nVowels: ");
    for (int i = 0; i < queue->pos_v; i++)
        putchar(queue->vowels[i]);
    puts("");
}

int main(void) {
    double_queue_t *queue = queue_new();
    queue_push_str(queue, "oh, a nasty bug is here!");
    queue_display_result(queue);
    queue_destroy(queue);
    return 0;
}
