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

struct state {
	u64 v0, v1, v2, v3;
};

static void mix(struct state *s)
{
	s->v0 += s->v1;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
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
	struct state s = {
		.v0 = key->word[0] ^ 0x736f6d6570736575ULL,
		.v1 = key->word[1] ^ 0x646f72616e646f6dULL,
		.v2 = key->word[0] ^ 0x6c7967656e657261ULL,
		.v3 = key->word[1] ^ 0x7465646279746573ULL,
	};
	u64 last = (u64)len << 56, word;
	const u8 *at = data;
	unsigned int i;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		s.v3 ^= word;
		mix(&s);
		s.v0 ^= word;
	}
	for (i = 0; i < len; i++)
		last |= (u64)at[i] << 8 * i;
	s.v3 ^= last;
	mix(&s);
	s.v0 ^= last;
	s.v2 ^= 0xff;
	for (i = 0; i < 3; i++)
		mix(&s);
	return (u32)(s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
}
