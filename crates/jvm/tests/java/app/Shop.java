package app;

public class Shop {
    enum Mood { GOOD, BAD }

    static int limit = 3;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        Queue queue = new Queue(2);
        Queue other = new SmallQueue();
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            Item item = new Item("item" + i, 10 * i);
            queue.push(item, 0.5 + i);
            sum += queue.pop().price;
        }
        other.push(new Item("a name of more than fourteen bytes", 1), 1);
        queue.mix((byte) -1, (short) -2, 'c', 1L << 40, 1.5f, true);
        feel(Mood.BAD, 42, null);
        try {
            queue.pop();
        } catch (IllegalStateException expected) {
            sum += 1;
        }
        System.out.println("sum " + sum);
    }

    static void feel(Mood mood, Integer strength, Object nothing) {
        limit = strength;
    }
}

class SmallQueue extends Queue {
    SmallQueue() {
        super(1);
    }

    void shrink() {
        size = 0;
    }
}
