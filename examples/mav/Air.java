import java.util.ArrayList;
import java.util.List;

/** The state that all vehicles share. They take turns, so that every run is the same. */
class Air {
    /** The distance between neighbours in the pattern. */
    static int DIST = 100;

    static final List<MAV> mavs = new ArrayList<>();

    private static final Object lock = new Object();
    private static int turn;

    /** Waits until it is this vehicle's turn. */
    static void await(MAV mav) throws InterruptedException {
        synchronized (lock) {
            while (turn != mav.number) {
                lock.wait();
            }
        }
    }

    /** Passes the turn to the next vehicle. */
    static void pass() {
        synchronized (lock) {
            turn = (turn + 1) % mavs.size();
            lock.notifyAll();
        }
    }
}
