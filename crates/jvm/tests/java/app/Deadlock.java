package app;

public class Deadlock {
    static final Object A = new Object();
    static final Object B = new Object();

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> take(B, A), "other");
        other.start();
        take(A, B);
        other.join();
    }

    static void take(Object first, Object second) {
        synchronized (first) {
            pause();
            synchronized (second) {
                System.out.println("never");
            }
        }
    }

    static void pause() {
        try {
            Thread.sleep(300);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }
}
