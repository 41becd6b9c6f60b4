/* Mutual exclusion that looks first and raises its flag too late. */
#define sure0 (at[0] == 1)
#define in0 (at[0] == 2)
#define in1 (at[1] == 2)

bool flag[2];
byte at[2];

active [2] proctype P() {
    do
    :: d_step { at[_pid] == 0 && !flag[1 - _pid] -> at[_pid] = 1 }
    :: d_step { at[_pid] == 1 -> flag[_pid] = 1; at[_pid] = 2 }
    :: d_step { at[_pid] == 2 -> flag[_pid] = 0; at[_pid] = 0 }
    od
}
