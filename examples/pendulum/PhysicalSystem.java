/** A cart on a rail with a rod of half a metre on it. The command is the acceleration of the cart. */
class PhysicalSystem {
    private static final double GRAVITY = 9.81;
    private static final double LENGTH = 0.5;

    final Real position;  // metres
    final Real cVelocity; // metres per second
    final Real angle;     // degrees; 0 is upright, 90 is flat on the rail
    final Real aVelocity; // degrees per second
    final Real command;

    private final boolean kicked;
    private double time;

    PhysicalSystem(String mode) {
        position = new Real();
        cVelocity = new Real();
        angle = new Real();
        aVelocity = new Real();
        command = new Real();
        kicked = mode.equals("tour");
    }

    void step(double dt) {
        time += dt;
        double theta = Math.toRadians(angle.v);
        double a = Math.max(-20, Math.min(20, command.v));
        cVelocity.v += a * dt;
        position.v += cVelocity.v * dt;
        if (Math.abs(angle.v) == 90) {
            aVelocity.v = 0;
            return;
        }
        double turn = (GRAVITY * Math.sin(theta) - a * Math.cos(theta)) / LENGTH;
        aVelocity.v += Math.toDegrees(turn) * dt;
        if (kicked && time >= 7 && time < 7 + dt) {
            aVelocity.v += 80; // the rod is pushed
        }
        angle.v = Math.max(-90, Math.min(90, angle.v + aVelocity.v * dt));
    }
}
