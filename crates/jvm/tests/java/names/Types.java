package names;

/** Variables of every type, as fields and as locals. */
public class Types {
    static boolean done;
    static int ticks;

    boolean z;
    byte b;
    char c;
    short s;
    int i;
    long l;
    float f;
    double d;
    String t;

    static void tick() {
        ticks++;
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            done = true;
        }
    }

    void fields() {
        z = true;
        b = -1;
        c = 'c';
        s = -300;
        i = 70000;
        l = 1L << 40;
        f = 1.5f;
        d = 2.5;
        t = "a text that is longer than fourteen bytes";
        t = null;
    }

    static long locals(int given) {
        boolean z = given > 0;
        byte b = (byte) given;
        char c = 'x';
        short s = (short) (given * 2);
        int i = given;
        i++;
        i += 1000;
        long l = given * 3L;
        float f = given / 4f;
        double d = given / 8.0;
        String t = "text " + given;
        given = 9;
        for (int k = 0; k < 2; k++) {
            int inner = k * 10;
            l += inner;
        }
        return z ? l + b + c + s + i + given + (long) f + (long) d + t.length() : 0;
    }

    static int twice(int x) {
        return 2 * x;
    }

    static int caller(int x) {
        Runnable work = () -> ticks = twice(x);
        work.run();
        return twice(x + 1);
    }

    static int other(int x) {
        return twice(x + 100);
    }

    public static void main(String[] args) throws Exception {
        new Types().fields();
        System.out.println(locals(5));
        System.out.println(caller(1) + other(1));
        Thread[] all = new Thread[4];
        for (int n = 0; n < all.length; n++) {
            all[n] = new Thread(() -> {
                for (int k = 0; k < 50; k++) shared = shared + 1;
            });
            all[n].start();
        }
        for (Thread one : all) one.join();
    }

    static volatile int shared;
}
