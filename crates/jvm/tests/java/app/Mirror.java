package app;

import java.io.IOException;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntSupplier;

/** A program that looks at itself, and prints what it sees. */
public class Mirror implements Runnable, Comparable<Mirror>, Serializable {
    static int total;
    private volatile long count;
    protected final String name;

    interface Shape {
        int LEAST = 3;

        default int area() {
            return LEAST;
        }
    }

    enum Colour { RED, GREEN }

    static final class Square implements Shape {
        double side = 2;

        @Override
        public int area() {
            side += 0.5;
            return (int) (side * side);
        }
    }

    Mirror(String name) {
        this.name = name;
    }

    @Deprecated
    public synchronized int work(int amount, long... more) throws IOException {
        count += amount;
        total++;
        if (amount > 2) {
            throw new IOException("too much: " + amount);
        }
        return total;
    }

    @Override
    public void run() {
        IntSupplier supplier = () -> {
            try {
                return work(9);
            } catch (IOException error) {
                trace(error);
                return -1;
            }
        };
        System.out.println("supplied " + supplier.getAsInt());
    }

    @Override
    public int compareTo(Mirror other) {
        return Long.compare(count, other.count);
    }

    private static void trace(Throwable error) {
        System.out.println(error);
        for (StackTraceElement element : error.getStackTrace()) {
            System.out.println("  at " + element);
        }
    }

    private static void print(String what, List<String> lines) {
        Collections.sort(lines);
        lines.forEach(line -> System.out.println("  " + what + " " + line));
    }

    private static void look(Class<?> type) {
        System.out.println(type.toGenericString() + " in " + type.getNestHost() + ", " + type.getModifiers());
        System.out.println("  extends " + type.getGenericSuperclass());
        System.out.println("  implements " + Arrays.toString(type.getGenericInterfaces()));
        List<String> methods = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            StringBuilder shown = new StringBuilder(method.toGenericString());
            shown.append(" ").append(method.getModifiers()).append(Arrays.toString(method.getAnnotations()));
            for (Parameter parameter : method.getParameters()) {
                shown.append(" ").append(parameter);
            }
            methods.add(shown.toString());
        }
        print("method", methods);
        List<String> fields = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            fields.add(field.toGenericString() + " " + field.getModifiers());
        }
        print("field", fields);
        List<String> constructors = new ArrayList<>();
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            constructors.add(constructor.toGenericString());
        }
        print("constructor", constructors);
        List<String> classes = new ArrayList<>();
        for (Class<?> inner : type.getDeclaredClasses()) {
            classes.add(inner.getName());
        }
        print("class", classes);
    }

    public static void main(String[] args) throws Exception {
        for (Class<?> type : new Class<?>[] {Mirror.class, Shape.class, Colour.class, Square.class}) {
            look(type);
        }
        System.out.println("serial " + ObjectStreamClass.lookup(Mirror.class).getSerialVersionUID());
        Mirror mirror = new Mirror("one");
        Method work = Mirror.class.getMethod("work", int.class, long[].class);
        System.out.println("worked " + work.invoke(mirror, 1, new long[] {4}));
        Field count = Mirror.class.getDeclaredField("count");
        count.setAccessible(true);
        System.out.println("counted " + count.getLong(mirror));
        mirror.run();
        System.out.println("areas " + new Square().area() + " " + new Shape() { }.area());
        trace(new Throwable("here"));
        StackWalker walker = StackWalker.getInstance();
        walker.forEach(frame -> System.out.println("frame " + frame));
        String helper;
        try {
            helper = Class.forName("java.lang.Invigil").getName();
        } catch (ClassNotFoundException error) {
            helper = "none";
        }
        System.out.println("helper " + helper);
    }
}
