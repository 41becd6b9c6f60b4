/* A user interface modelled on Chiron: artists register with a dispatcher for the kinds of events that they want to draw, and
 * the dispatcher forwards the events that it receives. Every step is recorded as four components observe it.
 *
 *     ./chiron FOLDER [RUNS [SEED [MISTAKE]]]
 *
 * writes FOLDER/0-a.trace and so on: a is the dispatcher, b and c are the artists, d is the main program. The same seed makes
 * the same runs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARTISTS = 2, KINDS = 2, COMPONENTS = 4, RECEIVED = 91 };

/* The errors that can be enabled, one at a time. */
enum mistake { NONE, TWICE, HASTY, EARLY, GHOST, FORGETFUL };
static const char *const mistakes[] = {"none", "twice", "hasty", "early", "ghost", "forgetful"};

/* The artists that are registered for each kind, in their order. */
struct dispatcher {
    int list[KINDS][ARTISTS];
    int size[KINDS];
};

/* The steps of an instant: the dispatcher starts to pass an event to an artist, the artist gets it, registers for a kind,
 * unregisters, or the program ends. */
enum what { NOTIFY, CLIENT, REGISTER, UNREGISTER, TERM };

static struct dispatcher dispatcher;
static FILE *traces[COMPONENTS];
static uint64_t chance;

/* The generator of Steele, Lea and Flood (SplitMix64): the same numbers everywhere. */
static bool one_in(unsigned n) {
    uint64_t z = chance += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % n == 0;
}

static int place(int artist, int kind) {
    for (int at = 0; at < dispatcher.size[kind]; at++)
        if (dispatcher.list[kind][at] == artist) return at;
    return -1;
}

static bool registered(int artist, int kind) { return place(artist, kind) >= 0; }

static void see(FILE *trace, char component, int number, bool value) {
    fprintf(trace, "%s%c%d:%c", number ? "," : "", component, number, value ? 't' : 'f');
}

/* One line in each trace. */
static void write_down(enum what what, int artist, int kind) {
    int at = 0;
    for (int a = 0; a < ARTISTS; a++)
        for (int k = 0; k < KINDS; k++) see(traces[0], 'a', at++, registered(a, k));
    for (int a = 0; a < ARTISTS; a++)
        for (int k = 0; k < KINDS; k++) see(traces[0], 'a', at++, what == NOTIFY && a == artist && k == kind);
    for (int k = 0; k < KINDS; k++) see(traces[0], 'a', at++, dispatcher.size[k] == 0);
    for (int k = 0; k < KINDS; k++) see(traces[0], 'a', at++, dispatcher.size[k] >= 2);
    for (int a = 0; a < ARTISTS; a++) {
        at = 0;
        for (enum what w = CLIENT; w <= UNREGISTER; w++)
            for (int k = 0; k < KINDS; k++)
                see(traces[1 + a], "bc"[a], at++, what == w && a == artist && k == kind);
    }
    see(traces[3], 'd', 0, what == TERM);
    for (int component = 0; component < COMPONENTS; component++) fputc('\n', traces[component]);
}

/* The artist asks at one instant and is registered from the next one on. */
static void enter(int artist, int kind) {
    write_down(REGISTER, artist, kind);
    if (!registered(artist, kind)) dispatcher.list[kind][dispatcher.size[kind]++] = artist;
}

static void leave(int artist, int kind) {
    write_down(UNREGISTER, artist, kind);
    int *list = dispatcher.list[kind], at = place(artist, kind);
    memmove(list + at, list + at + 1, sizeof *list * (size_t)(--dispatcher.size[kind] - at));
}

static void pass(int artist, int kind, bool hasty) {
    write_down(NOTIFY, artist, kind);
    if (hasty) write_down(NOTIFY, artist, !kind);
    write_down(CLIENT, artist, kind);
}

/* An event goes to the artists that are registered for its kind, one after the other. */
static void receive(int kind, bool hasty) {
    for (int at = 0; at < dispatcher.size[kind]; at++) pass(dispatcher.list[kind][at], kind, hasty);
}

/* The first artist stays registered for the first kind. Other registrations come and go. */
static void run(enum mistake mistake) {
    memset(&dispatcher, 0, sizeof dispatcher);
    if (mistake == EARLY) write_down(CLIENT, 1, 0);
    if (mistake == GHOST) pass(1, 1, false);
    enter(0, 0);
    for (int event = 0; event < RECEIVED; event++) {
        for (int artist = 0; artist < ARTISTS; artist++) {
            for (int kind = artist == 0; kind < KINDS; kind++) {
                if (registered(artist, kind)) {
                    if (one_in(24)) leave(artist, kind);
                } else if (one_in(12)) {
                    enter(artist, kind);
                }
            }
        }
        if (mistake == TWICE && event == RECEIVED / 2) enter(0, 0);
        bool hasty = mistake == HASTY && event == RECEIVED / 2;
        receive(one_in(2) && !hasty, hasty);
    }
    for (int artist = 0; artist < ARTISTS; artist++)
        for (int kind = 0; kind < KINDS; kind++)
            if (registered(artist, kind) && !(mistake == FORGETFUL && artist == 0)) leave(artist, kind);
    write_down(TERM, 0, 0);
}

static int trouble(const char *what) {
    fprintf(stderr, "chiron: %s: %s\n", what, strerror(errno));
    return EXIT_FAILURE;
}

int main(int count, char **words) {
    enum mistake mistake = NONE;
    while (count > 4 && mistake <= FORGETFUL && strcmp(words[4], mistakes[mistake])) mistake++;
    if (count < 2 || mistake > FORGETFUL) {
        fprintf(stderr, "usage: chiron FOLDER [RUNS [SEED [none|twice|hasty|early|ghost|forgetful]]]\n");
        return EXIT_FAILURE;
    }
    long runs = count > 2 ? strtol(words[2], NULL, 10) : 1;
    unsigned long long seed = count > 3 ? strtoull(words[3], NULL, 10) : 1;
    if (mkdir(words[1], 0777) && errno != EEXIST) return trouble(words[1]);
    for (long number = 0; number < runs; number++) {
        chance = seed * 1000003 + (uint64_t)number;
        for (int component = 0; component < COMPONENTS; component++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%ld-%c.trace", words[1], number, "abcd"[component]);
            if (!(traces[component] = fopen(path, "w"))) return trouble(path);
        }
        run(mistake);
        for (int component = 0; component < COMPONENTS; component++)
            if (fclose(traces[component])) return trouble(words[1]);
    }
    return EXIT_SUCCESS;
}
