/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as one page for a browser.
 */
#ifndef _MEMLEDGER_TOOLS_HTML_REPORT_H
#define _MEMLEDGER_TOOLS_HTML_REPORT_H

#include <stdio.h>

#include "journal.h"

int memledger_html_report_print(FILE *out,
				const struct memledger_recording *recording);

#endif
