# SPDX-License-Identifier: GPL-2.0
"""traced - how often a trace event of the module has told a reason

smc_state tells why a connection has ended, smc_link_state why a link has, and
smc_hs_step what a step of a handshake has come to.
"""
TRACING = "/sys/kernel/tracing/"


def put(name, text):
    with open(TRACING + name, "w", encoding="ascii") as f:
        f.write(text)


class Traced:
    """an event, which is traced as long as this is a context"""
    def __init__(self, event):
        self.event = event

    def __enter__(self):
        # not the names of commands: that patches the scheduler
        put("options/record-cmd", "0")
        put("trace", "")
        put(f"events/smc/{self.event}/enable", "1")
        return self

    def __exit__(self, *_):
        put(f"events/smc/{self.event}/enable", "0")

    def count(self, what, reason):
        """its lines so far that have @what in them, and end with the reason"""
        with open(TRACING + "trace", encoding="ascii") as f:
            return sum(f" {self.event}: " in x and f" {what} " in x and
                       x.endswith(f" {reason}\n") for x in f)
