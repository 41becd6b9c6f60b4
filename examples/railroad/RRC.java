/** A railroad crossing: a train that moves, and a controller that has the gate lowered and raised. */
class RRC {
    static float train_x;      // where the tail of the train is
    static int train_length;
    static int cross_x;        // where the crossing begins
    static int cross_length;

    private static float speed;

    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "good";
        train_length = 100;
        cross_x = 1000;
        cross_length = 20;
        speed = 12.5f;
        train_x = 0;

        // The gate needs 10 seconds to come down, and the train makes 125 metres in that time. So this is how far
        // its head may be from the crossing, at the least, when the order is given.
        int distance = mode.equals("late") ? 60 : 200;
        // How far the tail must be beyond the crossing when the gate goes up. The train is 100 long.
        int beyond = mode.equals("early") ? -100 : 10;
        if (!mode.equals("good") && !mode.equals("late") && !mode.equals("early")) {
            System.err.println("usage: java RRC [good|late|early]");
            System.exit(2);
        }

        Gate gate = new Gate();
        while (train_x + train_length < cross_x - distance) {
            second();
        }
        gate.gd(90);
        while (train_x <= cross_x + cross_length + beyond) {
            second();
        }
        int angle = gate.gu(); // the gate goes up
        while (train_x < 1200) {
            second();
        }
        System.out.println("the train is at " + train_x + ", the gate at " + angle + " degrees");
    }

    /** A second passes. */
    static void second() {
        train_x += speed; // the train moves
    }
}
