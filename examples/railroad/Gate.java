/** A gate that is upright at 90 degrees, and closes the road at 0. */
class Gate {
    private int angle = 90;

    /** Goes down by some degrees, nine in a second. The train does not wait for it. */
    void gd(int degrees) {
        int goal = angle - degrees;
        while (angle > goal) {
            angle -= 9;
            RRC.second();
        }
    }

    /** Goes up, and returns its angle. */
    int gu() {
        while (angle < 90) {
            angle += 9;
            RRC.second();
        }
        return angle;
    }
}
