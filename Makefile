# SPDX-License-Identifier: GPL-2.0
#
# Makefile - the verbs.  "make help" lists them; Kbuild lists the objects.

# The kernel to build for: its headers.  Default: the running one.
KDIR ?= /lib/modules/$(shell uname -r)/build
# Kernel of the laboratory: 6.12, or debug
K ?= 6.12
W ?= 1
DESTDIR ?=

.PHONY: all module tools lab install modules_install clean help
all: module

module:
	@test -e $(KDIR)/Makefile || { \
	  echo "No kernel headers in $(KDIR): install them (Debian:"; \
	  echo "linux-headers-$$(uname -r)), say KDIR=..., or compile in the"; \
	  echo "laboratory: make lab"; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) W=$(W) $(if $(C),C=$(C)) \
		KBUILD_MODPOST_WARN=$(WARN) $(or $(OBJ),modules)

# Compile in the laboratory's Debian root: make lab [K=debug] [B=build-name]
# [OBJ=net/smc/ring.o] [WARN=1: unresolved symbols are warnings] [MAKEOPTS=-k]
lab:
	@sh tools/dev/build.sh K=$(K) B=$(B) W=$(W) OBJ=$(OBJ) C=$(C) \
		WARN=$(WARN) $(MAKEOPTS) module

modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_DIR=updates modules_install

clean:
	@test ! -e $(KDIR)/Makefile || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
