package app;

/** Counts, alone and in a crowd: each call tells how many there were before it. */
class Race {
    private static int total;

    public static void main(String[] args) throws InterruptedException {
        int alone = Integer.parseInt(args[0]);
        int each = Integer.parseInt(args[1]);
        burst(alone);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int length = 1 + 13 * i;
            threads[i] = new Thread(() -> {
                for (int left = each; left > 0; left -= length) {
                    burst(Math.min(length, left));
                    Thread.yield();
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        burst(alone);
        System.out.println("total " + total);
    }

    private static void burst(int length) {
        for (int i = 0; i < length; i++) {
            synchronized (Race.class) {
                hit(total++);
            }
        }
    }

    static void hit(int before) {
    }
}
