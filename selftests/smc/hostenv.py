# SPDX-License-Identifier: GPL-2.0
"""hostenv - the RDMA port of this host that the tests use, from the environment

NETIF is the network device it stands on and LOCAL_V4 an address that it serves;
without them those of the laboratory's guests.
"""
import glob
import os

NETIF = os.environ.get("NETIF", "lo")
LOCAL_V4 = os.environ.get("LOCAL_V4", "10.9.0.1")


def rdma_device():
    """the name of the RDMA device, as a file of its port says"""
    for path in glob.glob("/sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*"):
        try:
            with open(path, encoding="ascii") as f:
                if f.read().strip() == NETIF:
                    return path.split("/")[4]
        except OSError:         # a GID that is not in use
            pass
    raise AssertionError(f"no RDMA device on {NETIF}")
