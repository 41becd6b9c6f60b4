package app;

public class Waits {
    int ticks;

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        System.out.flush();
        Waits waits = new Waits();
        for (int i = 0; i < 6000; i++) {
            waits.tick(i);
            Thread.sleep(10);
        }
    }

    void tick(int number) {
        ticks = number;
    }
}
