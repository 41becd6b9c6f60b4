package app;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

public class Walk {
    static class Countdown implements Iterator<Integer> {
        private int left = 2;

        public boolean hasNext() {
            return left > 0;
        }

        public Integer next() {
            return left--;
        }
    }

    public static void main(String[] args) {
        List<String> names = new ArrayList<>(List.of("a", "b"));
        for (String name : names) {
            System.out.println(name);
        }
        Iterator<Integer> down = new Countdown();
        down.hasNext();
        down.next();
        down.next();
        Child child = new Child();
        child.speak("hello");
        new Parent().speak("unheard");
    }
}

class Parent {
    void speak(String words) {
    }
}

class Child extends Parent {
}
