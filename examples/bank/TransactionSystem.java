import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The users and accounts of the bank. */
class TransactionSystem {
    final Admin admin = new Admin();
    final Ledger ledger = new Ledger(admin);

    private final Map<Integer, User> users = new ConcurrentHashMap<>();
    private final Map<Long, Account> accounts = new ConcurrentHashMap<>();
    private final Map<Long, Session> sessions = new ConcurrentHashMap<>();

    /** Opens the bank for users with the numbers from 1 on. */
    void initialise(int number) {
        String[] countries = {"LU", "BE", "DE", "FR", "NL"};
        for (int id = 1; id <= number; id++) {
            users.put(id, new User(id, countries[id % countries.length]));
        }
    }

    User user(int id) {
        return users.get(id);
    }

    Account account(long number) {
        return accounts.get(number);
    }

    Session session(long id) {
        return sessions.get(id);
    }

    void add(Account account) {
        accounts.put(account.number, account);
    }

    void remove(Account account) {
        accounts.remove(account.number);
    }

    void add(Session session) {
        sessions.put(session.id, session);
    }

    void remove(Session session) {
        sessions.remove(session.id);
    }

    /** All money in the bank. */
    long total() {
        return accounts.values().stream().mapToLong(Account::balance).sum();
    }
}
