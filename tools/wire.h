/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and strings as bytes that are the same on every machine, and their
 * checksum.
 */
#ifndef _MEMLEDGER_TOOLS_WIRE_H
#define _MEMLEDGER_TOOLS_WIRE_H

#include <memledger/env.h>

/**
 * struct memledger_wire - bytes that are being written
 * @data: the bytes; to be freed
 * @len: how many
 * @room: how many there is memory for
 * @failed: there was not enough; @data is not complete then
 *
 * All zero is none.
 */
struct memledger_wire {
	unsigned char *data;
	size_t len;
	size_t room;
	bool failed;
};

/**
 * struct memledger_wire_reader - bytes that are being read
 * @at: the next one
 * @left: how many there are
 * @failed: there were fewer than wanted, or a number that does not fit
 */
struct memledger_wire_reader {
	const unsigned char *at;
	size_t left;
	bool failed;
};

u32 memledger_wire_checksum(const unsigned char *data, size_t size);

void memledger_wire_put_u32(struct memledger_wire *wire, u32 number);
void memledger_wire_put(struct memledger_wire *wire, u64 number);
void memledger_wire_put_bytes(struct memledger_wire *wire, const char *data,
			      size_t len);
void memledger_wire_put_string(struct memledger_wire *wire, const char *text);

u32 memledger_wire_get_u32(const unsigned char *data);
u64 memledger_wire_get(struct memledger_wire_reader *reader);
char *memledger_wire_get_string(struct memledger_wire_reader *reader,
				size_t *len);

#endif
