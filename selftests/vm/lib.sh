# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What build-kernel and run share: where the cache is, which kernels there are,
# and how progress and failures are told.
# shellcheck disable=SC2034 # set here, used there

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
cache=${MEMLEDGER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memledger}
jobs=${JOBS:-$(nproc)}
export CCACHE_DIR=$cache/ccache
# A make that runs us has options and targets of its own.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

say()
{
	echo "${0##*/}: $*" >&2
}

die()
{
	say "$@"
	exit "${die_status:-1}"
}

# Sets arch, package, objects and configs from the line of kernel $1.
find_kernel()
{
	local name

	while read -r name arch package objects configs; do
		[ "$name" != "$1" ] || return 0
	done < <(grep -v '^#' "$vm_dir/kernels")
	die "no kernel is called '$1'; there are" \
		"$(awk '!/^#/ { print $1 }' "$vm_dir/kernels" | xargs)"
}

# Sets qemu, image (below the build directory) and kernel arguments for $arch.
find_machine()
{
	case $arch in
	x86_64)
		image=arch/x86/boot/bzImage
		# The firmware's table of processors has one a socket.
		qemu=(qemu-system-x86_64 -M pc -cpu max
			-smp "2,sockets=2,cores=1,threads=1")
		# A busy host delivers the timer too late for the kernel's check.
		arguments="no_timer_check tsc=reliable"
		console=ttyS0
		ports=(ttyS1 ttyS2 ttyS3)
		;;
	*)
		die "no machine is described for architecture '$arch'"
		;;
	esac
}

# The compiler, through ccache where that is installed.
find_compiler()
{
	cc=gcc
	! command -v ccache >/dev/null || cc="ccache gcc"
}

# Takes the lock $1 on descriptor 9 and says so where that means waiting.
lock()
{
	mkdir -p "$(dirname "$1")"
	exec 9>"$1"
	flock -n 9 || { say "waiting for another run ($1)"; flock 9; }
}
