# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the test scripts share: TAP output, the nodes, and processes to track.
# Sourced with $here as the script's directory.

# shellcheck disable=SC2154 # set by the script
for helpers in "$here/ktap_helpers.sh" "$here/../kselftest/ktap_helpers.sh" \
	"${KSRC:-/nowhere}/tools/testing/selftests/kselftest/ktap_helpers.sh"; do
	[ ! -e "$helpers" ] || break
done
[ -e "$helpers" ] || {
	echo "Bail out! no ktap_helpers.sh: install the selftests, or set KSRC"
	exit 1
}
# shellcheck source=/dev/null
. "$helpers"

# shellcheck disable=SC2034 # for the script
nodes=/sys/kernel/memledger
# shellcheck disable=SC2034
details=/sys/kernel/debug/memledger
scratch=$(mktemp -d)
# shellcheck disable=SC2034 # of ktap_helpers.sh
skipped=$KSFT_SKIP

skip_all()
{
	ktap_print_header
	ktap_skip_all "$*"
	exit "$skipped"
}

# Prints standard input as lines of comment.
comment()
{
	sed 's/^/# /'
}

[ "$(id -u)" = 0 ] || skip_all must be root
grep -q ' /sys/kernel/debug debugfs ' /proc/mounts ||
	mount -t debugfs debugfs /sys/kernel/debug ||
	skip_all no debugfs

# Starts a process to track, hold with the arguments given; its number is in
# $target, all of them in $targets.
targets=
start_hold()
{
	"$here/hold" "$@" > "$scratch/hold" &
	target=$!
	targets="$targets $target"
	while [ ! -s "$scratch/hold" ]; do
		kill -0 $target || exit 1
		sleep 0.01
	done
	rm "$scratch/hold"
}

start_target()
{
	start_hold 200000
}

end_targets()
{
	for target in $targets; do
		kill -9 "$target"
		wait "$target"
	done 2> /dev/null
	targets=
}
