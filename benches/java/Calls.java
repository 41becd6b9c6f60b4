/**
 * A method that is called in a loop, timed. What is watched is the call, with its argument.
 *
 * <p>{@code java Calls EVENTS TIMES}
 */
class Calls {
    private long sum;

    public static void main(String[] args) {
        int events = Integer.parseInt(args[0]);
        Calls calls = new Calls();
        Figures.print(Integer.parseInt(args[1]), events, () -> calls.all(events));
        System.out.println("sum " + calls.sum);
        System.out.println("steps " + Step.steps);
    }

    private void all(int events) {
        for (int i = 0; i < events; i++) {
            call(i);
        }
    }

    void call(int x) {
        sum += x;
    }
}
