import java.lang.annotation.*;
import java.lang.reflect.*;
import java.util.*;
import java.util.function.*;

/** Something of everything that a compiler makes of Java. */
public class Corpus {
    static final StringBuilder out = new StringBuilder();

    static void say(Object... words) {
        for (Object word : words) out.append(word).append(' ');
        out.append('\n');
    }

    // Loops.
    static int loops(int n) {
        int count = 0;
        outer:
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (j == i) continue outer;
                if (i + j > 12) break outer;
                count += i * j;
            }
        }
        do { count--; } while (count > 50);
        while (true) { if (count++ > 60) return count; }
    }

    // A loop at the very beginning of a method.
    static long spin(long n) { while (n > 10) { n = n / 3 + 1; } return n; }

    // Switches.
    static String dense(int i) {
        switch (i) {
            case 0: return "zero";
            case 1: case 2: return "few";
            case 3: i = 7;
            case 4: return "fell " + i;
            default: return "many";
        }
    }

    static int sparse(int i) {
        return switch (i) { case -1000000 -> 1; case 0 -> 2; case 77 -> 3; case 1 << 30 -> { i++; yield i; } default -> -1; };
    }

    static int strings(String s) {
        switch (s) {
            case "Aa": return 1;
            case "BB": return 2;
            case "long enough": return 3;
            default: return s.length();
        }
    }

    enum Planet {
        MERCURY(1.5) { double weight(double m) { return m * factor; } },
        VENUS(2.5) { double weight(double m) { return m - factor; } };
        final double factor;
        Planet(double factor) { this.factor = factor; }
        abstract double weight(double m);
    }

    static int onEnum(Planet p) {
        switch (p) { case MERCURY: return 10; case VENUS: return 20; }
        return 0;
    }

    // Exceptions.
    static int finallies(int how) {
        int x = how;
        try {
            try {
                if (how == 1) throw new IllegalStateException("one");
                if (how == 2) throw new IllegalArgumentException("two");
                if (how == 3) return x;
                x += 100;
            } catch (IllegalStateException e) {
                x += e.getMessage().length();
                throw new RuntimeException(e);
            } finally {
                x += 1000;
                say("inner", x);
            }
        } catch (IllegalArgumentException | NullPointerException e) {
            x = -x;
        } catch (RuntimeException e) {
            return -1;
        } finally {
            say("outer", x);
            if (how == 4) x = 4;
        }
        return x;
    }

    static class Resource implements AutoCloseable {
        final String name;
        Resource(String name) { this.name = name; say("open", name); }
        public void close() throws Exception { say("close", name); if (name.equals("bad")) throw new Exception("closing"); }
    }

    static String resources(boolean fail) {
        try (Resource a = new Resource("a"); Resource b = new Resource(fail ? "bad" : "b")) {
            if (fail) throw new IllegalStateException("body");
            return a.name + b.name;
        } catch (Exception e) {
            return e.getMessage() + e.getSuppressed().length;
        }
    }

    // Monitors.
    private final Object lock = new Object();
    private int guarded;

    synchronized int nested(int by) {
        synchronized (lock) {
            guarded += by;
            synchronized (this) {
                if (by < 0) throw new IllegalArgumentException();
                guarded *= 2;
            }
            return guarded;
        }
    }

    static synchronized long wide(long a, double b, long c) {
        long t = a; double u = b;
        t += (long) u; u *= c;
        return t + (long) u;
    }

    // Lambdas and references.
    interface Op { long apply(long a, double b); }

    long field;
    double[] doubles = new double[3];
    long[][] table = {{1, 2}, {3}};

    long lambdas(long seed) {
        Op first = (a, b) -> { field = a; return a + (long) b + seed; };
        Op second = Corpus::twice;
        Supplier<Corpus> make = Corpus::new;
        Function<Integer, int[]> array = int[]::new;
        doubles[1] += first.apply(1, 2.5);
        table[1][0] <<= 3;
        table[0][1]++;
        make.get().field = 5;
        return first.apply(seed, 0.5) + second.apply(3, 4) + array.apply(4).length + (long) doubles[1] + table[1][0];
    }

    static long twice(long a, double b) { return 2 * a + (long) b; }

    // Records, sealed types, patterns.
    sealed interface Shape permits Circle, Box {}
    record Circle(double r) implements Shape {}
    record Box(double w, double h) implements Shape {
        Box { if (w < 0) throw new IllegalArgumentException("w"); }
        static int made;
        Box(double side) { this(side, side); made++; }
    }

    static double area(Shape s) {
        if (s instanceof Circle c && c.r() > 0) return c.r() * c.r() * 3;
        if (!(s instanceof Box b)) return -1;
        return b.w() * b.h();
    }

    // Inner classes and constructors.
    static class Base {
        final Object given; int base = 3;
        Base(Object given) { this.given = given; init(); }
        void init() {}
    }

    class Inner extends Base {
        int seen = 1;
        Inner(boolean left, int n) {
            super(left ? new StringBuilder("left" + n) : (Object) new ArrayList<>(List.of(n, new int[] {n}.length)));
            seen += n; Corpus.this.field += seen;
        }
        Inner(int n) { this(n > 3, n + 1); seen *= 2; }
        @Override void init() { seen = 50; field = seen; }
    }

    static class Deep extends Base {
        Deep(int n) { super(new Base(new Base(n > 0 ? "p" : new int[n + 1]) { { base = 9; } }) { int x = n; }); }
    }

    static int unassigned(final int a, int b) {
        int c;
        if (a > 0) c = b; else c = -b;
        b = c + a;
        int captured = b;
        IntUnaryOperator f = x -> x + captured + a;
        return f.applyAsInt(c);
    }

    // Types with annotations inside code, generics.
    @Target(ElementType.TYPE_USE) @Retention(RetentionPolicy.RUNTIME) @interface Mark { String[] value() default {"a", "b"}; int n() default 0; Nested nested() default @Nested(1); }
    @interface Nested { int value(); }

    @SuppressWarnings("unchecked")
    static <T extends Comparable<T>> T annotated(List<@Mark(n = 3) T> list, Object o) {
        @Mark({"x"}) T best = null;
        for (@Mark T each : list) if (best == null || each.compareTo(best) > 0) best = each;
        try {
            if (o instanceof @Mark String) best = (@Mark(nested = @Nested(2)) T) o;
            Object made = new @Mark Object();
            Supplier<List<T>> s = @Mark(n = 9) ArrayList<T>::new;
            say(s.get().size(), made != null);
        } catch (@Mark ClassCastException e) {
            say("cast");
        }
        return best;
    }

    // Many variables: instructions with wide operands.
    static long variables(int n) {
        long a0=1,a1=2,a2=3,a3=4,a4=5,a5=6,a6=7,a7=8,a8=9,a9=10,b0=1,b1=2,b2=3,b3=4,b4=5,b5=6,b6=7,b7=8,b8=9,b9=10;
        long c0=1,c1=2,c2=3,c3=4,c4=5,c5=6,c6=7,c7=8,c8=9,c9=10,d0=1,d1=2,d2=3,d3=4,d4=5,d5=6,d6=7,d7=8,d8=9,d9=10;
        long e0=1,e1=2,e2=3,e3=4,e4=5,e5=6,e6=7,e7=8,e8=9,e9=10,f0=1,f1=2,f2=3,f3=4,f4=5,f5=6,f6=7,f7=8,f8=9,f9=10;
        long g0=1,g1=2,g2=3,g3=4,g4=5,g5=6,g6=7,g7=8,g8=9,g9=10,h0=1,h1=2,h2=3,h3=4,h4=5,h5=6,h6=7,h7=8,h8=9,h9=10;
        long i0=1,i1=2,i2=3,i3=4,i4=5,i5=6,i6=7,i7=8,i8=9,i9=10,j0=1,j1=2,j2=3,j3=4,j4=5,j5=6,j6=7,j7=8,j8=9,j9=10;
        long k0=1,k1=2,k2=3,k3=4,k4=5,k5=6,k6=7,k7=8,k8=9,k9=10,l0=1,l1=2,l2=3,l3=4,l4=5,l5=6,l6=7,l7=8,l8=9,l9=10;
        long m0=1,m1=2,m2=3,m3=4,m4=5,m5=6,m6=7,m7=8,m8=9,m9=10;
        int wide = n; wide++; wide += 1000; String text = "w"; float fl = 1; double dl = 2; fl++; dl++;
        for (int i = 0; i < 3; i++) { wide -= 2; l9 += wide; }
        text += wide;
        return a0 + l9 + m9 + wide + text.length() + (long) fl + (long) dl + k1 + j2 + e4;
    }

    static boolean booleans(boolean a, byte b, short s, char c, float f) {
        boolean r = a ^ b > s | c == f;
        r &= a; b += s; s <<= 2; c++; f -= 0.5f;
        return r ? b > s : c < f;
    }

    static int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

    static void lines() {
        try {
            Object o = null;
            int unused = 1;
            o.hashCode();
        } catch (NullPointerException e) {
            say(e.getMessage());
            for (StackTraceElement element : e.getStackTrace()) if (element.getClassName().equals("Corpus")) say(element);
        }
    }

    static void reflection() {
        for (Class<?> c : List.of(Corpus.class, Inner.class, Box.class, Planet.class)) {
            List<String> names = new ArrayList<>();
            for (Method m : c.getDeclaredMethods()) names.add(m.toGenericString());
            for (Field f : c.getDeclaredFields()) names.add(f.toGenericString());
            for (Constructor<?> k : c.getDeclaredConstructors()) names.add(k.toGenericString());
            Collections.sort(names);
            say(c, Modifier.toString(c.getModifiers()), names);
        }
    }

    public static void main(String[] arguments) throws Exception {
        say(loops(9), spin(100000), spin(3));
        for (int i = -1; i < 6; i++) say(dense(i), sparse(i * 77));
        say(sparse(1 << 30), sparse(-1000000));
        for (String s : new String[] {"Aa", "BB", "C#", "long enough", ""}) say(strings(s));
        for (Planet p : Planet.values()) say(p, p.weight(10), onEnum(p));
        for (int i = 0; i < 5; i++) say(finallies(i));
        say(resources(false), resources(true));
        Corpus c = new Corpus();
        say(c.nested(3), c.nested(4));
        try { c.nested(-1); } catch (IllegalArgumentException e) { say("negative", Thread.holdsLock(c)); }
        say(wide(1, 2.5, 3), c.lambdas(40), c.field);
        say(area(new Circle(2)), area(new Circle(-2)), area(new Box(3)), Box.made, new Box(1, 2));
        try { new Box(-1); } catch (IllegalArgumentException e) { say(e.getMessage()); }
        say(c.new Inner(true, 2).given, c.new Inner(5).seen, c.new Inner(1).given, c.field);
        say(new Deep(1).given.getClass().getSuperclass().getSimpleName(), ((Base) new Deep(-1).given).base);
        say(unassigned(3, 4), unassigned(-3, 4));
        say(annotated(List.of(3, 9, 4), "no"), annotated(List.of("a"), "z"), annotated(List.of("k"), 3));
        say(variables(5), booleans(true, (byte) 3, (short) 2, 'c', 99f), booleans(false, (byte) 0, (short) 2, 'c', 1f));
        say(recursive(15));
        lines();
        reflection();
        Thread[] threads = new Thread[4];
        Corpus shared = new Corpus();
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> { for (int k = 0; k < 200; k++) synchronized (shared) { shared.field++; } });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        say(shared.field);
        System.out.print(out);
        throw new IllegalStateException("the end");
    }
}
