/** A step of a small automaton, as it would be written by hand: it is in state 2 once a value is below -10. */
final class Step {
    static long steps;
    static int state;

    private static final int[] NEXT = {0, 2, 1, 2, 2, 2};

    private Step() {
    }

    static void step(int value) {
        steps++;
        state = NEXT[2 * state + (value < -10 ? 1 : 0)];
    }
}
