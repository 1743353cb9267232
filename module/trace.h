/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: each new snapshot of a tracked process, and each row of it, for
 * ftrace, perf and Perfetto. docs/ABI/testing/tracefs-memledger has the fields.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memledger

#if !defined(_MEMLEDGER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MEMLEDGER_TRACE_H

#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <memledger/abi.h>

#ifndef MEMLEDGER_TRACE_UNAVAILABLE
/* In the place of a size that this kernel cannot tell, which is not 0. */
#define MEMLEDGER_TRACE_UNAVAILABLE	(-1)

static inline s64 memledger_trace_swap_pss(const struct memledger_record *record,
					   const struct memledger_usage *usage)
{
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS)
		return MEMLEDGER_TRACE_UNAVAILABLE;
	return usage->swap_pss >> MEMLEDGER_PSS_SHIFT;
}
#endif

TRACE_EVENT(snapshot,

	TP_PROTO(const struct memledger_record *record),

	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(s32, tgid)
		__array(char, comm, TASK_COMM_LEN)
		__field(u64, generation)
		__field(u64, timestamp_ns)
		__field(u64, walk_ns)
		__field(u64, lock_hold_max_ns)
		__field(u64, vmas)
		__field(u64, pss)
		__field(u64, rss)
		__field(u64, private_dirty)
		__field(u64, swap)
		__field(s64, swap_pss)
		__field(u32, complete)
	),

	TP_fast_assign(
		const struct memledger_usage *total = &record->totals.total;

		__entry->tgid = record->tgid;
		memcpy(__entry->comm, record->comm, TASK_COMM_LEN);
		__entry->generation = record->generation;
		__entry->timestamp_ns = record->timestamp_ns;
		__entry->walk_ns = record->walk_ns;
		__entry->lock_hold_max_ns = record->lock_hold_max_ns;
		__entry->vmas = total->vmas;
		__entry->pss = total->pss >> MEMLEDGER_PSS_SHIFT;
		__entry->rss = total->rss;
		__entry->private_dirty = total->private_dirty;
		__entry->swap = total->swap;
		__entry->swap_pss = memledger_trace_swap_pss(record, total);
		__entry->complete = record->complete;
	),

	TP_printk("tgid=%d comm=%s generation=%llu timestamp_ns=%llu walk_ns=%llu lock_hold_max_ns=%llu vmas=%llu pss=%llu rss=%llu private_dirty=%llu swap=%llu swap_pss=%lld complete=%u",
		  __entry->tgid, __entry->comm, __entry->generation,
		  __entry->timestamp_ns, __entry->walk_ns,
		  __entry->lock_hold_max_ns, __entry->vmas, __entry->pss,
		  __entry->rss, __entry->private_dirty, __entry->swap,
		  __entry->swap_pss, __entry->complete)
);

TRACE_EVENT(category,

	TP_PROTO(const struct memledger_record *record, const char *name,
		 const struct memledger_usage *usage),

	TP_ARGS(record, name, usage),

	TP_STRUCT__entry(
		__field(s32, tgid)
		__array(char, category, 16)
		__field(u64, generation)
		__field(u64, vmas)
		__field(u64, pss)
		__field(u64, rss)
		__field(u64, private_dirty)
		__field(u64, swap)
		__field(s64, swap_pss)
	),

	TP_fast_assign(
		__entry->tgid = record->tgid;
		strscpy_pad(__entry->category, name, 16);
		__entry->generation = record->generation;
		__entry->vmas = usage->vmas;
		__entry->pss = usage->pss >> MEMLEDGER_PSS_SHIFT;
		__entry->rss = usage->rss;
		__entry->private_dirty = usage->private_dirty;
		__entry->swap = usage->swap;
		__entry->swap_pss = memledger_trace_swap_pss(record, usage);
	),

	TP_printk("tgid=%d category=%s generation=%llu vmas=%llu pss=%llu rss=%llu private_dirty=%llu swap=%llu swap_pss=%lld",
		  __entry->tgid, __entry->category, __entry->generation,
		  __entry->vmas, __entry->pss, __entry->rss,
		  __entry->private_dirty, __entry->swap, __entry->swap_pss)
);

#endif

/* From the include directory, which is where the compiler looks. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../module
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
