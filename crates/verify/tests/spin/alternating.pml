/* The alternating bit protocol over channels of one place that a thief can reach. */
#define sends0 (bit_sent == 0)
#define sends1 (bit_sent == 1)
#define got0 (wanted == 1)
#define got1 (wanted == 0)
#define waits (sender == 1)

chan data = [1] of { byte };
chan ack = [1] of { byte };
byte bit_sent, wanted, sender, receiver;

active proctype Sender() {
    byte n;
    do
    :: d_step { sender == 0 && nfull(data) -> data!bit_sent; sender = 1 }
    :: d_step { sender == 1 && nempty(ack) ->
           ack?n;
           if
           :: n == bit_sent -> bit_sent = 1 - bit_sent
           :: else
           fi;
           n = 0;
           sender = 0 }
    :: d_step { sender == 1 -> sender = 0 }
    od
}

active proctype Receiver() {
    byte n;
    do
    :: d_step { receiver == 0 && nempty(data) ->
           data?n;
           if
           :: n == wanted -> wanted = 1 - wanted
           :: else
           fi;
           n = 0;
           receiver = 1 }
    :: d_step { receiver == 1 && nfull(ack) -> ack!(1 - wanted); receiver = 0 }
    od
}

active proctype Thief() {
    do
    :: data?_
    :: ack?_
    od
}
