// A league table. A player is found by name; points are awarded to the player found.

#include <cstdio>
#include <string>
#include <vector>

struct Player {
    std::string name;
    int points = 0;
};

class League {
public:
    // The reserve hides the bug: as long as eight players are enough, the vector does not move.
    League() { players.reserve(8); }

    Player *find(const char *name) {
        for (Player &player : players)
            if (player.name == name)
                return &player;
        return nullptr;
    }

    void join(const char *name) { players.push_back({name}); }

    void award(Player *player, int points) { player->points += points; }

    void print() const {
        for (const Player &player : players)
            std::printf("%-4s %d\n", player.name.c_str(), player.points);
    }

private:
    std::vector<Player> players;
};

int main() {
    League league;
    league.join("ada");
    league.join("bob");

    Player *ada = league.find("ada");
    league.award(ada, 3);

    Player *bob = league.find("bob");
    league.join("cyd");     // may move all players
    league.award(bob, 1);   // through the old pointer

    league.print();
}
