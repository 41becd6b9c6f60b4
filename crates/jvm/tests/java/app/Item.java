package app;

class Item {
    static int made;
    final String name;
    int price;
    Item next;
    int[] codes = {7, 8, 9};

    Item(String name, int price) {
        this.name = name;
        this.price = price;
        made++;
    }
}
