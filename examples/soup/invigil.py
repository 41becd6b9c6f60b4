"""Serve a language to Invigil: the server side of the protocol of `docs/remote.md`.

A language is an object with these methods. Configurations and actions are any values that JSON has: lists,
dictionaries, strings, numbers, booleans, None. Two configurations are the same if their JSON is. A tuple comes
back as a list.

    name                    what the language is called: a text, not a method
    initial()               the configurations that an execution may start in
    actions(config)         the actions enabled in a configuration
    execute(config, action) the configurations that an action leads to, or `Fault`s

and, if it has them,

    steps(config)           pairs of an action and a configuration it leads to; else made of the two above
    evaluate(expression, source, action, target)
                            whether an expression, a text, is true of a step; the source and the action are None
                            for the step by which an execution starts, the action alone for one in which another
                            subject moved. `ValueError` says why there is no value
    accepting(config)       whether a configuration is accepting
    describe(config)        pairs of a name and a value, both text: the same names for all configurations
    describe_action(action) an action in a few words

Then `main(language)` serves it on the standard streams, and `main(language, "unix:PATH")` or `"tcp:PORT"` on a socket.
"""

import json
import os
import socket
import sys
import traceback

PROTOCOL = 1
CACHE = 100_000  # The approximate number of configurations that are kept.


class Fault(str):
    """Outcome of an action that fails, with the reason."""


# One text for each value, so that equal configurations are recognised.
dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Server:
    """Answers requests one after the other. Configurations are numbered when they are first transferred, in either direction."""

    def __init__(self, language):
        self.language = language
        self.values = []
        self.numbers = {}

    def read(self, written):
        """Returns the configuration in a request: by number, by value in a list, or none."""
        if written is None:
            return None
        if isinstance(written, list):
            (value,) = written
            self.remember(dumps(value), value)
            return value
        return self.values[written]

    def write(self, config):
        """Returns the JSON of a configuration in an answer: its number if it has one."""
        if isinstance(config, Fault):
            return dumps({"fault": str(config)})
        text = dumps(config)
        number = self.numbers.get(text)
        if number is not None:
            return str(number)
        self.remember(text, config)
        return f"[{text}]"

    def remember(self, text, value):
        self.numbers[text] = len(self.values)
        self.values.append(value)

    def steps_of(self, config):
        if hasattr(self.language, "steps"):
            return self.language.steps(config)
        actions = list(self.language.actions(config))
        return [(action, target) for action in actions for target in self.language.execute(config, action)]

    def value_of(self, expression, step):
        try:
            return bool(self.language.evaluate(expression, *step))
        except ValueError as error:
            return {"error": str(error)}

    def answer(self, request):
        """Returns the fields of an answer: a name and the JSON of a value each."""
        language, ask = self.language, request["ask"]
        configs = [self.read(written) for written in request.get("configs", [])]
        if ask == "hello":
            can = [name for name in ("evaluate", "accepting", "describe") if hasattr(language, name)]
            yield "protocol", dumps(PROTOCOL)
            yield "name", dumps(language.name)
            yield "can", dumps(["steps", *can])
            yield "cache", dumps(CACHE)
        elif ask == "forget":
            self.values.clear()
            self.numbers.clear()
        elif ask == "initial":
            yield "configs", array(self.write(config) for config in language.initial())
        elif ask == "actions":
            yield "actions", dumps([list(language.actions(config)) for config in configs])
        elif ask == "execute":
            pairs = [(self.read(config), action) for config, action in request["pairs"]]
            yield "targets", array(array(map(self.write, language.execute(*pair))) for pair in pairs)
        elif ask == "steps":
            step = lambda step: f"[{dumps(step[0])},{self.write(step[1])}]"
            yield "steps", array(array(map(step, self.steps_of(config))) for config in configs)
        elif ask == "evaluate":
            steps = [(self.read(source), action, self.read(target)) for source, action, target in request["steps"]]
            yield "values", dumps([self.value_of(request["expression"], step) for step in steps])
        elif ask == "accepting":
            yield "accepting", dumps([bool(language.accepting(config)) for config in configs])
        elif ask == "describe":
            yield "configs", dumps([list(language.describe(config)) for config in configs])
            yield "actions", dumps([language.describe_action(action) for action in request.get("actions", [])])
        else:
            raise ValueError(f"`{ask}` is not known")

    def line(self, line):
        """Returns the answer to a line."""
        request = json.loads(line)
        fields = [("id", dumps(request["id"]))]
        try:
            fields += self.answer(request)
        except Exception as error:
            traceback.print_exc()  # To standard error, for the author of the language.
            fields.append(("error", dumps(f"{type(error).__name__}: {error}")))
        return "{" + ",".join(f'"{name}":{value}' for name, value in fields) + "}\n"


def array(texts):
    return "[" + ",".join(texts) + "]"


def serve(language, requests, answers):
    """Answers until there are no more requests."""
    server = Server(language)
    for line in requests:
        answers.write(server.line(line))
        answers.flush()


def main(language, listen=None):
    """Serves the language on the standard streams, or on a socket to one client after the other."""
    if listen is None:
        answers = sys.stdout
        sys.stdout = sys.stderr  # Output of the language must not be mistaken for an answer.
        serve(language, sys.stdin, answers)
        return
    kind, _, place = listen.partition(":")
    if kind == "unix":
        if os.path.exists(place):
            os.unlink(place)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(place)
        listener.listen()
    else:
        listener = socket.create_server(("127.0.0.1", int(place)))
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("r", encoding="utf-8") as requests:
            with connection.makefile("w", encoding="utf-8") as answers:
                serve(language, requests, answers)
