/** A machine for withdrawals and deposits. */
class ATM {
    static void insert(Account account, double amount) {
        account.deposit(amount); // not wired
    }

    static void pay(Account account, double amount) {
        account.withdrawal(amount);
    }
}
