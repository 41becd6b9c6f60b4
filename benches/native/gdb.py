# A monitor as a user of GDB would write it: breakpoints whose `stop` says that the program goes on.
# What to watch is in the environment: WATCH is raw, property, read_var or parse_and_eval. How often the
# breakpoint was hit goes to the file HITS, with the steps that the automaton took.
import os
import gdb

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set startup-with-shell off")


class Slice:
    def __init__(self):
        self.state = "init"
        self.env = {"N": 0}


def guard(env, params):
    return env["N"] >= 0


def update(env, params):
    env["N"] = env["N"] + 1


# state -> event -> guard, update, end if it holds, end if not
AUTOMATON = {"init": {"tick": (guard, update, "init", "sink")}, "sink": {}}
ACCEPTING = {"init"}
slices = {}
steps = 0


def step(key, event, params):
    global steps
    slice = slices.get(key)
    if slice is None:
        slice = slices[key] = Slice()
    transition = AUTOMATON[slice.state].get(event)
    if transition is not None:
        guard, update, success, failure = transition
        if guard(slice.env, params):
            update(slice.env, params)
            slice.state = success
        else:
            slice.state = failure
        steps += 1
    return slice.state not in ACCEPTING


# GDB does not count hits after which the program goes on.
class Raw(gdb.Breakpoint):
    hits = 0

    def stop(self):
        self.hits += 1
        return False


class Property(Raw):
    def stop(self):
        self.hits += 1
        return step(None, "tick", {})


class ReadVar(Raw):
    def stop(self):
        self.hits += 1
        value = int(gdb.selected_frame().read_var("value"))
        return step(value, "tick", {"value": value})


class ParseAndEval(Raw):
    def stop(self):
        self.hits += 1
        value = int(gdb.parse_and_eval("value"))
        return step(value, "tick", {"value": value})


kinds = {"raw": Raw, "property": Property, "read_var": ReadVar, "parse_and_eval": ParseAndEval}
point = kinds[os.environ["WATCH"]]("tick")
gdb.execute("run")
with open(os.environ["HITS"], "w") as out:
    out.write("%d %d\n" % (point.hits, steps))
