import java.util.Arrays;
import java.util.Random;

/** Drops the vehicles, and counts the neighbours that are out of place. */
class Console {
    final int rounds;

    private final int pace;
    private final int fault;
    private final long start = System.nanoTime();
    private final int[] misplaced;

    Console(int rounds, int pace, int fault) {
        this.rounds = rounds;
        this.pace = pace;
        this.fault = fault;
        misplaced = new int[rounds];
    }

    public static void main(String[] args) throws InterruptedException {
        String mode = args.length > 0 ? args[0] : "good";
        int number = args.length > 1 ? Integer.parseInt(args[1]) : 12;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 130;
        int pace = args.length > 3 ? Integer.parseInt(args[3]) : 10;
        if (!mode.equals("good") && !mode.equals("bad")) {
            System.err.println("usage: java Console [good|bad] [vehicles] [rounds] [milliseconds per round]");
            System.exit(2);
        }
        Console console = new Console(rounds, pace, mode.equals("bad") ? rounds / 2 : rounds);
        console.createMAVs(number);
        for (MAV mav : Air.mavs) {
            mav.start();
        }
        for (MAV mav : Air.mavs) {
            mav.join();
        }
        console.report();
    }

    /** Drops vehicles near one place. */
    void createMAVs(int number) {
        Random random = new Random(1999);
        for (int i = 0; i < number; i++) {
            double angle = random.nextDouble() * 2 * Math.PI;
            double radius = random.nextDouble() * Air.DIST * Math.sqrt(number) / 3;
            Air.mavs.add(new MAV(i, radius * Math.cos(angle), radius * Math.sin(angle), this));
        }
    }

    /** The intended distance of neighbours. In a bad run it is wrong from some round on. */
    double wanted(int round) {
        return round < fault ? Air.DIST : Air.DIST / 2.0; // the fault
    }

    void waitForRound(int round) throws InterruptedException {
        long left = start + round * pace * 1_000_000L - System.nanoTime();
        if (left > 0) {
            Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        }
    }

    void seen(int round, double distance) {
        if (distance > 0.25 * Air.DIST && distance < 0.75 * Air.DIST) {
            misplaced[round]++;
        }
    }

    private void report() {
        System.out.print("neighbours out of place, in ten rounds each:");
        for (int round = 0; round < rounds; round += 10) {
            System.out.print(" " + Arrays.stream(misplaced, round, Math.min(round + 10, rounds)).sum());
        }
        System.out.println();
    }
}
