import java.util.concurrent.atomic.AtomicLong;

/** The administrator. Whether something is allowed has been looked at by the teller. */
class Admin {
    private final AtomicLong reconciled = new AtomicLong();

    /** From now on the account exists. */
    void approve(Account account, TransactionSystem system) {
        system.add(account);
    }

    /** From now on the account does not exist. */
    void close(Account account, TransactionSystem system) {
        system.remove(account);
    }

    void disable(User user) {
        user.enabled = false;
    }

    void activate(User user) {
        user.enabled = true;
    }

    void greylist(User user) {
        user.grey = true;
        user.transfers = 0;
        user.externalTransfers = 0;
    }

    void whitelist(User user) {
        user.grey = false;
    }

    void reconcile(int transfers) {
        reconciled.addAndGet(transfers);
    }

    long reconciled() {
        return reconciled.get();
    }
}
