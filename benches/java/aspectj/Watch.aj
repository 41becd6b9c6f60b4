/** The same step as in the probes: before each write, and before each call. */
aspect Watch {
    before(int value) : set(int Test.monitoredX) && args(value) {
        Step.step(value);
    }

    before(int value) : set(int Work.monitoredX) && args(value) {
        Step.step(value);
    }

    before(int value) : execution(void Calls.call(int)) && args(value) {
        Step.step(value);
    }
}
