import java.util.concurrent.atomic.AtomicLong;

/** The administrator. The teller has checked that the operation is allowed. */
class Admin {
    private final AtomicLong reconciled = new AtomicLong();

    /** Creates the account. */
    void approve(Account account, TransactionSystem system) {
        system.add(account);
    }

    /** Removes the account. */
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
