package app;

public class Ends {
    public static void main(String[] args) throws Exception {
        begin(args[0]);
        switch (args[0]) {
            case "exit" -> System.exit(7);
            case "throw" -> throw new IllegalStateException("out of main");
            case "halt" -> Runtime.getRuntime().halt(9);
            case "sleep" -> Thread.sleep(60_000);
            default -> System.out.println("done");
        }
    }

    static void begin(String how) {
    }
}
