#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# lifecycle.sh [ROUNDS]: loads and unloads the module, in ROUNDS rounds (100)
# with one target, in 5 or fewer while whatever may hold it does. The module is
# $MEMLEDGER_KO; it is loaded again in the end if it was in the beginning.

here=$(dirname "$0")
# shellcheck source=selftests/helpers.sh
. "$here/helpers.sh"

rounds=${1:-100}
few=$((rounds < 5 ? rounds : 5))
for ko in "${MEMLEDGER_KO:-}" /lib/memledger/memledger.ko \
	"$here/../memledger.ko"; do
	[ ! -f "$ko" ] || break
done
[ -f "$ko" ] || skip_all no memledger.ko: set MEMLEDGER_KO
leaks=/sys/kernel/debug/kmemleak
kprobes=/sys/kernel/debug/kprobes/list

is_loaded()
{
	[ -e $nodes ]
}

# A kernel that releases kobjects late has the names of drivers taken meanwhile.
load()
{
	tries=0
	while ! insmod "$ko"; do
		tries=$((tries + 1))
		[ $tries -lt 30 ] || return 1
		sleep 1
	done
	is_loaded
}

# Nothing of it may be left.
unload()
{
	rmmod memledger && ! is_loaded && [ ! -e $details ] &&
		! grep -q '^memledger ' /proc/modules
}

# Reads every file that can be read; what the reads say does not matter here.
read_all()
{
	find $nodes $details -type f -perm -0400 -exec cat {} + \
		> /dev/null 2>&1
	:
}

# The same numbers in few files: on a debug kernel 500 a target take long.
read_few()
{
	for target in $targets; do
		cat "$nodes/processes/$target/record" \
			"$nodes/processes/$target/total/pss" \
			"$details/processes/$target/meminfo" \
			"$details/processes/$target/vmas" > /dev/null ||
			return 1
	done
}

track_all()
{
	for target in $targets; do
		echo "$target" > $nodes/track || return 1
	done
}

# $1: rounds, $2: targets, $3: what to read
load_track_read_unload()
{
	i=0
	while [ $i -lt "$2" ]; do
		start_target
		i=$((i + 1))
	done
	i=0
	while [ $i -lt "$1" ]; do
		load && track_all && $3 || return 1
		# The snapshot is a true one each time.
		[ "$(cat "$nodes/processes/$target/complete")" = 1 ] || return 1
		unload || return 1
		i=$((i + 1))
	done
	end_targets
}

with_dead_targets()
{
	start_target
	start_target
	load && track_all && read_all || return 1
	end_targets
	read_all
	unload
}

# The file stays open on descriptor 3. Either the module stays, or it goes and
# leaves a file that can be read no more.
with_open_file()
{
	start_target
	load && track_all || return 1
	exec 3< "$(echo "$1" | sed "s/TGID/$target/")"
	if rmmod memledger 2> /dev/null; then
		! cat <&3 > /dev/null 2>&1 || return 1
		exec 3<&-
		! is_loaded || return 1
	else
		cat <&3 > /dev/null || return 1
		exec 3<&-
		unload || return 1
	fi
	end_targets
}

# Passes over all processes, one after the other; as above for the rest.
refresh_dmabufs()
{
	echo 1 > $nodes/dmabuf/refresh
	cat $nodes/dmabuf/count $details/dmabuf > /dev/null
	:
} 2> /dev/null

# A reader, $1, may hold it at any moment; in the end it must go.
while_read()
{
	start_target
	load && track_all || return 1
	(while [ ! -e "$scratch/enough" ]; do $1; done) &
	reader=$!
	sleep 1
	tries=0
	until rmmod memledger 2> /dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 2000 ] || return 1
	done
	: > "$scratch/enough"
	wait $reader || return 1
	rm "$scratch/enough"
	end_targets
	! is_loaded
}

# It goes while processes that it watches do.
while_exiting()
{
	i=0
	while [ $i -lt $few ]; do
		while [ "$(echo "$targets" | wc -w)" -lt 4 ]; do
			start_hold 10
		done
		load && track_all || return 1
		# shellcheck disable=SC2086 # a list
		kill -9 $targets &
		unload || return 1
		wait $!
		end_targets
		i=$((i + 1))
	done
}

twice()
{
	load || return 1
	! insmod "$ko" 2> /dev/null && unload
}

# It goes while probes are hit, and takes them along. On one CPU: QEMU before 8.1
# may translate an instruction while another CPU changes it, and keep what was
# there; a breakpoint that is gone then is hit for ever, and nobody knows it.
while_capturing()
{
	cpus=$(taskset -p $$ | sed 's/.*: //')
	taskset -p 1 $$ > "$scratch/taskset" 2>&1 || return 1
	start_hold 200000 map
	i=0
	while [ $i -lt $few ]; do
		cat $kprobes > "$scratch/kprobes"
		load && track_all && echo 1 > $nodes/owner_capture &&
			echo 1 > "$nodes/processes/$target/capture" || return 1
		grep -q sys_mmap $kprobes || return 1
		head -n 1 "$details/processes/$target/owners" |
			grep -q 'capture: on' || return 1
		unload && cmp -s $kprobes "$scratch/kprobes" || return 1
		i=$((i + 1))
	done
	# And the process noticed nothing.
	kill -0 "$target" || return 1
	end_targets
	taskset -p "$cpus" $$ > "$scratch/taskset" 2>&1
}

# Objects that nothing points to any more, after two scans of all memory.
no_leaks()
{
	sleep 6
	for _ in 1 2; do
		echo scan > $leaks || return 1
	done
	grep -A 20 memledger $leaks | comment
	! grep -q memledger $leaks
}

was_loaded=
! is_loaded || was_loaded=1
trap 'end_targets; rm -rf "$scratch"
	[ -z "$was_loaded" ] || is_loaded || load' EXIT

ktap_print_header
ktap_set_plan 12
[ -z "$was_loaded" ] || unload ||
	ktap_exit_fail_msg cannot unload the module that was loaded
[ ! -e $leaks ] || echo clear > $leaks

ktap_test_result "load_track_read_unload_${rounds}_times" \
	load_track_read_unload "$rounds" 1 read_all
ktap_test_result 50_targets_a_few_times \
	load_track_read_unload $few 50 read_few
ktap_test_result with_dead_targets with_dead_targets
ktap_test_result with_open_sysfs_file \
	with_open_file $nodes/processes/TGID/total/rss
ktap_test_result with_open_debugfs_file \
	with_open_file $details/processes/TGID/vmas
ktap_test_result with_open_dmabuf_file with_open_file $details/dmabuf
ktap_test_result while_read while_read read_all
ktap_test_result while_dmabufs_are_read while_read refresh_dmabufs
if grep -q ' register_kretprobe$' /proc/kallsyms; then
	ktap_test_result while_capturing while_capturing
else
	ktap_test_skip "while_capturing: no kretprobes"
fi
ktap_test_result while_exiting while_exiting
ktap_test_result loaded_twice twice
if [ -e $leaks ]; then
	ktap_test_result no_leaks no_leaks
else
	ktap_test_skip "no_leaks: no kmemleak (CONFIG_DEBUG_KMEMLEAK)"
fi
ktap_finished
