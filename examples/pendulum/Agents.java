/** The three agents of the system. */
class Agents {
    final Controllers controllers;
    final DecisionModule decision;
    final PhysicalSystem physical;

    Agents(String mode) {
        controllers = new Controllers(mode);
        decision = new DecisionModule(mode);
        physical = new PhysicalSystem(mode);
    }
}
