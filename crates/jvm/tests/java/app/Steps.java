package app;

public class Steps {
    public static void main(String[] args) {
        int a = 1;
        int b = twice(a);
        int c = b + 1;
        System.out.println(a + b + c);
    }

    static int twice(int x) {
        int y = x * 2;
        return y;
    }
}
