/* SPDX-License-Identifier: GPL-2.0-only */
/* From two structs of numbers to one expectation a field. */
#ifndef _MEMLEDGER_KUNIT_EXPECT_H
#define _MEMLEDGER_KUNIT_EXPECT_H

#include <kunit/test.h>

#include <memledger/usage.h>

/* Every field of a VMA: what an expectation leaves out has to be 0. */
static inline void
memledger_expect_vma(struct kunit *test, const char *what,
		     const struct memledger_vma_usage *have,
		     const struct memledger_vma_usage *want)
{
#define X(field, label, shift)						\
	KUNIT_EXPECT_EQ_MSG(test, have->field, want->field, "%s: %s",	\
			    what, label);
	MEMLEDGER_VMA_FIELDS(X)
#undef X
}

#endif
