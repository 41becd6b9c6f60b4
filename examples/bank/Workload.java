import java.util.Random;

/** An ordinary day: users log in, save, spend and send money; the administrator acts now and then. */
class Workload {
    private final Teller teller;
    private final int first;
    private final Customer[] customers;
    private final Random random;

    /** For {@code number} users, from {@code first} on. */
    Workload(Teller teller, int first, int number) {
        this.teller = teller;
        this.first = first;
        random = new Random(first);
        customers = new Customer[number];
        for (int i = 0; i < number; i++) {
            customers[i] = new Customer(first + i);
        }
    }

    void run(int requests) {
        for (Customer customer : customers) {
            customer.begin();
        }
        for (int i = 0; i < requests; i++) {
            customers[random.nextInt(customers.length)].next();
        }
        for (Customer customer : customers) {
            customer.end();
        }
    }

    private boolean ask(String line) {
        return teller.handle(Request.sign(line)).startsWith("ok");
    }

    private String amount(int most) {
        return random.nextInt(1, most) + "." + random.nextInt(10) + random.nextInt(10);
    }

    /** One of the three accounts of one of the customers. */
    private long account() {
        return (first + random.nextInt(customers.length)) * 100L + random.nextInt(3) * 10L;
    }

    private class Customer {
        private final int id;
        private long session;
        private int logins;
        private int opened;
        private boolean fourth;
        private boolean disabled;
        private boolean grey;
        private int sent;

        Customer(int id) {
            this.id = id;
        }

        /** Opens three accounts, with some money in each. */
        void begin() {
            login();
            for (int kind = 0; kind < 3; kind++) {
                open(kind);
                ask("deposit session=" + session + " account=" + (id * 100L + kind * 10) + " amount=" + amount(1000));
            }
        }

        /** Sends one or two requests. */
        void next() {
            int what = random.nextInt(100);
            if (session == 0) {
                login();
            } else if (disabled) {
                if (what < 30) {
                    disabled = !ask("activate user=" + id);
                } else {
                    deposit();
                }
            } else if (grey) {
                if (sent >= 3) {
                    grey = !ask("whitelist user=" + id);
                } else if (!send()) {
                    deposit();
                }
            } else if (what < 40) {
                ask("transfer session=" + session + " from=" + own() + " to=" + account() + " amount=" + amount(200));
            } else if (what < 55) {
                deposit();
            } else if (what < 68) {
                ask("withdraw session=" + session + " account=" + own() + " amount=" + amount(200));
            } else if (what < 82) {
                send();
            } else if (what < 90) {
                ask("balance account=" + own());
            } else if (what < 95) {
                end();
            } else if (what < 96) {
                disabled = ask("disable user=" + id);
            } else if (what < 97) {
                grey = ask("greylist user=" + id);
                sent = 0;
            } else if (fourth) {
                fourth = !ask("close account=" + (id * 100L + 30));
            } else if (opened < 5) {
                open(3);
                fourth = true;
            }
        }

        void end() {
            if (session != 0) {
                ask("logout session=" + session);
                session = 0;
            }
        }

        private void login() {
            session = id * 1_000_000L + ++logins;
            opened = 0;
            ask("login user=" + id + " session=" + session);
        }

        private void open(int kind) {
            opened++;
            ask("open session=" + session + " kind=" + kind);
            ask("approve user=" + id);
        }

        private void deposit() {
            ask("deposit session=" + session + " account=" + own() + " amount=" + amount(400));
        }

        private boolean send() {
            boolean ok = ask("send session=" + session + " from=" + own() + " amount=" + amount(300));
            sent += ok ? 1 : 0;
            return ok;
        }

        private long own() {
            return id * 100L + random.nextInt(3) * 10L;
        }
    }
}
