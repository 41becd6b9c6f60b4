/* A producer and a consumer with a buffer, and acknowledgements for which both meet. */
#define idle (open == 0)
#define is_full (len(data) == 2)
#define is_empty (len(data) == 0)
#define odd (last == 1)

chan data = [2] of { byte };
chan ack = [0] of { bit };
byte next, open, last;

active proctype Producer() {
    do
    :: d_step { open < 2 && nfull(data) -> data!next; next = 1 - next; open++ }
    :: ack?1; open--
    od
}

active proctype Consumer() {
    do
    :: data?last; ack!1
    od
}
