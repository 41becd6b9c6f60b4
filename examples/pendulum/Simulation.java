/** The state of the simulation itself. */
class Simulation {
    final Real time;
    String transName;

    Simulation() {
        time = new Real();
        transName = "";
    }
}
