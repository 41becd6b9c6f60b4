import java.util.Locale;

/** Runs the simulation; all other objects are reachable from the field {@code simulator}. */
class CHARON {
    static Simulator simulator;

    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "simplex";
        int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        if (!mode.equals("simplex") && !mode.equals("deaf") && !mode.equals("tour")) {
            System.err.println("usage: java CHARON [simplex|deaf|tour] [seconds]");
            System.exit(2);
        }
        simulator = new Simulator(mode);
        simulator.run(seconds);
        Controllers seen = simulator.agents.controllers;
        System.out.printf(Locale.ROOT, "after %d s the cart is at %.3f m, the rod at %.3f degrees%n", seconds,
                seen.position.v, seen.angle.v);
    }
}
