/* Takes some memory, writes to every page of it, and calls a function again and again.
   memory MEGABYTES PAGES: pages are small or huge. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEGABYTE (1L << 20)

volatile long reached;

void ready(long round) { reached = round; }

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long size = atol(argv[1]) * MEGABYTE;
    int huge = strcmp(argv[2], "huge") == 0;
    /* Huge pages begin at multiples of their size. */
    char *all = mmap(NULL, size + 2 * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return 3;
    char *memory = (char *)(((unsigned long)all + 2 * MEGABYTE - 1) & ~(2UL * MEGABYTE - 1));
    madvise(all, size + 2 * MEGABYTE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (long at = 0; at < size; at += 4096) memory[at] = 1;
    for (long round = 1;; round++) ready(round);
}
