"""Tests of the language and of the server: `python3 -m unittest` in this directory."""

import io
import json
import pathlib
import unittest
import unittest.mock

import invigil
from language import Mistake, Soup

HERE = pathlib.Path(__file__).parent


def load(name):
    return Soup((HERE / name).read_text(encoding="utf-8"), name)


def explore(program):
    """All configurations, the number of steps between them, and the configurations without any."""
    waiting = list(map(tuple, program.initial()))
    seen, steps, stuck = set(waiting), 0, []
    while waiting:
        config = waiting.pop()
        targets = [tuple(t) for action in program.actions(config) for t in program.execute(config, action)]
        steps += len(targets)
        if not targets:
            stuck.append(config)
        new = set(targets) - seen
        seen |= new
        waiting += new
    return seen, steps, stuck


class Programs(unittest.TestCase):
    def test_the_philosophers_starve_in_one_way(self):
        seen, steps, stuck = explore(load("philosophers.soup"))
        # None eats: each fork is on the table or in its owner's hand, 2³. One eats: 3 times the third fork, 2.
        self.assertEqual(len(seen), 8 + 3 * 2)
        self.assertEqual(stuck, [(1, 2, 3, False, False, False)])
        # Takes left: 3·2² where none eats, 3 where one does. Takes right: 3·2. Puts back: 3·2.
        self.assertEqual(steps, 12 + 3 + 6 + 6)

    def test_peterson_keeps_them_apart(self):
        program = load("peterson.soup")
        seen, steps, stuck = explore(program)
        self.assertEqual((len(seen), steps, stuck), (20, 34, []))
        self.assertFalse(any(program.evaluate('at1 == "in" and at2 == "in"', None, None, config) for config in seen))
        self.assertTrue(any(program.evaluate('at1 == "in" and at2 == "waits"', None, None, config) for config in seen))

    def test_a_lamp_may_break(self):
        program = load("lamp.soup")
        self.assertEqual(list(program.execute(["off"], "press")), [["on"], ["broken"]])
        self.assertEqual(program.actions(["broken"]), [])


class Language(unittest.TestCase):
    def test_effects_happen_at_once(self):
        program = Soup("var x = 1\nvar y = 2\n[swap] -> x := y, y := x")
        self.assertEqual(list(program.execute([1, 2], "swap")), [[2, 1]])

    def test_several_initial_values(self):
        self.assertEqual(Soup("var x = 1 | 2\nvar y = 3 | 4").initial(), [[1, 3], [1, 4], [2, 3], [2, 4]])

    def test_an_action_that_goes_wrong_is_a_fault(self):
        program = Soup("var x = 1\n[halve] 6 // x > 1 -> x := x - 1")
        self.assertEqual(program.actions([0]), ["halve"])
        (fault,) = program.execute([0], "halve")
        self.assertIsInstance(fault, invigil.Fault)
        self.assertIn("zero", fault)

    def test_expressions_see_the_step(self):
        program = Soup("var x = 1\n[up] -> x := x + 1")
        self.assertTrue(program.evaluate('x == was(x) + 1 and action == "up"', [1], "up", [2]))
        self.assertFalse(program.evaluate("x == was(x) + 1", [1], None, [1]))
        with self.assertRaisesRegex(Mistake, "nothing was before"):
            program.evaluate("was(x) == 1", None, None, [1])
        with self.assertRaisesRegex(Mistake, "no variable `z`"):
            program.evaluate("z", None, None, [1])

    def test_mistakes_say_where(self):
        for text, words in [
            ("", "needs a variable"),
            ("var x = 1\nx := 2", r"program:2: write `var NAME = VALUE`"),
            ("var x = 1\nvar x = 2", r"program:2: `x` must be declared once"),
            ("var x = 1\n[a] -> x := 1\n[a] -> x := 2", r"program:3: there are two commands `a`"),
            ("var x = 1\n[a] y -> x := 1", "no variable `y`; there are x"),
            ("var x = 1\n[a] -> y := 1", "sets no variable"),
            ("var x = 1\n[a] x === 1 -> x := 1", "is no expression"),
            ("var x = 1\n[a] __import__('os') -> x := 1", "has a Call, which the language has not"),
            ("var x = 1\n[a] ().__class__ -> x := 1", "which the language has not"),
            ("var x = " + "(" * 500 + "1" + ")" * 500, "is no expression"),
        ]:
            with self.subTest(text[:60]), self.assertRaisesRegex(Mistake, words):
                Soup(text)


def talk(language, *requests):
    """The answers to requests, which are numbered here."""
    lines = [json.dumps({"id": number, **request}) + "\n" for number, request in enumerate(requests, 1)]
    answers = io.StringIO()
    invigil.serve(language, lines, answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


class Minimal:
    """A minimal language."""

    name = "minimal"

    def initial(self):
        return [{"b": 1, "a": 2}]

    def actions(self, config):
        return ["stay"] if "b" in config else []

    def execute(self, config, action):
        return [{"a": 2, "b": 1}, invigil.Fault("torn")]


class Serving(unittest.TestCase):
    def test_configurations_are_sent_once(self):
        initial, steps = talk(Minimal(), {"ask": "initial"}, {"ask": "steps", "configs": [0]})
        self.assertEqual(initial["configs"], [[{"a": 2, "b": 1}]])
        self.assertEqual(steps["steps"], [[["stay", 0], ["stay", {"fault": "torn"}]]])

    def test_what_is_forgotten_is_sent_again(self):
        asks = {"ask": "initial"}, {"ask": "forget"}, {"ask": "actions", "configs": [[{"c": 0}]]}, {"ask": "initial"}
        *_, actions, initial = talk(Minimal(), *asks)
        self.assertEqual(actions["actions"], [[]])
        self.assertEqual(initial["configs"], [[{"a": 2, "b": 1}]])

    def test_only_what_there_is_is_offered(self):
        (hello,) = talk(Minimal(), {"ask": "hello", "protocol": 1})
        self.assertEqual((hello["protocol"], hello["name"], hello["can"]), (1, "minimal", ["steps"]))

    def test_a_failure_is_an_answer(self):
        with unittest.mock.patch("sys.stderr", io.StringIO()) as said:
            (answer,) = talk(Minimal(), {"ask": "evaluate", "expression": "x", "steps": [[None, None, [1]]]})
            self.assertIn("AttributeError", answer["error"])
            self.assertIn("Traceback", said.getvalue())
            (answer,) = talk(Minimal(), {"ask": "sing"})
            self.assertIn("`sing` is not known", answer["error"])

    def test_values_of_expressions(self):
        steps = [[None, None, [[3]]], [0, "up", [[4]]], [1, "up", 1]]
        (answer,) = talk(
            Soup("var x = 3\n[up] -> x := x + 1"), {"ask": "evaluate", "expression": "x > was(x)", "steps": steps}
        )
        self.assertEqual(answer["values"], [{"error": "an execution starts here, so nothing was before"}, True, False])


if __name__ == "__main__":
    unittest.main()
