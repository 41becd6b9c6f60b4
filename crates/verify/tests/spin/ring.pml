/* A leader is elected in a ring: whoever sees its own number come round. The numbers are 2, 3 and 1. */
#define N 3
#define leads0 (at[0] == 3)
#define leads1 (at[1] == 3)
#define leads2 (at[2] == 3)
#define next ((_pid + 1) % N)
#define mine (next + 1)

chan link[N] = [2] of { byte };
byte kept[N];
byte at[N];

active [N] proctype Node() {
    byte n;
    do
    :: d_step { at[_pid] == 0 && nfull(link[next]) -> link[next]!mine; at[_pid] = 1 }
    :: d_step { at[_pid] == 1 && nempty(link[_pid]) ->
           link[_pid]?n;
           if
           :: n > mine -> kept[_pid] = n; at[_pid] = 2
           :: n < mine
           :: n == mine -> at[_pid] = 3
           fi;
           n = 0 }
    :: d_step { at[_pid] == 2 && nfull(link[next]) -> link[next]!kept[_pid]; kept[_pid] = 0; at[_pid] = 1 }
    od
}
