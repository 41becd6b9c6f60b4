/* Solves a sudoku by backtracking: tries the values that the rules allow in each empty cell. */
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    char cell[9][9];
    char title[16];
} board_t;

/* A puzzle as in a file: nine lines with their line ends. */
typedef struct {
    char cell[9][10];
} lines_t;

#ifdef FIXED
typedef board_t given_t;
#else
typedef lines_t given_t;
#endif

static const char puzzle[] =
    "53..7....\n"
    "6..195...\n"
    ".98....6.\n"
    "8...6...3\n"
    "4..8.3..1\n"
    "7...2...6\n"
    ".6....28.\n"
    "...419..5\n"
    "....8..79\n";

/* Returns whether the rules allow a value in a cell, whatever its current value. */
int board_allows(const board_t *board, int row, int column, int value) {
    for (int i = 0; i < 9; i++) {
        int box_row = row / 3 * 3 + i / 3, box_column = column / 3 * 3 + i % 3;
        if ((i != column && board->cell[row][i] == value) || (i != row && board->cell[i][column] == value))
            return 0;
        if ((box_row != row || box_column != column) && board->cell[box_row][box_column] == value)
            return 0;
    }
    return 1;
}

/* Writes a given value of the puzzle into its cell. */
void board_given(board_t *board, int row, int column, int value) {
    given_t *given = (given_t *)board;
    given->cell[row][column] = value;
}

/* Writes a value into a cell while the board is being solved; 0 clears the cell. */
void board_set(board_t *board, int row, int column, int value) {
    board->cell[row][column] = value;
}

/* Reads a puzzle. Returns 0 if its values break the rules. */
int board_load(board_t *board, const char *text) {
    for (int row = 0; row < 9; row++)
        for (int column = 0; column < 9; column++) {
            char c = text[10 * row + column];
            if (c != '.')
                board_given(board, row, column, c - '0');
        }
    for (int row = 0; row < 9; row++)
        for (int column = 0; column < 9; column++) {
            int value = board->cell[row][column];
            if (value && !board_allows(board, row, column, value))
                return 0;
        }
    return 1;
}

static int solve_from(board_t *board, int at) {
    int row = at / 9, column = at % 9;
    if (at == 81)
        return 1;
    if (board->cell[row][column])
        return solve_from(board, at + 1);
    for (int value = 1; value <= 9; value++)
        if (board_allows(board, row, column, value)) {
            board_set(board, row, column, value);
            if (solve_from(board, at + 1))
                return 1;
            board_set(board, row, column, 0);
        }
    return 0;
}

/* Fills the empty cells. Returns 0 if that is impossible. */
int board_solve(board_t *board) {
    return solve_from(board, 0);
}

int main(void) {
    board_t *board = calloc(1, sizeof(board_t));
    if (!board_load(board, puzzle)) {
        puts("this is no sudoku");
        return 1;
    }
    if (!board_solve(board)) {
        puts("there is no solution");
        return 1;
    }
    for (int row = 0; row < 9; row++) {
        for (int column = 0; column < 9; column++)
            putchar('0' + board->cell[row][column]);
        putchar('\n');
    }
    free(board);
    return 0;
}
