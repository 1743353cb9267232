// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes in; kB with a comma at each thousand out.
 */
#include "sizes.h"

/**
 * memledger_size_text - write a size as dumpsys does
 * @bytes: the size, or a difference of sizes
 * @text: gets kB, as "1,234,567K"
 *
 * Return: @text.
 */
const char *memledger_size_text(s64 bytes, char text[MEMLEDGER_SIZE_TEXT_LEN])
{
	s64 number = bytes / 1024;
	char digits[24];
	size_t len, i, at = 0;

	snprintf(digits, sizeof(digits), "%lld", number < 0 ? -number : number);
	len = strlen(digits);
	if (number < 0)
		text[at++] = '-';
	for (i = 0; i < len; i++) {
		text[at++] = digits[i];
		if (i + 1 < len && !((len - i - 1) % 3))
			text[at++] = ',';
	}
	text[at++] = 'K';
	text[at] = '\0';
	return text;
}
