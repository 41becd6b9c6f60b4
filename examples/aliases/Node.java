import java.util.Arrays;

// Figure 5.8 with the omitted parts: a list that is built from its head, and a node that is added later.
class Node {
    Node next;
    int value;

    Node(int[] values) {
        if (values.length == 1) next = null;
        else next = new Node(tail(values));
        value = head(values);
    }

    void insert(Node n) {
        if (next == null) next = n;
        else next.insert(n);
    }

    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "good";
        Node head = new Node(mode.equals("unsorted") ? new int[] {1, 3, 2} : new int[] {1, 2, 3});
        head.insert(new Node(new int[] {mode.equals("late") ? 0 : 4}));
        for (Node node = head; node != null; node = node.next) {
            System.out.println(node.value);
        }
    }

    private static int head(int[] values) {
        return values[0];
    }

    private static int[] tail(int[] values) {
        return Arrays.copyOfRange(values, 1, values.length);
    }
}
