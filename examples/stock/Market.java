import java.util.Random;

/** The servers, simulated: how they behave is decided by the story. */
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

    /** The price of the stock, or nothing. */
    Integer query() {
        return --silences < 0 ? 100 + random.nextInt(20) : null;
    }
}
