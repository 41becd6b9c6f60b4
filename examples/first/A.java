/** Two variables and a sum: the smallest program with something to see. */
class A {
    static int x;
    static int y;

    public static void main(String[] args) {
        y = 5;
        x = 2;
        x = 5;  // c1 turns true, and e1 happens
        x = 7;  // c1 stays true: nothing happens
        y = 20;
        y = 9;  // c1 is still true, and y below 10 again: e1 happens again
        Foo foo = new Foo();
        foo.x = 10;
        System.out.println("1 and 2 is " + foo.sum(1, 2));
    }
}

class Foo {
    int x;

    int sum(int a, int b) {
        return a + b;
    }
}
