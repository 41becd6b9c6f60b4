package app;

/** Objects under construction in virtual threads that take turns on one thread of the system. */
class Threads {
    static class Node {
        int value;

        Node(int first, int second) {
            value = first;
            pause(first == 0 ? 0 : 200);
            value = second;
        }
    }

    static Node root;

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void deep(int frames) {
        if (frames > 0) {
            deep(frames - 1);
        } else {
            root = new Node(1, 2);
        }
    }

    public static void main(String[] args) throws Exception {
        // As older compilers do not know them.
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread one = (Thread) start.invoke(null, (Runnable) () -> deep(20));
        Thread other = (Thread) start.invoke(null, (Runnable) () -> {
            pause(100);
            Node node = new Node(0, 7);
            System.out.println(node.value);
        });
        one.join();
        other.join();
    }
}
