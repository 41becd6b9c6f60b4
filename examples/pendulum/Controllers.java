/** The measurements, and the three controllers that compute a command from them. */
class Controllers {
    final Real position;
    final Real cVelocity;
    final Real angle;
    final Real aVelocity;

    private static final double GOAL = 0.5;

    private final double faultBegins;
    private final double faultEnds;
    private double hold;

    Controllers(String mode) {
        position = new Real();
        cVelocity = new Real();
        angle = new Real();
        aVelocity = new Real();
        faultBegins = mode.equals("tour") ? 2.5 : 1.0;
        faultEnds = mode.equals("tour") ? 3.0 : Double.POSITIVE_INFINITY;
    }

    void sense(PhysicalSystem physical) {
        position.v = physical.position.v;
        cVelocity.v = physical.cVelocity.v;
        angle.v = physical.angle.v; // the angle is measured
        aVelocity.v = physical.aVelocity.v;
    }

    double command(int mode, double time) {
        if (mode != DecisionModule.SC) {
            hold = position.v;
        }
        return switch (mode) {
            case DecisionModule.EC -> experimental(time);
            case DecisionModule.BC -> towards(GOAL, 2.0);
            default -> towards(hold, 4.0); // safety first: here, and upright
        };
    }

    private double experimental(double time) {
        double command = towards(GOAL, 2.5);
        return time >= faultBegins && time < faultEnds ? -command : command; // the fault
    }

    /** Brings the cart to a place with the rod upright: all four poles of the linear system are at {@code -p}. */
    private double towards(double goal, double p) {
        double g = 9.81 / 0.5;
        double a = p * p * p * p / g;
        double b = 4 * p * p * p / g;
        double c = (6 * p * p + g + a) / 2;
        double d = (4 * p + b) / 2;
        return a * (position.v - goal) + b * cVelocity.v + c * Math.toRadians(angle.v)
                + d * Math.toRadians(aVelocity.v);
    }
}
