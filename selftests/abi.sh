#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the tree under /sys with docs/ABI/testing: every documented file is
# there with its mode, there is no other, and each holds one value.

here=$(dirname "$0")
# shellcheck source=selftests/helpers.sh
. "$here/helpers.sh"

[ -e $nodes ] || skip_all no $nodes: is memledger.ko loaded?

# The documents whose names start so.
docs()
{
	for path in "$here/$1"* "$here/../docs/ABI/testing/$1"*; do
		[ ! -e "$path" ] || echo "$path"
	done
}

# The files that the ABI documents $1 describe, as "MODE PATH", for process $2.
# A word in capitals in a path stands for each of those that the text names
# behind "WORD is", either in a sentence or in a table; TGID for the process, and
# CARVEOUT for what the selftest carveouts compares with the device tree.
documented()
{
	# shellcheck disable=SC2086 # a list of files
	awk -v tgid="$2" -v carveouts_dir=$nodes/gpu/carveouts '
	function table_words(text, word,    lines, nr, i, inside, list) {
		nr = split(text, lines, "\n")
		for (i = 1; i <= nr; i++) {
			if (lines[i] ~ /^[ \t]*===/)
				inside = !inside || i < nr && list == ""
			else if (inside && lines[i] ~ /^\t\t[a-z]/) {
				split(lines[i], word, " ")
				list = list " " word[1]
			}
		}
		return list
	}
	function named_words(text, word,    line, at) {
		line = text
		gsub(/[ \t\n]+/, " ", line)
		at = index(line, " " word " is ")
		if (!at)
			return ""
		line = substr(line, at + length(word) + 5)
		if (line ~ /^one of /)
			return table_words(text)
		sub(/\. .*|\.$/, "", line)
		sub(/, as in .*/, "", line)
		gsub(/\([^)]*\)/, "", line)
		gsub(/ or /, " ", line)
		gsub(/[,;]/, " ", line)
		return line
	}
	# Those that the device tree names, which may be none.
	function carveouts(    list, line, command) {
		command = "find " carveouts_dir " -mindepth 1 -type d"
		while ((command | getline line) > 0) {
			sub(/.*\//, "", line)
			list = list " " line
		}
		close(command)
		return list
	}
	function expand(mode, path, text,    word, words, nr, i, head, tail) {
		if (!match(path, /\/[A-Z]+/)) {
			print mode, path
			return
		}
		head = substr(path, 1, RSTART)
		word = substr(path, RSTART + 1, RLENGTH - 1)
		tail = substr(path, RSTART + RLENGTH)
		nr = split(word == "TGID" ? tgid :
			   word == "CARVEOUT" ? carveouts() :
			   named_words(text, word), words, " ")
		if (!nr && word != "CARVEOUT")
			print "undocumented", path
		for (i = 1; i <= nr; i++)
			expand(mode, head words[i] tail, text)
	}
	function flush(    i, mode) {
		if (match(text, /\((RO|WO|RW), 0[0-7]+\)/)) {
			mode = substr(text, RSTART + 6, RLENGTH - 7)
			for (i = 1; i <= nr_what; i++)
				expand(mode, what[i], text)
		}
		nr_what = 0
		text = ""
	}
	/^What:/ {
		if (text != "")
			flush()
		what[++nr_what] = $2
		next
	}
	/^Description:/ { sub(/^Description:/, ""); text = $0; next }
	/^[A-Z][A-Za-z]*:/ { next }
	text != "" { text = text "\n" $0 }
	END { flush() }
	' $1 | sort
}

# What is there, in the same form.
present()
{
	find "$1" -type f -exec stat -c '%a %n' {} + | sort
}

# Whether all lines of file $2 are in file $3; those that are not are $1.
no_more()
{
	grep -vxFf "$3" "$2" > "$scratch/more"
	[ $? = 1 ] && return
	sed "s/^/# $1: /" "$scratch/more"
	return 1
}

# $1: how the documents' names start, $2: directory
same_tree()
{
	documented "$(docs "$1")" "$target" > "$scratch/documented"
	present "$2" > "$scratch/present"
	same=0
	no_more only_documented "$scratch/documented" "$scratch/present" ||
		same=1
	no_more only_present "$scratch/present" "$scratch/documented" ||
		same=1
	return $same
}

# Rows that only a name of anonymous memory leads to.
needs_names()
{
	case $1 in
	*/unknown/unnamed_*)
		return 1 ;;
	*/category/dalvik_heap/*|*/unknown/*|*/subcategory/heap/*|\
	*/subcategory/los/*|*/subcategory/zygote/*|*/subcategory/non_moving/*|\
	*/subcategory/linear_alloc/*|*/subcategory/gc/*|\
	*/subcategory/compiler_metadata/*|*/subcategory/indirect_ref/*)
		return 0 ;;
	*)
		return 1 ;;
	esac
}

# What the documents allow to have no number.
may_be_unavailable()
{
	! needs_names "$1" ||
		[ "$(cat $nodes/features/anon_names)" = 1 ] || return 0
	case $1 in
	*/category/memfd/*)
		return 0 ;;
	*/graphics/gpu_mem_total)
		[ "$(cat $nodes/gpu_totals)" = 0 ] ;;
	*/category/*_mtrack/*|*/graphics/*)
		[ "$(cat $nodes/features/gpu_provider)" = 0 ] ;;
	"$nodes"/gpu/provider|"$nodes"/gpu/total)
		[ "$(cat $nodes/features/gpu_provider)" = 0 ] ;;
	"$nodes"/gpu/carveouts/*)
		[ "$(cat $nodes/features/carveouts)" = 0 ] ;;
	"$nodes"/gpu/*)
		[ "$(cat $nodes/gpu_totals)" = 0 ] ;;
	*/dmabuf/unattributed_*)
		[ "$(cat $nodes/features/dmabuf_list)" = 0 ] ;;
	*swap_pss*)
		[ "$(cat $nodes/features/swap_pss)" = 0 ] ;;
	*)
		return 1 ;;
	esac
}

one_value()
{
	wrong=0
	find $nodes -type f -perm -0400 ! -name record > "$scratch/files"
	while read -r file; do
		if cat "$file" > "$scratch/value" 2> "$scratch/error"; then
			case $file in
			*/comm|*/profile|*/pss_method|*/imported_rule|*/provider|\
			*/owner)
				value='..*' ;;
			*) value='-\{0,1\}[0-9]\{1,\}' ;;
			esac
			[ "$(wc -l < "$scratch/value")" = 1 ] &&
				grep -qx -e "$value" "$scratch/value" &&
				continue
			echo "# $file is not one value"
		else
			may_be_unavailable "$file" &&
				grep -q 'not supported' "$scratch/error" &&
				continue
			comment < "$scratch/error"
		fi
		wrong=1
	done < "$scratch/files"
	return $wrong
}

# Rows without a number say so, all of them.
unavailable()
{
	wrong=0
	find $nodes/processes -type f '(' -path '*_mtrack/*' -o \
		-path '*/graphics/gpumem*' -o -path '*/graphics/usage/*' ')' \
		> "$scratch/files"
	[ -s "$scratch/files" ] || wrong=1
	while read -r file; do
		! cat "$file" 2> "$scratch/error" || wrong=1
		grep -q 'not supported' "$scratch/error" || wrong=1
	done < "$scratch/files"
	return $wrong
}

# For the reader, and for the table of what works where.
features()
{
	echo "kernel $(uname -r) $(uname -m)"
	echo "pss_method $(cat $nodes/pss_method)"
	for file in "$nodes"/features/*; do
		echo "feature ${file##*/} $(cat "$file")"
	done
}

ktap_print_header
features | comment
ktap_set_plan 4
start_target "$@"
echo "$target" > $nodes/track || ktap_exit_fail_msg cannot track
trap 'echo $target > $nodes/untrack; end_targets; rm -rf "$scratch"' EXIT
echo 1 > "$nodes/processes/$target/refresh"
echo 1 > "$nodes/dmabuf/refresh"

ktap_test_result sysfs_as_documented same_tree sysfs-kernel-memledger $nodes
ktap_test_result debugfs_as_documented same_tree debugfs-memledger $details
ktap_test_result one_value_a_file one_value
ktap_test_result unavailable_is_not_0 unavailable
ktap_finished
