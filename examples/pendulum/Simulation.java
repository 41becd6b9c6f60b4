/** What the simulation knows about itself. */
class Simulation {
    final Real time;
    String transName;

    Simulation() {
        time = new Real();
        transName = "";
    }
}
