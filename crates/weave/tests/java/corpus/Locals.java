/** Writes of locals: all instructions that make them. */
public class Locals {
    static int sum(int n) {
        int total = 0;
        for (int i = 1; i <= n; i++) {
            long square = (long) i * i;
            total += square;
        }
        n = -1;
        return total;
    }

    static String reuse(boolean first) {
        if (first) {
            int x = 1;
            return "x" + x;
        } else {
            String y = "y";
            return y;
        }
    }

    static double real(float f) {
        double d = f;
        f = 2.5f;
        d *= f;
        return d;
    }

    public static void main(String[] arguments) {
        System.out.println(sum(3));
        System.out.println(reuse(true) + reuse(false));
        System.out.println(real(2));
    }
}
