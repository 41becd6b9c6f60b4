import java.util.Random;

/** The simulated servers; the mode of the run determines their behaviour. */
class Market {
    private static final String[] SERVERS = {"north", "east", "south", "west"};

    private final Random random = new Random(2001);
    private int refusals;
    private int silences;

    /** The next {@code refusals} connections fail, and after that the next {@code silences} queries get no answer. */
    void trouble(int refusals, int silences) {
        this.refusals = refusals;
        this.silences = silences;
    }

    String anyServer() {
        return SERVERS[random.nextInt(SERVERS.length)];
    }

    boolean connect(ConnectTry attempt) {
        return --refusals < 0;
    }

    /** Returns the price of the stock, or null. */
    Integer query() {
        return --silences < 0 ? 100 + random.nextInt(20) : null;
    }
}
