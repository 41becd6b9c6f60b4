/** Decides which controller is in charge, after the Simplex architecture. */
class DecisionModule {
    static final int EC = 0; // experimental: not trusted
    static final int BC = 1; // baseline
    static final int SC = 2; // safety
    private static final String[] NAMES = {"EC", "BC", "SC"};

    int mode = EC;

    private final boolean deaf;
    private final boolean tour;
    private boolean secondChance;

    DecisionModule(String mode) {
        deaf = mode.equals("deaf");
        tour = mode.equals("tour");
        secondChance = tour;
    }

    /** The transition that is due, if any. */
    Transition decide(double time, Controllers seen) {
        int next = next(time, Math.abs(seen.angle.v), Math.abs(seen.aVelocity.v));
        return deaf || next == mode ? null : new Transition(NAMES[mode] + "to" + NAMES[next], next); // deaf
    }

    private int next(double time, double angle, double aVelocity) {
        boolean undesirable = angle > 10 || aVelocity > 60;
        boolean calm = angle < 2 && aVelocity < 5;
        if (mode == SC) {
            if (!calm) {
                return SC;
            }
            if (secondChance) {
                secondChance = false;
                return EC;
            }
            return BC;
        }
        if (undesirable) {
            return SC;
        }
        return tour ? wish(time) : mode;
    }

    /** The controller that the operator selects. */
    private int wish(double time) {
        return time < 0.5 ? EC : time < 1.5 ? BC : time < 5 ? EC : BC;
    }

    /** Selects a controller from outside, for steering. */
    void takeOver(int controller) {
        System.out.println(NAMES[mode] + " is replaced by " + NAMES[controller]);
        mode = controller;
    }
}
