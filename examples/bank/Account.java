/** An account. Money is counted in cents. */
class Account {
    final User owner;
    long number;
    private long balance;

    Account(User owner, long number) {
        this.owner = owner;
        this.number = number;
    }

    synchronized long balance() {
        return balance;
    }

    /** Adds to the balance, and returns the new one. */
    synchronized long deposit(long amount) {
        balance += amount;
        return balance;
    }

    /** Subtracts from the balance, and returns the new one. The caller has checked that there is enough. */
    synchronized long withdraw(long amount) {
        balance -= amount;
        return balance;
    }
}
