package names;

/** Objects on the way to a variable: made, passed on, let go. */
public class Holder {
    static Holder top;

    Leaf leaf;

    Holder() {}

    Holder(int value) {
        leaf = new Leaf(value);
        leaf.value = value + 1; // a write to what the object under construction has
    }

    /** Fails after it has begun to write. */
    Holder(String words) {
        leaf = new Leaf(words.length());
        throw new IllegalStateException(words);
    }

    static class Leaf {
        int value;

        Leaf(int value) {
            set(value);
        }

        void set(int value) {
            this.value = value;
        }
    }

    /** Inherits the field, and has one of the same name besides. */
    static class Special extends Holder {
        Special(int value) {
            super(value);
        }
    }

    public static void main(String[] args) {
        switch (args[0]) {
            case "static" -> roots();
            case "all" -> all();
            case "dies" -> dies();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void roots() {
        top = new Holder(1); // 1, then 2, by writes
        Leaf alias = top.leaf;
        alias.set(3); // 3
        new Holder(50); // nobody's business
        try {
            top = new Holder("four"); // 4 by a write, but it never gets there
        } catch (IllegalStateException e) {
            new Leaf(60); // nobody's business
        }
        top.leaf.set(5); // 5
        top.leaf = null; // undefined
        alias.set(6); // nobody's business
        Leaf other = new Leaf(7);
        top.leaf = other; // 7, not by a write
        top = new Special(8); // 8, then 9
        other.set(10); // nobody's business
        top = null; // undefined
        System.out.println("done");
    }

    private static void all() {
        Holder one = new Holder(1); // 1, then 2
        Holder two = new Special(11); // 11, then 12
        new Leaf(99);
        one.leaf.set(3); // 3
        two.leaf.set(4); // 4
        Leaf old = one.leaf;
        one.leaf = two.leaf; // two's value: 4, as it was
        old.set(98); // nobody's business
        one.leaf = null; // undefined; two holds the other still
        two.leaf.set(5); // 5
        System.out.println("done");
    }

    private static void dies() {
        make();
        for (int i = 0; i < 50 && !Types.done; i++) {
            System.gc();
            Types.tick();
        }
        System.out.println("done");
    }

    private static void make() {
        Holder one = new Holder(1); // 1, then 2
        one.leaf.set(3); // 3
    }
}
