// SPDX-License-Identifier: GPL-2.0-only
/*
 * SipHash-1-3, as hsiphash() of <linux/siphash.h> is where words have 64 bits.
 * That one is not for us: Android's kernels do not list what it calls.
 */
#include <memledger/hash.h>

/**
 * memledger_hash_key_init - make a key
 * @key: for one table, and as long as it has entries
 */
void memledger_hash_key_init(struct memledger_hash_key *key)
{
	memledger_random(key->word, sizeof(key->word));
}

static u64 rotate(u64 word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(u64 *v)
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/**
 * memledger_hash - a number for a text that nobody can foresee
 * @key: of the table
 * @data: what to hash, at any address
 * @len: its bytes
 *
 * Context: any; reads @data once from begin to end.
 * Return: the same for equal data and keys, in this boot and on this machine.
 */
u32 memledger_hash(const struct memledger_hash_key *key, const void *data,
		   size_t len)
{
	u64 v[4] = {
		key->word[0] ^ 0x736f6d6570736575ULL,
		key->word[1] ^ 0x646f72616e646f6dULL,
		key->word[0] ^ 0x6c7967656e657261ULL,
		key->word[1] ^ 0x7465646279746573ULL,
	};
	u64 last = (u64)len << 56, word;
	const u8 *at = data;
	unsigned int i;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		v[3] ^= word;
		mix(v);
		v[0] ^= word;
	}
	for (i = 0; i < len; i++)
		last |= (u64)at[i] << 8 * i;
	v[3] ^= last;
	mix(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		mix(v);
	return (u32)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}
