/** A railroad crossing: a train that moves, and a controller that lowers and raises the gate. */
class RRC {
    static float train_x;      // position of the tail of the train
    static int train_length;
    static int cross_x;        // position of the start of the crossing
    static int cross_length;

    private static float speed;

    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "good";
        train_length = 100;
        cross_x = 1000;
        cross_length = 20;
        speed = 12.5f;
        train_x = 0;

        // The gate needs 10 seconds to come down, and the train moves 125 metres in that time. This is the
        // least distance of its head from the crossing when the order is given.
        int distance = mode.equals("late") ? 60 : 200;
        // The distance of the tail beyond the crossing when the gate goes up. The train is 100 long.
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
