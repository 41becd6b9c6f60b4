import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** A day of the bank. */
class Bank {
    private static final int USERS_OF_A_TELLER = 50;

    public static void main(String[] args) throws InterruptedException {
        int size = 1000;
        int tellers = 1;
        boolean time = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--bug" -> Bugs.plant(args[++i]);
                case "--size" -> size = Integer.parseInt(args[++i]);
                case "--threads" -> tellers = Integer.parseInt(args[++i]);
                case "--time" -> time = true;
                default -> {
                    System.err.println("usage: java Bank [--bug N|all] [--size REQUESTS] [--threads N] [--time]");
                    System.exit(2);
                }
            }
        }
        TransactionSystem system = new TransactionSystem();
        system.initialise(10 + tellers * USERS_OF_A_TELLER);
        long start = System.nanoTime();

        List<Teller> all = new ArrayList<>();
        Teller first = new Teller(system);
        all.add(first);
        new Misuse(first).run();

        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < tellers; i++) {
            Teller teller = new Teller(system);
            all.add(teller);
            workers.add(new Worker(teller, 11 + i * USERS_OF_A_TELLER, size / tellers));
        }
        for (Worker worker : workers) {
            worker.start();
        }
        long cpu = 0;
        for (Worker worker : workers) {
            worker.join();
            cpu += worker.cpu;
        }

        int requests = 0;
        int refused = 0;
        StringBuilder seals = new StringBuilder();
        for (Teller teller : all) {
            requests += teller.journal.entries();
            refused += teller.refused;
            seals.append(' ').append(teller.journal.seal());
        }
        System.out.println(requests + " requests, " + refused + " refused");
        System.out.println(system.total() + " cents in the bank, " + system.admin.reconciled() + " transfers reconciled");
        System.out.println("journals" + seals);
        if (time) {
            System.out.println((System.nanoTime() - start) / 1_000_000 + " ms, " + cpu / 1_000_000
                    + " ms of processor time at the counters");
        }
    }

    /** The day of a teller, in a thread of its own. */
    private static class Worker extends Thread {
        private final Workload workload;
        private final int size;
        private long cpu;

        Worker(Teller teller, int firstUser, int size) {
            workload = new Workload(teller, firstUser, USERS_OF_A_TELLER);
            this.size = size;
        }

        @Override
        public void run() {
            workload.run(size);
            cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }
    }
}
