# SPDX-License-Identifier: GPL-2.0
"""planted - the parameters of a module of the tests (selftests/vm/planted)"""
from cases import Skip


class Planted:
    """the module, which is loaded"""
    def __init__(self, name):
        self.dir = f"/sys/module/{name}/parameters/"

    def write(self, name, value):
        with open(self.dir + name, "w", encoding="ascii") as f:
            f.write(str(value))

    def read(self, name):
        with open(self.dir + name, encoding="ascii") as f:
            return f.read().strip()

    def number(self, name):
        return int(self.read(name))


def pauses(point):
    """the module of that name, with a pause to come ("go": none); a case that
    needs it is skipped where it is not loaded"""
    module = Planted("pauses")
    try:
        module.write("at", point)
    except FileNotFoundError as e:
        raise Skip("no module pauses") from e
    return module
