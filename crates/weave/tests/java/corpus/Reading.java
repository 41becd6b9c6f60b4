import java.io.Serializable;

/** What the reader of class files is asked for. */
public abstract class Reading extends Thread implements Serializable, Runnable {
    static final int INT = 42;
    static final long LONG = 1L << 40;
    static final float FLOAT = 1.5f;
    static final double DOUBLE = -0.25;
    static final String TEXT = "größe\0😀";
    static final boolean YES = true;
    private volatile int[] plain;

    abstract void nothing(int first);

    native long far(String name);

    static int count(int limit, Object what) {
        int total = 0;
        for (int i = 0; i < limit; i++) {
            total += i;
        }
        return total;
    }
}
