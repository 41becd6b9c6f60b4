"""Soup: a small language of guarded commands. `README.md` describes its syntax, the class `Soup` implements its semantics."""

import argparse
import ast
import re
import sys

import invigil

# The allowed parts of a Python expression: no calls, attributes, or anything that might not terminate.
ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.IfExp, ast.Name,
    ast.Load, ast.Constant,
)
VARIABLE = re.compile(r"var\s+([A-Za-z_]\w*)\s*=\s*(.+)")
COMMAND = re.compile(r"\[([^\]]+)\](.*?)->(.*)")
SET = re.compile(r"\s*([A-Za-z_]\w*)\s*:=(.*)")


class Mistake(ValueError):
    """An error in a program or an expression, with its position."""


class Was(ast.NodeTransformer):
    """Turns `was(x)` into a name that no variable can have."""

    def visit_Call(self, node):
        match node:
            case ast.Call(func=ast.Name("was"), args=[ast.Name(name)], keywords=[]):
                return ast.copy_location(ast.Name(f"was {name}", ast.Load()), node)
        return node


def compiled(text, names, where):
    """Compiles an expression over these names."""
    text = text.strip()
    try:
        tree = ast.fix_missing_locations(Was().visit(ast.parse(text, mode="eval")))
        for node in ast.walk(tree):
            if not isinstance(node, ALLOWED):
                raise Mistake(f"{where}: `{text}` has a {type(node).__name__}, which the language has not")
            if isinstance(node, ast.Name) and node.id not in names:
                raise Mistake(f"{where}: there is no variable `{node.id}`; there are {', '.join(sorted(names))}")
        return compile(tree, where, "eval")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise Mistake(f"{where}: `{text}` is no expression: {error}") from None


def value(code, names):
    return eval(code, {"__builtins__": {}}, names)


class Soup:
    """A program. A configuration is the list of the variables' values; an action is the name of a command."""

    name = "soup"

    def __init__(self, text, file="program"):
        self.variables = {}  # The initial values of each, by name.
        self.commands = {}  # The guard of each and its outcomes: pairs of a variable's index and an expression.
        self.expressions = {}
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            where = f"{file}:{number}"
            if match := VARIABLE.fullmatch(line):
                name, values = match.groups()
                if self.commands or name in self.variables:
                    raise Mistake(f"{where}: `{name}` must be declared once, before the commands")
                self.variables[name] = [value(compiled(v, (), where), {}) for v in values.split("|")]
            elif match := COMMAND.fullmatch(line):
                name, guard, outcomes = (part.strip() for part in match.groups())
                if name in self.commands:
                    raise Mistake(f"{where}: there are two commands `{name}`")
                guard = compiled(guard or "True", self.variables, where)
                self.commands[name] = guard, [self.outcome(o, where) for o in outcomes.split("|")]
            elif line:
                raise Mistake(f"{where}: write `var NAME = VALUE` or `[NAME] GUARD -> VARIABLE := VALUE, …`")
        if not self.variables:
            raise Mistake(f"{file}: a program needs a variable: write `var NAME = VALUE`")

    def outcome(self, text, where):
        """Returns the assignments of an effect."""
        places, effects = list(self.variables), []
        for part in text.split(","):
            match = SET.fullmatch(part)
            if not match or match[1] not in places:
                raise Mistake(f"{where}: `{part.strip()}` sets no variable: write `VARIABLE := VALUE`")
            effects.append((places.index(match[1]), compiled(match[2], self.variables, where)))
        return effects

    def initial(self):
        configs = [[]]
        for values in self.variables.values():
            configs = [config + [value] for config in configs for value in values]
        return configs

    def actions(self, config):
        names = dict(zip(self.variables, config))
        return [name for name, (guard, _) in self.commands.items() if self.holds(guard, names)]

    @staticmethod
    def holds(guard, names):
        try:
            return value(guard, names)
        except (ArithmeticError, TypeError):
            return True  # Executing it reports the error.

    def execute(self, config, action):
        names = dict(zip(self.variables, config))
        guard, outcomes = self.commands[action]
        for effects in outcomes:
            target = list(config)
            try:
                value(guard, names)
                for place, code in effects:
                    target[place] = value(code, names)
            except (ArithmeticError, TypeError) as error:
                target = invigil.Fault(f"[{action}]: {error}")
            yield target

    def evaluate(self, expression, source, action, target):
        if expression not in self.expressions:
            names = ["action", *self.variables, *(f"was {name}" for name in self.variables)]
            self.expressions[expression] = compiled(expression, names, "expression")
        names = dict(zip(self.variables, target), action=action)
        names |= {f"was {name}": before for name, before in zip(self.variables, source or [])}
        try:
            return value(self.expressions[expression], names)
        except NameError:
            raise Mistake("an execution starts here, so nothing was before") from None
        except (ArithmeticError, TypeError) as error:
            raise Mistake(str(error)) from None

    def describe(self, config):
        return [(name, str(value)) for name, value in zip(self.variables, config)]

    def describe_action(self, action):
        return action


def main():
    parser = argparse.ArgumentParser(description="Serve a soup to Invigil.")
    parser.add_argument("program", help="a .soup file")
    parser.add_argument("--listen", metavar="ADDRESS", help="unix:PATH or tcp:PORT instead of the standard streams")
    arguments = parser.parse_args()
    try:
        with open(arguments.program, encoding="utf-8") as file:
            program = Soup(file.read(), arguments.program)
    except (OSError, Mistake) as error:
        sys.exit(str(error))
    invigil.main(program, arguments.listen)


if __name__ == "__main__":
    main()
