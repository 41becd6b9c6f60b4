import java.util.ArrayDeque;
import java.util.Deque;

/** A customer of the bank. */
class User {
    final int id;
    final String country;
    final Deque<Account> pending = new ArrayDeque<>();

    boolean enabled = true;
    boolean grey;
    boolean gold;
    int sessions;
    int transfers;
    int externalTransfers;

    User(int id, String country) {
        this.id = id;
        this.country = country;
    }

    /** Withdraws money from an account, and returns the remaining balance. */
    long withdraw(Account account, long amount) {
        return account.withdraw(amount);
    }

    /** Becomes a gold user. */
    void makeGold() {
        gold = true;
    }
}
