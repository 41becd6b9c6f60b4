package app;

/** Something that can be steered. */
class Steered {
    static int level;
    static Steered nobody;
    final Steered own = this;

    static void set(int to) {
        System.out.println("set " + to);
        level = to;
    }

    static int reset() {
        System.out.println("reset on " + Thread.currentThread().getName());
        level = 0;
        return 1;
    }

    static void all(boolean z, byte b, char c, short s, int i, long j, float f, double d, String text) {
        System.out.println("all " + z + " " + b + " " + c + " " + s + " " + i + " " + j + " " + f + " " + d + " " + text);
    }

    static void pick(long number) {
        System.out.println("long " + number);
    }

    static void pick(int number) {
        System.out.println("int " + number);
    }

    static void fail() {
        throw new IllegalStateException("no");
    }

    void one() {
    }

    public static void main(String[] args) {
        level = 1;
        level = 11;
        System.out.println("level " + level);
    }
}
