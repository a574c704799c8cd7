# SPDX-License-Identifier: GPL-2.0
#
# Makefile - the verbs.  "make help" explains them; Kbuild lists the objects.

# Kernel to build for: the directory with its headers
KDIR	?= /lib/modules/$(shell uname -r)/build
# Kernel of the laboratory: 6.1, 6.12, 7.2, debug or kcsan
K	?= 6.12
# Warnings of the kernel's build, sparse (C=1), one object instead of all
W	?= 1
C	?=
OBJ	?=
# Of check-long: one of thirteen parts, and the time it may take
SHARD	?= 1/13
BUDGET	?= 80m
# Unresolved symbols are warnings (WARN=1)
WARN	?=
PREFIX	?= /usr/local
DESTDIR	?=
FUZZ	?= clc
T	?= 60

vm	:= selftests/vm
kbuild	 = $(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(C),C=$(C))
# one line: #define UTS_RELEASE "6.12.1"
release	 = $(KDIR)/include/generated/utsrelease.h

.PHONY: all module tools install modules_install uninstall clean \
	lab unit fuzz coverage vm shell demo bench bench-compare bench-plots \
	check check-static check-long ci kselftest setup help deb rpm \
	check-packages
all: module tools

module:
	@test -e $(KDIR)/Makefile || { \
	  echo "No kernel headers in $(KDIR)."; \
	  echo "Install them (Debian: linux-headers-$$(uname -r)), name others"; \
	  echo "(make KDIR=...), or compile in the laboratory (make lab)."; \
	  exit 1; }
	+$(kbuild) W=$(W) KBUILD_MODPOST_WARN=$(WARN) $(or $(OBJ),modules)

tools:
	$(MAKE) -C tools

# Modules go to updates/, which depmod prefers to the kernel's own smc.ko.  The
# kernel's rule leaves depmod out where there is no System.map, as in packages of
# headers.
install: modules_install
	$(MAKE) -C tools install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)

modules_install:
	$(kbuild) INSTALL_MOD_DIR=updates \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install
	$(if $(DESTDIR),,depmod -a $$(sed 's/.*"\(.*\)"/\1/' $(release)))

# Each kernel that had them: depmod lists what is gone no more.
uninstall:
	$(MAKE) -C tools uninstall PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	@for dir in $(DESTDIR)/lib/modules/*/updates; do \
		ls "$$dir" 2>/dev/null | grep -Eq '^smc(_diag)?\.ko' || continue; \
		echo "rm -f $$dir/smc.ko* $$dir/smc_diag.ko*"; \
		rm -f "$$dir"/smc.ko* "$$dir"/smc_diag.ko*; \
		kernel=$${dir%/updates}; \
		$(if $(DESTDIR),:,depmod -a "$${kernel##*/}"); \
	done

clean:
	@test ! -e $(KDIR)/Makefile || $(kbuild) clean
	$(MAKE) -C tools clean
	$(MAKE) -C selftests/unit clean
	$(MAKE) -C selftests/fuzz clean
	cd selftests/smc && rm -f $$(grep -v -e '#' -e net.config .gitignore) \
		*.a *.o lib/*.o

# Debian packages for SUITE, or for all three, in deb/SUITE
deb:
	@sh $(vm)/deb.sh $(SUITE)

rpm:
	@sh $(vm)/rpm.sh

# --- tests -------------------------------------------------------------

setup:
	sh tools/dev/setup.sh

lab:
	@sh tools/dev/build.sh K=$(K) B=$(B) W=$(W) OBJ=$(OBJ) C=$(C) \
		WARN=$(WARN) $(MAKEOPTS) module

unit:
	@$(MAKE) -s -C selftests/unit $(if $(TESTS),TESTS="$(TESTS)")

fuzz:
	@$(MAKE) -C selftests/fuzz run FUZZ=$(FUZZ) T=$(T)

check-static:
	@sh tools/dev/static.sh $(CHECKS)

kselftest:
	@sh selftests/kselftest.sh -b $(TESTS)

vm:
	@sh $(vm)/run.sh -k $(K) $(TEST)

shell:
	@sh $(vm)/guest.sh -k $(K) -n $(or $(N),2)

demo:
	@sh $(vm)/demo.sh

bench:
	@sh $(vm)/bench.sh

bench-compare:
	@python3 $(vm)/bench-report.py compare $(A) $(B)

bench-plots:
	@python3 $(vm)/bench-page.py write $(FILE)

check:
	@K=$(K) sh tools/dev/check.sh check

check-packages:
	@sh $(vm)/sign-check.sh && sh $(vm)/deb-guest.sh && \
		sh $(vm)/deb-check.sh $(SUITE)

coverage:
	@sh tools/dev/coverage.sh $(TEST)

check-long:
	@SHARD=$(SHARD) BUDGET=$(BUDGET) sh tools/dev/check.sh long

ci:
	@sh .ci/run

define HELP
Build and install
  make [KDIR=DIR]        smc.ko, smc_diag.ko and the tools, for the running
                         kernel or the one whose headers are in DIR
  make install           modules to updates/, tools to PREFIX=/usr/local
  make uninstall, make clean
  make deb [SUITE=bookworm|trixie|forky]
                         packages smc-dkms and smc-tools in deb/SUITE, built
                         in clean roots; as root
  make rpm               the same in rpm/, tried with Debian's rpm and DKMS
Test; as root, everything needed is installed or made first
  make demo              two virtual machines, Redis and iperf3 over RDMA
  make check [K=6.1|7.2|debug]
                         unit tests, static checks, guest tests
  make ci                that, and other kernels and the debug kernel: the gate
  make check-long SHARD=1/13 BUDGET=80m
                         one of thirteen parts of what takes longer
One thing at a time
  make unit [TESTS=ring]                 tests of the pure files, in userspace
  make check-static [CHECKS="layers"]    build, layers, sizes, sparse, ...
  make fuzz FUZZ=clc|llc|cdc T=60
  make check-packages [SUITE=trixie]
                         signed modules load; programs use SMC after "apt
                         install", in guests; the packages are installed, the
                         kernel changes, they are purged: in clean roots
  make coverage [TEST=name]              lines of net/smc that tests reach
  make bench [ROWS=short]                instructions for messages, streams and
                                         connections: TCP, SMC, the kernel's own;
                                         and whose they are
  make bench-compare A=FILE B=FILE       what has changed between two of them
  make bench-plots FILE=FILE             the plots and tables of performance.rst
  make vm [TEST=name] [K=6.1|6.12|7.2|debug|kcsan]
                         guest tests, or one of them
  make kselftest [TESTS="sockopts *.smcd"]
                         the suites on this host, and against a second one
  make shell [K=6.12|debug] [N=2]        a prompt in guest A, B beside it
  make lab [K=6.1|6.12|7.2|debug|kcsan] [OBJ=net/smc/wire/ring.o] [C=2]
                         compile in the laboratory's root, for a look at
                         warnings on a host without kernel headers
endef
export HELP
help:
	@echo "$$HELP"
