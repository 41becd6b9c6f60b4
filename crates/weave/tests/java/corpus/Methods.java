/** Entries and exits. */
public class Methods {
    final int base;

    Methods(int base) {
        this.base = base;
        if (base < 0) throw new IllegalArgumentException("negative");
    }

    int add(int a, long b) {
        a += 1;
        return base + a + (int) b;
    }

    double half(double d) { return d / 2; }

    static String join(String a, Object b, int c, char d, float e) {
        if (c == 0) throw new IllegalStateException(a);
        a = a + b;
        while (c-- > 1) a += d;
        return a;
    }

    void nothing() {}

    static int inner() {
        try {
            return join("t", null, 0, 'x', 0f).length();
        } catch (IllegalStateException e) {
            return -1;
        }
    }

    public static void main(String[] arguments) {
        Methods m = new Methods(10);
        System.out.println(m.add(1, 2L));
        System.out.println(m.half(3));
        System.out.println(join("a", "b", 3, 'c', 1.5f));
        m.nothing();
        System.out.println(inner());
        try {
            new Methods(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
