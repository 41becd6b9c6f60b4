/** An account, as in section 7.3.1. */
class Account {
    private double balance;

    void deposit(double amount) {
        balance += amount;
    }

    double withdrawal(double amount) {
        balance -= amount;
        return balance;
    }
}
