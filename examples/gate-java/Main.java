/** A train approaches, and passes the crossing or turns back. */
class Main {
    /** The number of milliseconds that a simulated second takes. */
    private static int scale = 10;

    public static void main(String[] args) throws InterruptedException {
        String mode = args.length > 0 ? args[0] : "good";
        if (args.length > 1) {
            scale = Integer.parseInt(args[1]);
        }
        switch (mode) {
            case "good":   // The gate is down 10 seconds after the order.
                pass(new Control(10), 50);
                break;
            case "slow":   // The gate takes 40 seconds.
                pass(new Control(40), 50);
                break;
            case "recall": // The gate is slow, but the train turns back after 20 seconds.
                pass(new Control(40), 20);
                break;
            default:
                System.err.println("usage: java Main [good|slow|recall] [milliseconds per second]");
                System.exit(2);
        }
    }

    private static void pass(Control control, int seconds) throws InterruptedException {
        control.close();
        elapse(control, seconds);
        control.open();
        elapse(control, 10);
        System.out.println("the gate is " + switch (control.gatePos) {
            case Control.GATE_UP -> "up";
            case Control.GATE_DOWN -> "down";
            default -> "on its way";
        });
    }

    private static void elapse(Control control, int seconds) throws InterruptedException {
        // By the clock, so that a sleep that is too long does not add up.
        long start = System.nanoTime();
        for (int i = 1; i <= seconds; i++) {
            long left = start + i * scale * 1_000_000L - System.nanoTime();
            if (left > 0) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            control.second();
        }
    }
}
