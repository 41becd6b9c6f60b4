/** Nothing: what starting costs. */
class Empty {
    public static void main(String[] args) {
    }
}
