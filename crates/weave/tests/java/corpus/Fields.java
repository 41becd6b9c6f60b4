/** Writes of fields of every type. */
public class Fields {
    boolean z; byte b; char c; short s; int i; float f; long j; double d; String t; int[] a;
    static int si; static long sj; static double sd; static Object so;
    Fields next;

    public static void main(String[] arguments) {
        Fields x = new Fields();
        x.z = true; x.b = -1; x.c = 'A'; x.s = 300; x.i = 1 << 20; x.f = 1.5f; x.j = 1L << 40; x.d = -2.0;
        x.t = "text"; x.a = new int[3];
        si = 7; sj = -7L; sd = 0.5; so = x; so = null;
        // Writes that are used as values.
        x.next = x; x.i = x.next.i = 9;
        x.j = x.next.j = 10L;
        si += x.i++;
        try {
            Fields none = null;
            none.i = 5;
        } catch (NullPointerException expected) {
            System.out.println("caught");
        }
        System.out.println(x.i + " " + x.j + " " + si);
    }
}
