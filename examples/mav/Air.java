import java.util.ArrayList;
import java.util.List;

/** The air: what all vehicles have in common. They take turns, so that every run is the same. */
class Air {
    /** How far the points of the pattern are from each other. */
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

    /** Gives the turn to the next vehicle. */
    static void pass() {
        synchronized (lock) {
            turn = (turn + 1) % mavs.size();
            lock.notifyAll();
        }
    }
}
