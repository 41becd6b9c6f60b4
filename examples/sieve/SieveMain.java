// Figure 7.14 as printed, except for one line (corrected below) and the last one of main, which prints the result.
public class SieveMain{
    Sieve sa;
    SieveMain() { sa = new Sieve();}
    public static void main(String[] args) {
        SieveMain sm = new SieveMain();
        sm.sa.initialize( Integer.parseInt(args[0]));
        sm.sa.execute();
        System.out.println(sm.sa.numPrimes - 1 + " primes up to " + args[0]);
    }
}
class Sieve {
    public Sieve sa;
    public int primes[];
    public int maxCandidate;
    public int numTested;        // current number being tested
    public int numPrimes;        // number of primes found

    public void initialize(int i) {
        maxCandidate = i;
        primes = new int[maxCandidate];
    }

    public void execute() {
        int k = 0;
        int sqrt_i=0;
        boolean flag = false;

        primes[0] = 1;
        primes[1] = 2;
        numPrimes = 2;
        for (numTested = 3; numTested <= maxCandidate; numTested++) {
            k = 1;
            sqrt_i = (int)(Math.sqrt(numTested)); // corrected: printed with i, which is not declared
            for (flag = true; k < numPrimes && flag; k++)
                if ( primes[k] <= sqrt_i && numTested % primes[k] == 0)
                    flag = false;

            if (flag) {
                numPrimes++;
                primes[numPrimes - 1] = numTested;
            }
        }
    }
}
