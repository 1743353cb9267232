// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers and strings in, bytes out, and back. Most numbers are written seven
 * bits a byte, the lowest first (LEB128), for most of them are small.
 */
#include "wire.h"

/* IEEE 802.3's polynomial, the lowest bit first. */
#define POLYNOMIAL	0xedb88320

/**
 * memledger_wire_checksum - checksum bytes
 * @data: the bytes
 * @size: how many
 *
 * Return: their CRC-32, as zlib and Ethernet have it.
 */
u32 memledger_wire_checksum(const unsigned char *data, size_t size)
{
	static u32 table[256];
	u32 crc = ~0U;
	unsigned int i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		u32 value = i;

		for (bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
		table[i] = value;
	}
	while (size--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];
	return ~crc;
}

/**
 * memledger_wire_put_bytes - write bytes as they are
 * @wire: where to
 * @data: the bytes
 * @len: how many
 */
void memledger_wire_put_bytes(struct memledger_wire *wire, const char *data,
			      size_t len)
{
	unsigned char *more;
	size_t room = wire->room;

	while (room < wire->len + len)
		room = room ? 2 * room : 512;
	if (room != wire->room && !wire->failed) {
		more = realloc(wire->data, room);
		if (!more)
			wire->failed = true;
		else
			wire->data = more;
		wire->room = room;
	}
	if (wire->failed)
		return;
	if (len)
		memcpy(wire->data + wire->len, data, len);
	wire->len += len;
}

/**
 * memledger_wire_put_u32 - write a number of four bytes, the lowest first
 * @wire: where to
 * @number: the number
 */
void memledger_wire_put_u32(struct memledger_wire *wire, u32 number)
{
	const char bytes[] = { number, number >> 8, number >> 16,
			       number >> 24 };

	memledger_wire_put_bytes(wire, bytes, sizeof(bytes));
}

/**
 * memledger_wire_put - write a number of as many bytes as it takes
 * @wire: where to
 * @number: the number
 */
void memledger_wire_put(struct memledger_wire *wire, u64 number)
{
	char byte;

	do {
		byte = number & 0x7f;
		number >>= 7;
		byte |= number ? 0x80 : 0;
		memledger_wire_put_bytes(wire, &byte, 1);
	} while (number);
}

/**
 * memledger_wire_put_string - write a string, its length first
 * @wire: where to
 * @text: the string
 */
void memledger_wire_put_string(struct memledger_wire *wire, const char *text)
{
	memledger_wire_put(wire, strlen(text));
	memledger_wire_put_bytes(wire, text, strlen(text));
}

/**
 * memledger_wire_get_u32 - read a number of four bytes
 * @data: the bytes
 *
 * Return: the number.
 */
u32 memledger_wire_get_u32(const unsigned char *data)
{
	return data[0] | data[1] << 8 | data[2] << 16 | (u32)data[3] << 24;
}

/**
 * memledger_wire_get - read a number of any length
 * @reader: from where
 *
 * Return: the number; 0 where there is none.
 */
u64 memledger_wire_get(struct memledger_wire_reader *reader)
{
	unsigned int shift;
	u64 number = 0;

	for (shift = 0; reader->left && shift < 64; shift += 7) {
		u64 bits = *reader->at & 0x7f;
		bool last = !(*reader->at & 0x80);

		reader->at++;
		reader->left--;
		if (shift == 63 && bits > 1)
			break;
		number |= bits << shift;
		if (last)
			return number;
	}
	reader->failed = true;
	return 0;
}

/**
 * memledger_wire_get_string - read a string
 * @reader: from where
 * @len: NULL, or gets its length; else there may be no NUL in it
 *
 * Return: it, NUL-terminated, to be freed; NULL where there is none, or no
 * memory.
 */
char *memledger_wire_get_string(struct memledger_wire_reader *reader,
				size_t *len)
{
	u64 length = memledger_wire_get(reader);
	char *text;

	if (reader->failed || length > reader->left ||
	    (!len && memchr(reader->at, '\0', length))) {
		reader->failed = true;
		return NULL;
	}
	text = malloc(length + 1);
	if (!text) {
		reader->failed = true;
		return NULL;
	}
	memcpy(text, reader->at, length);
	text[length] = '\0';
	reader->at += length;
	reader->left -= length;
	if (len)
		*len = length;
	return text;
}
