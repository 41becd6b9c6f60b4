package app;

public class Crowd {
    static int count;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            final int number = i;
            threads[i] = new Thread(() -> work(number), "worker-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("count " + count);
    }

    static void work(int number) {
        for (int i = 0; i < 50; i++) {
            enter(number, i);
        }
    }

    static synchronized void enter(int number, int turn) {
        count++;
    }
}
