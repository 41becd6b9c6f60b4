/** The debts of this bank to other banks, until they are settled. */
class Ledger {
    private static final int MOST = 1000;
    private static final long MOST_CENTS = 100_000_000;

    private final Admin admin;
    private int transfers;
    private long cents;

    Ledger(Admin admin) {
        this.admin = admin;
    }

    /** A transfer to another bank. When there are enough of them, the accounts are reconciled. */
    synchronized void external(User user, long amount) {
        transfers++;
        cents += amount;
        if (transfers >= MOST || cents >= MOST_CENTS) {
            admin.reconcile(transfers);
            transfers = 0;
            cents = 0;
        }
    }
}
