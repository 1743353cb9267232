# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What build-kernel and run share: where the cache is, which kernels there are,
# and how progress and failures are told.
# shellcheck disable=SC2034 # set here, used there

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
# Tells the checkouts apart that share the cache.
checkout=$(echo "$top" | sha256sum | cut -c 1-8)
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

# Sets arch, package, objects and configs from the line of kernel $1, and stock
# where it is one of Debian's as it is.
find_kernel()
{
	local name

	while read -r name arch package objects configs; do
		[ "$name" = "$1" ] || continue
		stock=
		case $package in linux-image-*) stock=1 ;; esac
		return 0
	done < <(grep -v '^#' "$vm_dir/kernels")
	die "no kernel is called '$1'; there are" \
		"$(awk '!/^#/ { print $1 }' "$vm_dir/kernels" | xargs)"
}

# Sets qemu, image (below the build directory), kernel arguments and the devices
# of the ports for stdout, stderr and the verdict, for $arch.
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
	arm64)
		image=arch/arm64/boot/Image
		# QEMU's own algorithm for pointer authentication is ten times
		# as fast as the architecture's.
		qemu=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on"
			-smp 2)
		arguments=
		console=ttyAMA0
		ports=(vport0p1 vport0p2 vport0p3)
		;;
	*)
		die "no machine is described for architecture '$arch'"
		;;
	esac
	[ -z "$stock" ] || image=vmlinuz
}

# Sets port_arguments, which have QEMU write what comes out of the ports to files
# of their names in directory $1.
connect_ports()
{
	local name nr=0

	port_arguments=()
	[ "$arch" != arm64 ] ||
		port_arguments=(-device virtio-serial-device)
	for name in out err verdict; do
		nr=$((nr + 1))
		if [ "$arch" = arm64 ]; then
			port_arguments+=(-chardev "file,id=$name,path=$1/$name"
				-device "virtserialport,chardev=$name,nr=$nr")
		else
			port_arguments+=(-serial "file:$1/$name")
		fi
	done
}

# Sets what to tell kbuild, and the prefix of the tools that make programs. The
# kernel's compiler is used through ccache where that is installed.
find_compiler()
{
	local ccache=

	! command -v ccache >/dev/null || ccache="ccache "
	case $arch in
	x86_64)
		compiler=gcc
		kmake_arguments=(ARCH="$arch" CC="$ccache$compiler")
		cross=
		;;
	arm64)
		# As GKI is built; with GNU's compiler comes a C library, and
		# it is what Debian builds with.
		compiler=clang-19
		kmake_arguments=(ARCH="$arch" LLVM=-19 CC="$ccache$compiler")
		cross=aarch64-linux-gnu-
		[ -z "$stock" ] || kmake_arguments=(ARCH="$arch"
			CROSS_COMPILE="$cross" CC="$ccache${cross}gcc")
		;;
	esac
}

# Takes the lock $1 on descriptor 9 and says so where that means waiting.
lock()
{
	mkdir -p "$(dirname "$1")"
	exec 9>"$1"
	flock -n 9 || { say "waiting for another run ($1)"; flock 9; }
}
