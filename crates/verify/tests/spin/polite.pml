/* Three philosophers, the last of whom takes the fork at his right first: nobody gets stuck. */
#define hungry0 (at[0] == 1)
#define eats0 (at[0] == 2)
#define eats1 (at[1] == 2)
#define eats2 (at[2] == 2)
#define first (_pid == 2 -> 0 : _pid)
#define second (_pid == 2 -> 2 : _pid + 1)

bool fork[3];
byte at[3];

active [3] proctype Phil() {
    do
    :: d_step { at[_pid] == 0 && !fork[first] -> fork[first] = 1; at[_pid] = 1 }
    :: d_step { at[_pid] == 1 && !fork[second] -> fork[second] = 1; at[_pid] = 2 }
    :: d_step { at[_pid] == 2 -> fork[first] = 0; fork[second] = 0; at[_pid] = 0 }
    od
}
