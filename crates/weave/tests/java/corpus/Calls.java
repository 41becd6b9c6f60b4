import java.util.*;

/** Calls, seen from where they are made. */
public class Calls {
    interface Shape { double area(double scale); }
    record Square(double side) implements Shape {
        public double area(double scale) { return side * side * scale; }
    }

    int count;

    long bump(int by, long more, String why) {
        count += by;
        if (why == null) throw new NullPointerException("why");
        return count + more;
    }

    static void quiet(int a) {}

    public static void main(String[] arguments) {
        Calls calls = new Calls();
        long x = calls.bump(1, 2L, "first");
        quiet((int) x);
        Shape shape = new Square(2);
        double area = shape.area(0.5);
        List<String> list = new ArrayList<>(5);
        list.add("one");
        try {
            calls.bump(1, 2L, null);
        } catch (NullPointerException e) {
            x = -1;
        }
        System.out.println(x + " " + area + " " + list);
    }
}
