#include <gum/guminterceptor.h>

/* What is known of each queue: a table that is looked up by its address. */
typedef struct {
    gpointer queue;
    glong count;
} Slot;
enum { SLOTS = 262144 };
extern Slot table[];
extern glong bad;

void hit(GumInvocationContext *context) {
    gpointer queue = gum_invocation_context_get_nth_argument(context, 0);
    gsize at = ((gsize) queue >> 6) * 0x9e3779b97f4a7c15ull >> 46;
    while (table[at].queue != queue && table[at].queue != NULL) at = (at + 1) & (SLOTS - 1);
    table[at].queue = queue;
    if (table[at].count >= 0) table[at].count++; else bad++;
}

glong total(void) {
    glong sum = 0;
    for (gsize at = 0; at < SLOTS; at++) sum += table[at].count;
    return sum;
}
