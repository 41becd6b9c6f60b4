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

    /** Adds to the balance, and says what it is now. */
    synchronized long deposit(long amount) {
        balance += amount;
        return balance;
    }

    /** Takes from the balance, and says what it is now. Whether there is enough has been looked at before. */
    synchronized long withdraw(long amount) {
        balance -= amount;
        return balance;
    }
}
