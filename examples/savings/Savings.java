import java.util.Random;

/** A year of an account: monthly pay, and many visits to the machine. */
class Savings {
    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "good";
        Random random = new Random(2001);
        Account account = new Account();
        for (int month = 1; month <= 12; month++) {
            // In May an uncle wires a sum that the bank wants to know about.
            WireTransfer.receive(account, mode.equals("uncle") && month == 5 ? 20000 : 3000);
            for (int i = 0; i < 20; i++) {
                ATM.pay(account, 10 * random.nextInt(1, 15));
            }
            ATM.insert(account, 50);
            endOfMonth(month);
        }
    }

    static void endOfMonth(int month) {
        System.out.println("statement " + month);
    }
}
