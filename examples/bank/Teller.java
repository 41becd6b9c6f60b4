/** Reads requests, checks that they are allowed, executes them, and writes the journal. */
class Teller {
    final Journal journal = new Journal();
    int refused;

    private final TransactionSystem system;

    Teller(TransactionSystem system) {
        this.system = system;
    }

    /** Handles one request. The answer starts with "ok" or "refused". */
    String handle(String line) {
        String answer;
        try {
            answer = "ok " + carryOut(Request.parse(line));
        } catch (Refusal | IllegalArgumentException e) {
            refused++;
            answer = "refused: " + e.getMessage();
        }
        journal.append(line, answer);
        return answer;
    }

    private String carryOut(Request request) throws Refusal {
        return switch (request.verb) {
            case "login" -> login(user(request), request.number("session"));
            case "logout" -> logout(session(request));
            case "open" -> open(session(request), (int) request.number("kind"));
            case "balance" -> cents(account(request, "account").balance());
            case "deposit" -> deposit(session(request), account(request, "account"), request.amount("amount"));
            case "withdraw" -> withdraw(session(request), account(request, "account"), request.amount("amount"));
            case "transfer" ->
                transfer(session(request), account(request, "from"), account(request, "to"), request.amount("amount"));
            case "send" -> send(session(request), account(request, "from"), request.amount("amount"));
            default -> administer(request);
        };
    }

    private String login(User user, long id) throws Refusal {
        int most = Bugs.on(9) ? 4 : 3; // bug 9: one too many
        check(user.sessions < most, "too many sessions");
        Session session = new Session(id, user);
        session.login(); // P2, P9
        system.add(session);
        return "welcome";
    }

    private String logout(Session session) {
        session.logout();
        if (!Bugs.on(10)) { // bug 10: the session stays in the table
            system.remove(session);
        }
        return "goodbye";
    }

    private String open(Session session, int kind) throws Refusal {
        boolean enough = Bugs.on(7) ? session.requests > 10 : session.requests >= 10; // bug 7: counted from 0
        check(!enough, "too many requests in this session");
        session.requestAccount(kind); // P7
        return "wait for approval";
    }

    private String deposit(Session session, Account account, long amount) {
        return cents(account.deposit(amount));
    }

    private String withdraw(Session session, Account account, long amount) throws Refusal {
        check(session.user == account.owner, "not your account");
        check(session.user.enabled, "disabled");
        check(amount <= account.balance(), "not enough money");
        return cents(session.user.withdraw(account, amount));
    }

    private String transfer(Session session, Account from, Account to, long amount) throws Refusal {
        check(session.user == from.owner, "not your account");
        if (!Bugs.on(5)) { // bug 5: forgotten here
            check(session.user.enabled, "disabled");
        }
        check(amount <= from.balance(), "not enough money");
        session.transfer(from, to, amount); // P5, P10
        return cents(from.balance());
    }

    private String send(Session session, Account from, long amount) throws Refusal {
        check(session.user == from.owner, "not your account");
        check(session.user.enabled, "disabled");
        long fee = amount > 100_000 ? 50 : 0;
        long needed = Bugs.on(3) ? amount : amount + fee; // bug 3: the fee is forgotten
        check(needed <= from.balance(), "not enough money");
        session.transferOut(from, system.ledger, amount, fee); // P3
        return cents(from.balance());
    }

    private String administer(Request request) throws Refusal {
        Admin admin = system.admin;
        switch (request.verb) {
            case "approve" -> {
                Account account = user(request).pending.poll();
                check(account != null, "no account is waiting");
                while (!Bugs.on(4) && system.account(account.number) != null) { // bug 4: taken numbers
                    account.number++;
                }
                admin.approve(account, system); // P4
                return "account " + account.number;
            }
            case "close" -> {
                Account account = account(request, "account");
                check(account.balance() == 0, "there is money in it");
                admin.close(account, system);
            }
            case "disable" -> admin.disable(user(request));
            case "activate" -> admin.activate(user(request));
            case "greylist" -> admin.greylist(user(request));
            case "whitelist" -> {
                User user = user(request);
                int transfers = Bugs.on(6) ? user.transfers : user.externalTransfers; // bug 6: all transfers
                check(transfers >= 3, "too few transfers");
                admin.whitelist(user); // P6
            }
            case "gold" -> {
                User user = user(request);
                check(user.country.equals("LU"), "not from here");
                user.makeGold();
            }
            default -> throw new Refusal("what is " + request.verb + "?");
        }
        return "done";
    }

    private User user(Request request) throws Refusal {
        User user = system.user((int) request.number("user"));
        check(user != null, "no such user");
        return user;
    }

    private Account account(Request request, String field) throws Refusal {
        Account account = system.account(request.number(field));
        check(account != null, "no such account");
        return account;
    }

    private Session session(Request request) throws Refusal {
        Session session = system.session(request.number("session"));
        check(session != null, "no such session");
        return session;
    }

    private static String cents(long amount) {
        return amount / 100 + "." + amount % 100 / 10 + amount % 10;
    }

    private static void check(boolean allowed, String reason) throws Refusal {
        if (!allowed) {
            throw new Refusal(reason);
        }
    }

    /** The reason why a request is refused. */
    private static class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        Refusal(String reason) {
            super(reason, null, false, false);
        }
    }
}
