/* A shop that accepts gift cards. The price of a returned item is refunded. */
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    int value, balance;
} card_t;

typedef struct {
    card_t *card;
    int count, prices[4];
    bool returned[4];
} order_t;

void card_charge(card_t *card, int amount) {
    card->balance -= amount;
}

void card_refund(card_t *card, int amount) {
    card->balance += amount;
}

void order_add(order_t *order, int price) {
    order->prices[order->count++] = price;
    card_charge(order->card, price);
}

void order_return(order_t *order, int item) {
    order->returned[item] = true;
    card_refund(order->card, order->prices[item]);
}

void order_cancel(order_t *order) {
    for (int item = 0; item < order->count; item++)
        order_return(order, item);
}

int main(void) {
    card_t ann = {100, 100}, bob = {50, 50};
    order_t first = {&ann}, second = {&bob};
    order_add(&first, 30);
    order_add(&second, 20);
    order_add(&first, 15);
    order_return(&first, 1);
    order_cancel(&first);
    printf("ann has %d of %d, bob has %d of %d\n", ann.balance, ann.value, bob.balance, bob.value);
}
