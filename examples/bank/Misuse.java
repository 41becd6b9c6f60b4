/** Requests that a bank without bugs refuses, one for each bug. */
class Misuse {
    private final Teller teller;

    Misuse(Teller teller) {
        this.teller = teller;
    }

    /** Needs the users 1 to 9. */
    void run() {
        fee();
        sameNumber();
        disabled();
        greylisted();
        manyAccounts();
        manySessions();
        afterLogout();
        gold();
    }

    /** Sends all the money to another bank, with a fee of 0.50 on top. */
    private void fee() {
        long account = customer(1, 101);
        ask("deposit session=101 account=" + account + " amount=2000.00");
        ask("send session=101 from=" + account + " amount=2000.00"); // P3
        ask("logout session=101");
    }

    /** Has two accounts of the same kind. */
    private void sameNumber() {
        customer(2, 201);
        ask("open session=201 kind=0");
        ask("approve user=2"); // P4
        ask("logout session=201");
    }

    /** Is disabled, and tries both ways to get the money. */
    private void disabled() {
        long account = customer(3, 301);
        ask("deposit session=301 account=" + account + " amount=500.00");
        ask("disable user=3");
        ask("withdraw session=301 account=" + account + " amount=100.00");
        ask("transfer session=301 from=" + account + " to=100 amount=100.00"); // P5
        ask("activate user=3");
        ask("withdraw session=301 account=" + account + " amount=100.00");
        ask("logout session=301");
    }

    /** Makes three transfers, of which one is external. */
    private void greylisted() {
        long account = customer(4, 401);
        ask("deposit session=401 account=" + account + " amount=500.00");
        ask("greylist user=4");
        ask("send session=401 from=" + account + " amount=10.00");
        ask("transfer session=401 from=" + account + " to=100 amount=10.00");
        ask("transfer session=401 from=" + account + " to=200 amount=10.00");
        ask("whitelist user=4"); // P6
        ask("send session=401 from=" + account + " amount=10.00");
        ask("send session=401 from=" + account + " amount=10.00");
        ask("whitelist user=4");
        ask("logout session=401");
    }

    /** Requests eleven accounts. */
    private void manyAccounts() {
        ask("login user=5 session=501");
        for (int kind = 0; kind <= 10; kind++) {
            ask("open session=501 kind=" + kind); // P7
        }
        ask("logout session=501");
    }

    /** Logs in four times. */
    private void manySessions() {
        for (int session = 601; session <= 604; session++) {
            ask("login user=6 session=" + session); // P9
        }
        for (int session = 601; session <= 604; session++) {
            ask("logout session=" + session);
        }
    }

    /** Transfers money after the logout. */
    private void afterLogout() {
        long account = customer(7, 701);
        ask("deposit session=701 account=" + account + " amount=500.00");
        ask("logout session=701");
        ask("transfer session=701 from=" + account + " to=100 amount=100.00"); // P10
    }

    /** One is from this country, the other is not. */
    private void gold() {
        ask("gold user=5");
        ask("gold user=8");
    }

    /** A user who is logged in and has an account. */
    private long customer(int user, int session) {
        ask("login user=" + user + " session=" + session);
        ask("open session=" + session + " kind=0");
        ask("approve user=" + user);
        return user * 100L;
    }

    private void ask(String line) {
        teller.handle(Request.sign(line));
    }
}
