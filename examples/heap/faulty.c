/* A guest list. Every guest brings a mistake in how memory is given back; say who comes. */
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

/* Leaves, and then says good-bye to everybody again. */
static void ann(void) {
    char *card = invite("Ann");
    leave(card);
    leave(card);
}

/* Wants a longer name on a card that is not there any more. */
static void bob(void) {
    char *card = invite("Bob");
    leave(card);
    card = realloc(card, 100);
    leave(card);
}

/* Gives back what is behind the title. */
static void cyd(void) {
    char *card = invite("Dr. Cyd");
    leave(card + 4);
}

/* Still has the old card when there is a larger one. */
static void dan(void) {
    char *card = invite("Dan"), *next = invite("Dan's dog");
    char *larger = realloc(card, 100);
    leave(next);
    leave(card);
    leave(larger);
}

/* Never leaves. */
static void eve(void) {
    invite("Eve");
}

/* As it should be: all ways to get memory, and all is given back. */
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
    /* The library keeps a buffer for what is printed until the end, and beyond: do without. */
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < argc; i++) {
        printf("%s comes\n", argv[i]);
        guests[(argv[i][0] - 'a') % 6]();
    }
    puts("the party is over");
    return 0;
}
