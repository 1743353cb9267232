/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hashes of what somebody else has chosen, for tables that he must not be able
 * to make slow.
 */
#ifndef _MEMLEDGER_HASH_H
#define _MEMLEDGER_HASH_H

#include <memledger/env.h>

/**
 * struct memledger_hash_key - what nobody knows, and each hash depends on
 * @word: random
 */
struct memledger_hash_key {
	u64 word[2];
};

void memledger_hash_key_init(struct memledger_hash_key *key);
u32 memledger_hash(const struct memledger_hash_key *key, const void *data,
		   size_t len);

#endif
