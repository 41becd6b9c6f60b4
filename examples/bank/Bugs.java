/** The bugs that are enabled. A bug has the number of the property that it violates. */
final class Bugs {
    private static final boolean[] on = new boolean[11];

    private Bugs() {
    }

    static void plant(String which) {
        for (int bug : new int[] {3, 4, 5, 6, 7, 9, 10}) {
            on[bug] |= which.equals("all") || which.equals(String.valueOf(bug));
        }
    }

    static boolean on(int bug) {
        return on[bug];
    }
}
