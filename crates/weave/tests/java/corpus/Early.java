import java.util.*;
/** Statements before `super(…)`, which Java 25 allows. */
public class Early {
    static class Base { int b; Base(int x, Object o) { b = x; show(); } void show() { System.out.println("base " + b); } }
    static class Child extends Base {
        int f; String name; long l;
        Child(int x, String s) {
            if (x < 0) throw new IllegalArgumentException("neg");
            f = x * 2;
            name = s;
            l = 5L;
            int y = x;
            for (int i = 0; i < 3; i++) { y += i; Other o = new Other(); o.v = y; Other.count += o.v; }
            try { y = Integer.parseInt(s); } catch (NumberFormatException e) { y = -1; Other.count = 100; }
            super(y, y > 3 ? new Other() : new ArrayList<>(List.of(1)));
            f++;
            if (y == -1) throw new IllegalStateException(name);
        }
        void show() { System.out.println("child " + f + name + l); }
    }
    static class Other { int v; static int count; }
    public static void main(String[] a) {
        System.out.println(new Child(1, "12").f + " " + Other.count);
        for (int x : new int[]{-1, 2}) try { new Child(x, "zz"); } catch (RuntimeException e) { System.out.println(e); }
        System.out.println(Other.count);
    }
}
