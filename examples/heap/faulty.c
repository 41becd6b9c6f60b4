/* A guest list. Each guest has a heap error of its own, except fay; the arguments are the guests that come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *invite(const char *name) {
    char *card = malloc(strlen(name) + 1);
    return strcpy(card, name);
}

static void leave(char *card) {
    free(card);
}

/* Double free. */
static void ann(void) {
    char *card = invite("Ann");
    leave(card);
    leave(card);
}

/* Resizes a card that was freed before. */
static void bob(void) {
    char *card = invite("Bob");
    leave(card);
    card = realloc(card, 100);
    leave(card);
}

/* Frees an address inside a block. */
static void cyd(void) {
    char *card = invite("Dr. Cyd");
    leave(card + 4);
}

/* Frees the old card after it was resized. */
static void dan(void) {
    char *card = invite("Dan"), *next = invite("Dan's dog");
    char *larger = realloc(card, 100);
    leave(next);
    leave(card);
    leave(larger);
}

/* A leak. */
static void eve(void) {
    invite("Eve");
}

/* Correct: all ways to allocate memory, and everything is freed. */
static void fay(void) {
    char *cards[6] = {invite("Fay"), calloc(20, 300), realloc(NULL, 30), aligned_alloc(64, 128)};
    void *aligned = NULL;
    if (posix_memalign(&aligned, 32, 100) == 0) cards[4] = aligned;
    cards[1] = realloc(cards[1], 200000);
    cards[5] = realloc(cards[0], (size_t) -1 / 4);
    if (cards[5]) return;
    cards[5] = realloc(malloc(10), 0);
    for (int i = 0; i < 6; i++) leave(cards[i]);
}

int main(int argc, char **argv) {
    static void (*const guests[])(void) = {ann, bob, cyd, dan, eve, fay};
    /* The library never frees the buffer of `stdout`: do without one. */
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < argc; i++) {
        printf("%s comes\n", argv[i]);
        guests[(argv[i][0] - 'a') % 6]();
    }
    puts("the party is over");
    return 0;
}
