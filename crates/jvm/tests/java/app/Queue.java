package app;

class Queue {
    static long pushes;
    protected int size;
    final Item[] items;

    Queue(int capacity) {
        items = new Item[capacity];
    }

    boolean push(Item item, double weight) {
        if (size == items.length) {
            return false;
        }
        items[size] = item;
        size++;
        pushes += 1;
        return true;
    }

    Item pop() {
        if (size == 0) {
            throw new IllegalStateException("empty");
        }
        size = size - 1;
        return items[size];
    }

    int mix(byte b, short s, char c, long l, float f, boolean z) {
        b = 100;
        return b + s + c + (int) l + (int) f + (z ? 1 : 0);
    }
}
