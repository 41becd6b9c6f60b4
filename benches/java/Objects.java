/**
 * Writes to a field of many objects, one after the other, timed. What is watched is the write, and of which object.
 *
 * <p>{@code java Objects EVENTS COUNT TIMES}
 */
class Objects {
    public static void main(String[] args) {
        int events = Integer.parseInt(args[0]);
        Item[] items = new Item[Integer.parseInt(args[1])];
        for (int i = 0; i < items.length; i++) {
            items[i] = new Item();
        }
        Figures.print(Integer.parseInt(args[2]), events, () -> writeAll(items, events));
        System.out.println("last " + items[0].x);
    }

    private static void writeAll(Item[] items, int events) {
        int at = 0;
        for (int i = 0; i < events; i++) {
            items[at].x = i;
            at = at + 1 == items.length ? 0 : at + 1;
        }
    }
}

class Item {
    int x;
}
