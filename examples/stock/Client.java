/** Asks one of several servers for the price of a stock, once per period; figure 8.4. */
class Client {
    private static final int CONNECTIONS = 4; // one, and three retries
    private static final int RETRIES = 4;

    private final Market market;
    private final boolean patient;
    private Object data = 100;

    Client(Market market, boolean patient) {
        this.market = market;
        this.patient = patient;
    }

    public static void main(String[] args) throws InterruptedException {
        String mode = args.length > 0 ? args[0] : "calm";
        int sessions = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        int period = mode.equals("hurry") ? 500 : 1000;
        Market market = new Market();
        Client client = new Client(market, !mode.equals("impatient"));
        switch (mode) {
            case "calm", "hurry" -> { }
            case "unreachable" -> market.trouble(4, 0);
            case "silent" -> market.trouble(0, 5);
            case "both" -> market.trouble(3, 5);
            case "impatient" -> market.trouble(1, 0);
            default -> {
                System.err.println("usage: java Client [calm|hurry|unreachable|silent|both|impatient] [sessions]");
                System.exit(2);
            }
        }
        long start = System.nanoTime();
        for (int session = 0; session < sessions; session++) {
            long left = start + session * period * 1_000_000L - System.nanoTime();
            if (left > 0) {
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            }
            client.run(); // a session
        }
        System.out.println("the last price is " + client.data);
    }

    /** One session. */
    void run() {
        data = connect() ? getData() : processOldData(); // no connection
    }

    private boolean connect() {
        for (int attempt = 1; attempt <= CONNECTIONS; attempt++) {
            ConnectTry connectTry = new ConnectTry(market.anyServer(), attempt);
            if (market.connect(connectTry)) {
                return true;
            }
            failConnection(connectTry);
            if (!patient) {
                return false;
            }
        }
        return false;
    }

    private Object getData() {
        Object answer = market.query();
        for (int retry = 1; answer == null && retry <= RETRIES; retry++) {
            answer = retryGetData(retry);
        }
        return answer != null ? answer : processOldData(); // no answer
    }

    void failConnection(ConnectTry attempt) {
        System.out.println("no connection to " + attempt.server() + ", attempt " + attempt.attempt());
    }

    Object retryGetData(int retry) {
        System.out.println("no answer, retry " + retry);
        return market.query();
    }

    Object processOldData() {
        System.out.println("the old price again: " + data);
        return data;
    }
}
