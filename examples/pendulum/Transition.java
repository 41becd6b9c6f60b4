/** A change from one controller to another. */
class Transition {
    final String name;
    final int to;

    Transition(String name, int to) {
        this.name = name;
        this.to = to;
    }
}
