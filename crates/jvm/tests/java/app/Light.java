package app;

public class Light {
    public static void main(String[] args) throws Exception {
        // Virtual threads are not in Java 17, which compiles this.
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        Object made = Thread.class.getMethod("ofVirtual").invoke(null);
        Runnable work = () -> glow(7);
        Thread thread = (Thread) builder.getMethod("start", Runnable.class).invoke(made, work);
        thread.join();
        System.out.println("out");
    }

    static void glow(int watts) {
        int twice = 2 * watts;
    }
}
