/** A real variable. There are many of them; the monitor cares for four. */
class Real {
    double v;
}
