#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo: starts the app stand-in, shows its memory as memledger tells it, by
# category, and whether that is what the kernel's own smaps says. Fails if not.
set -u

here=$(dirname "$0")
nodes=/sys/kernel/memledger

# A program beside this script, or where it was built.
find_program()
{
	for path in "$here/$1" "$here/../$1"; do
		if [ -x "$path" ]; then
			echo "$path"
			return
		fi
	done
	echo "demo: no $1 beside $0: build the selftests" >&2
	exit 1
}

app=$(find_program app) && smaps_equal=$(find_program smaps_equal) || exit 1
[ -e $nodes/track ] || {
	echo "demo: no $nodes: load memledger.ko first" >&2
	exit 1
}

ready=$(mktemp)
"$app" > "$ready" &
pid=$!
trap 'kill $pid 2>/dev/null; rm -f "$ready"' EXIT
while [ ! -s "$ready" ]; do
	kill -0 $pid 2>/dev/null || {
		echo "demo: the app stand-in died" >&2
		exit 1
	}
	sleep 0.1
done

echo "\$ memledger meminfo -d $pid"
if ! command -v memledger > /dev/null || ! memledger meminfo -d $pid; then
	echo $pid > $nodes/track
	cat /sys/kernel/debug/memledger/processes/$pid/meminfo
	echo $pid > $nodes/untrack
fi

echo
echo "\$ echo $pid > $nodes/track"
echo $pid > $nodes/track || exit 1
echo "\$ cd $nodes/processes/$pid && grep -r . category summary   # some of it"
(
	cd $nodes/processes/$pid || exit 1
	grep -r . category summary 2>/dev/null |
		grep -E '/(pss|rss|private_dirty|swap_pss):|^summary' |
		grep -v ':0$' | sort
)

echo
echo "\$ smaps_equal $pid"
"$smaps_equal" $pid
equal=$?
echo $pid > $nodes/untrack
exit $equal
