import java.util.Locale;

/** Simulated time, in steps of a millisecond; the controllers act every ten milliseconds. */
class Simulator {
    static final double STEP = 0.001;
    static final int SAMPLE = 10;

    final Agents agents;
    final Simulation Simulation; // named as the scripts call it

    Simulator(String mode) {
        agents = new Agents(mode);
        Simulation = new Simulation();
    }

    void run(int seconds) {
        for (int step = 0; step < seconds * 1000; step++) {
            Simulation.time.v = step * STEP;
            if (step % SAMPLE == 0) {
                agents.controllers.sense(agents.physical);
                Transition t = agents.decision.decide(Simulation.time.v, agents.controllers);
                if (t != null) {
                    processTransition(t, t.to);
                }
                double command = agents.controllers.command(agents.decision.mode, Simulation.time.v);
                agents.physical.command.v = command;
            }
            agents.physical.step(STEP);
        }
    }

    /** Takes a transition between two controllers. */
    void processTransition(Transition t, int dest) {
        Simulation.transName = t.name; // a switch
        agents.decision.mode = dest;
        System.out.printf(Locale.ROOT, "%.2f s: %s%n", Simulation.time.v, t.name);
    }
}
