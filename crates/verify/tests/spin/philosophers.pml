/* Three philosophers, who take the fork at their left first. */
#define N 3
#define hungry0 (at[0] == 1)
#define eats0 (at[0] == 2)
#define eats1 (at[1] == 2)
#define eats2 (at[2] == 2)
#define right ((_pid + 1) % N)

bool fork[N];
byte at[N];

active [N] proctype Phil() {
    do
    :: d_step { at[_pid] == 0 && !fork[_pid] -> fork[_pid] = 1; at[_pid] = 1 }
    :: d_step { at[_pid] == 1 && !fork[right] -> fork[right] = 1; at[_pid] = 2 }
    :: d_step { at[_pid] == 2 -> fork[_pid] = 0; at[_pid] = 3 }
    :: d_step { at[_pid] == 3 -> fork[right] = 0; at[_pid] = 0 }
    od
}
