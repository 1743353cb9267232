/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Android's kernels declare beyond others, for scripts/kmi, which builds
 * for them against the headers of others. Nothing made with it is loaded.
 */
#ifndef __ASSEMBLY__
struct dma_buf;

int dma_buf_get_each(int (*fn)(const struct dma_buf *dmabuf, void *arg),
		     void *arg);
int get_dmabuf_debugfs_data(int (*fn)(const struct dma_buf *dmabuf, void *arg),
			    void *arg);

/* As Android's 6.1 has it, and no other 6.1. */
#ifdef KMI_6_1
#define vm_flags_set(vma, flags)	((void)((vma)->vm_flags |= (flags)))
#endif
#endif
