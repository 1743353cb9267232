/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two programs of twins.c have, each in rows of its own.
 */
#ifndef TWINS_H
#define TWINS_H

#include <stddef.h>

/**
 * struct twin - one of them
 * @held: name of the file that it maps first
 * @held_row: the category that this is in
 * @pages: how many it has of that
 * @mark: name of a file of one page, which it maps when it has them all
 * @mark_row: the category of that
 */
struct twin {
	const char *held;
	const char *held_row;
	size_t pages;
	const char *mark;
	const char *mark_row;
};

static const struct twin twins[2] = {
	{ "jit-cache", "dalvik_other", 50, "mark.ttf", "ttf_mmap" },
	{ "held.so", "so_mmap", 80, "mark.jar", "jar_mmap" },
};

#endif
