/** The actions of a user between a login and a logout. The teller has checked that they are allowed. */
class Session {
    final long id;
    final User user;
    int requests;

    Session(long id, User user) {
        this.id = id;
        this.user = user;
    }

    void login() {
        user.sessions++;
    }

    void logout() {
        user.sessions--;
    }

    /** Asks for a new account of some kind, from 0 to 9. The administrator has to approve it. */
    void requestAccount(int kind) {
        requests++;
        user.pending.add(new Account(user, user.id * 100L + kind * 10L));
    }

    /** Moves money to another account of this bank. */
    void transfer(Account from, Account to, long amount) {
        user.withdraw(from, amount);
        to.deposit(amount);
        user.transfers++;
    }

    /** Moves money to another bank. */
    void transferOut(Account from, Ledger ledger, long amount, long fee) {
        user.withdraw(from, amount + fee);
        user.transfers++;
        user.externalTransfers++;
        ledger.external(user, amount);
    }
}
