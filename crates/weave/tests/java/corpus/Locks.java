/** Writes under the lock, with exceptions in between. */
public class Locks {
    int i; long j; Locks next; static int s;
    final int early;

    Locks(int value) { early = value; }

    static void caught(Locks x) {
        int before = 1;
        try {
            String text = "t";
            try {
                x.i = before;
                s = text.length();
            } catch (IllegalStateException e) {
                s = -1;
            }
        } catch (NullPointerException e) {
            s = 100 + before;
        } finally {
            s++;
        }
    }

    static void uncaught(Locks x) { x.j = 5L; }

    class Inner {
        int k;
        Inner() { k = 4; }
    }

    public static void main(String[] arguments) {
        Locks x = new Locks(3);
        caught(x);
        caught(null);
        try {
            uncaught(x);
            uncaught(null);
        } catch (NullPointerException e) {
            s = 200;
        }
        x.next = x;
        System.out.println(x.new Inner().k + s);
    }
}
