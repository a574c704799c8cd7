# SPDX-License-Identifier: GPL-2.0
"""planted - the parameters of a module of the tests (selftests/vm/planted)"""


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
