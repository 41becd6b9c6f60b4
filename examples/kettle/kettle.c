/* Makes tea for the tables of a café. The bug: the kettle is heated without water. */
#include <stdio.h>

typedef struct {
    int level; /* cups */
    int heating;
} kettle_t;

void fill(kettle_t *kettle, int cups) {
    kettle->level += cups;
}

void heat(kettle_t *kettle) {
    kettle->heating = 1;
}

void off(kettle_t *kettle) {
    kettle->heating = 0;
}

void pour(kettle_t *kettle) {
    if (kettle->level > 0)
        kettle->level--;
}

int main(void) {
    const int tables[] = {2, 1, 2, 1, 2, 2};
    kettle_t kettle = {0};
    fill(&kettle, 4);
    for (int table = 0; table < 6; table++) {
        if (kettle.level == 1)
            fill(&kettle, 4);
        heat(&kettle);
        off(&kettle);
        for (int guest = 0; guest < tables[table]; guest++)
            pour(&kettle);
        printf("table %d is served\n", table + 1);
    }
    return 0;
}
