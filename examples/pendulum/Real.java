/** A real variable. There are many of them; four are monitored. */
class Real {
    double v;
}
