/** The controller of the gate, with the fields and methods of the class in section 4.2.6. */
class Control {
    public static final int GATE_UP    = 0;
    public static final int GATE_DOWN  = 1;
    public static final int IN_TRANSIT = 2;
    int gatePos;

    private final int travel;
    private int wanted;
    private int left;

    /** A gate that is up, and needs {@code travel} seconds to go down or up. */
    Control(int travel) {
        this.travel = travel;
        gatePos = GATE_UP;
    }

    public void open() {
        move(GATE_UP);
    }

    public void close() {
        move(GATE_DOWN);
    }

    private void move(int where) {
        wanted = where;
        left = travel;
        gatePos = IN_TRANSIT;
    }

    /** A second has passed. */
    void second() {
        if (left > 0 && --left == 0) {
            gatePos = wanted;
        }
    }
}
