/** Money that comes from another bank. */
class WireTransfer {
    static void receive(Account account, double amount) {
        account.deposit(amount); // wired
    }
}
