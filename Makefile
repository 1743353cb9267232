# SPDX-License-Identifier: GPL-2.0-only
#
# What people type; the module's objects are in Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build

define help
  make modules     build memledger.ko, and memledger_kunit.ko where the kernel
                   has KUnit; KDIR=DIR is the kernel's build tree (default: the
                   running kernel's), LLVM=1 W=1 C=1 as for the kernel
  make tool        build the command tools/memledger
  make demo        boot a virtual machine and show memledger at work there
  make check       run the tests, on three kernels; ends on
                   "N passed, N failed, N skipped"
  make check-all   the same on all kernels, and what takes long: faults, races,
                   dkms, GKI's symbol lists; writes docs/compat.rst
  make kunit       run the KUnit suites in the virtual machine
  make selftests   run the kselftests in the virtual machine
  make soak        all storms at once beside readers, for SOAK_SECONDS (1200) on
                   the debug kernel; beside it the suite kcsan, with as much on
                   the kernel that finds races
  make coverage    which lines the tests run: a table into docs/testing.rst, and
                   what they do not into results/coverage
  make bench       measure in the virtual machine what memledger costs, and write
                   it into docs/performance.rst (15 minutes)
  make kmi         check what the module imports against GKI's symbol lists
  make lint        check style, documents and the rules of the tree
  make clean       remove what was built here; the cache of test kernels stays

Tests install the Debian packages they need when run as root, and else say
which. Test kernels are built on first use (5 to 15 minutes each on 2 cores) and
kept in the directory MEMLEDGER_CACHE, by default ~/.cache/memledger.
endef

help:
	$(info $(help))
	@:

modules:
	@[ -e $(KDIR)/Makefile ] || { \
		echo "$(KDIR) is no kernel build tree: install linux-headers-$$(uname -r), or give KDIR=DIR;"; \
		echo "KDIR=\$$(selftests/vm/build-kernel x86_64-6.12) builds for the test kernel"; \
		exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tool:
	$(MAKE) -C tools

demo:
	@selftests/vm/run -- /selftests/demo.sh

bench:
	@scripts/bench

soak:
	@SOAK_SECONDS=$${SOAK_SECONDS:-1200} scripts/check soak kcsan

coverage:
	@scripts/coverage

check:
	@scripts/check

check-all:
	@scripts/check --all

kunit selftests lint kmi:
	@scripts/check $@

clean:
	@[ ! -e $(KDIR)/Makefile ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	$(MAKE) -C tools clean

.PHONY: help modules tool demo bench soak coverage check check-all kunit \
	selftests lint kmi clean
