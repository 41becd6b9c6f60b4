import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Runs something several times and prints, for each time, a line of what it cost the thread that did it. */
final class Figures {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Figures() {
    }

    /** Prints lines such as {@code figures events=1000 cpu=5421 wall=5733}, in nanoseconds. */
    static void print(int times, long events, Runnable work) {
        for (int i = 0; i < times; i++) {
            long wall = System.nanoTime();
            long cpu = THREADS.getCurrentThreadCpuTime();
            work.run();
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            wall = System.nanoTime() - wall;
            System.out.println("figures events=" + events + " cpu=" + cpu + " wall=" + wall);
        }
    }
}
