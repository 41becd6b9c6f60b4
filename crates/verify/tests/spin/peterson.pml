/* Mutual exclusion by Peterson, for two. */
#define wants0 (at[0] == 2)
#define in0 (at[0] == 3)
#define in1 (at[1] == 3)

bool flag[2];
byte turn;
byte at[2];

active [2] proctype P() {
    do
    :: d_step { at[_pid] == 0 -> flag[_pid] = 1; at[_pid] = 1 }
    :: d_step { at[_pid] == 1 -> turn = 1 - _pid; at[_pid] = 2 }
    :: d_step { at[_pid] == 2 && (!flag[1 - _pid] || turn == _pid) -> at[_pid] = 3 }
    :: d_step { at[_pid] == 3 -> flag[_pid] = 0; at[_pid] = 0 }
    od
}
