package app;

/** Many objects that live for a moment only. */
class Swarm {
    static class Bee {
        /** So that few of them fit into the memory. */
        final byte[] cargo = new byte[400];

        void fly() {
        }

        void land() {
        }
    }

    static void count(int id) {
    }

    public static void main(String[] args) {
        int bees = Integer.parseInt(args[0]);
        for (int id = 1; id <= 20; id++) {
            count(id);
        }
        for (int i = 1; i <= bees; i++) {
            Bee bee = new Bee();
            bee.fly();
            if (i % (bees / 4) == 0) {
                bee.fly();
            } else if (i % 2 == 0) {
                bee.land();
            }
        }
        for (int id = 1; id <= 20; id++) {
            count(id);
        }
    }
}
