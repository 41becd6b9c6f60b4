/** A micro air vehicle. It observes its neighbours and keeps its distance from them; there is no central control. */
class MAV extends Thread {
    final int number;
    double x;
    double y;

    private final Console console;

    MAV(int number, double x, double y, Console console) {
        this.number = number;
        this.x = x;
        this.y = y;
        this.console = console;
    }

    @Override
    public void run() {
        double distance;
        try {
            for (int round = 0; round < console.rounds; round++) {
                Air.await(this);
                if (number == 0) {
                    console.waitForRound(round);
                }
                double wanted = console.wanted(round);
                double pushX = 0;
                double pushY = 0;
                for (MAV other : Air.mavs) {
                    if (other == this) {
                        continue;
                    }
                    double dx = other.x - x;
                    double dy = other.y - y;
                    distance = Math.sqrt(dx * dx + dy * dy); // query a neighbour
                    console.seen(round, distance);
                    if (distance < 1.5 * Air.DIST) {
                        // Away from those that are too near, and, with less force, towards those that are too far.
                        double force = distance < wanted ? 0.1 : 0.02;
                        pushX += force * (distance - wanted) / distance * dx;
                        pushY += force * (distance - wanted) / distance * dy;
                    }
                }
                x += pushX;
                y += pushY;
                Air.pass();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
