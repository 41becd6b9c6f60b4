/**
 * The program of figure 7.6, timed. A compiler that is good enough removes the empty loop of that figure, so the
 * gap may also be filled with work that it cannot remove.
 *
 * <p>{@code java Sweep empty|work EVENTS GAP TIMES}: the gap is in bytecodes between two writes.
 */
class Sweep {
    public static void main(String[] args) {
        int events = Integer.parseInt(args[1]);
        int gap = Integer.parseInt(args[2]);
        int times = Integer.parseInt(args[3]);
        if (args[0].equals("empty")) {
            // An iteration of the empty loop is 5 bytecodes today: iload, iload, if_icmpge, iinc, goto.
            Test t = new TestMain().t;
            Figures.print(times, events, () -> t.testing(events, gap / 5));
        } else {
            Work t = new WorkMain().t;
            Figures.print(times, events, () -> t.testing(events, gap / 11));
            System.out.println("sum " + t.sum);
        }
        System.out.println("steps " + Step.steps);
    }
}

/** {@code TestMain} with work in the gap: {@code WorkMain.t.monitoredX} is what is watched. */
class WorkMain {
    public Work t;

    WorkMain() {
        t = new Work();
    }
}

class Work {
    int monitoredX;
    int sum;

    public void testing(int maxIter, int maxInst) {
        int h = sum;
        for (int i = 0; i < maxIter; i++) {
            for (int j = 0; j < maxInst; j++) {
                h = h * 31 + j; // 11 bytecodes with those of the loop
            }
            monitoredX = i;
        }
        sum = h;
    }
}
