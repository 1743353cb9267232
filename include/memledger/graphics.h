/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what a GPU driver says about its memory, entry by entry, to what a
 * process uses of it: the words, the numbers, and the rules by which a buffer
 * that several processes imported is divided.
 */
#ifndef _MEMLEDGER_GRAPHICS_H
#define _MEMLEDGER_GRAPHICS_H

#include <memledger/usage.h>

/*
 * X(ID, ABI name): what an entry is used for. Up to EGL shadow and multisample
 * the values are those of KGSL's memory types.
 */
#define MEMLEDGER_GPU_USAGES(X)						\
	X(ANY,			any)					\
	X(FRAMEBUFFER,		framebuffer)				\
	X(RENDERBUFFER,		renderbuffer)				\
	X(ARRAYBUFFER,		arraybuffer)				\
	X(ELEMENTARRAYBUFFER,	elementarraybuffer)			\
	X(VERTEXARRAYBUFFER,	vertexarraybuffer)			\
	X(TEXTURE,		texture)				\
	X(SURFACE,		surface)				\
	X(EGL_SURFACE,		egl_surface)				\
	X(GL,			gl)					\
	X(CL,			cl)					\
	X(CL_BUFFER_MAP,	cl_buffer_map)				\
	X(CL_BUFFER_NOMAP,	cl_buffer_nomap)			\
	X(CL_IMAGE_MAP,		cl_image_map)				\
	X(CL_IMAGE_NOMAP,	cl_image_nomap)				\
	X(CL_KERNEL_STACK,	cl_kernel_stack)			\
	X(COMMAND,		command)				\
	X(2D,			2d)					\
	X(EGL_IMAGE,		egl_image)				\
	X(EGL_SHADOW,		egl_shadow)				\
	X(MULTISAMPLE,		multisample)				\
	X(KERNEL,		kernel)					\
	X(OTHER,		other)

/**
 * enum memledger_gpu_usage - what an entry is used for
 * @NR_MEMLEDGER_GPU_USAGES: how many there are
 */
enum memledger_gpu_usage {
#define X(id, name) MEMLEDGER_GPU_##id,
	MEMLEDGER_GPU_USAGES(X)
#undef X
	NR_MEMLEDGER_GPU_USAGES
};

/**
 * enum memledger_gpu_kind - whose pages an entry is made of
 * @MEMLEDGER_GPU_DRIVER: the driver's own ("gpumem")
 * @MEMLEDGER_GPU_USER: the process's, pinned ("usermem"); they are in its RSS
 * @MEMLEDGER_GPU_DMABUF: an imported DMA-BUF's ("ion")
 * @NR_MEMLEDGER_GPU_KINDS: how many there are
 */
enum memledger_gpu_kind {
	MEMLEDGER_GPU_DRIVER,
	MEMLEDGER_GPU_USER,
	MEMLEDGER_GPU_DMABUF,
	NR_MEMLEDGER_GPU_KINDS
};

/* Address space without pages: never counted. */
#define MEMLEDGER_GPU_VIRTUAL		0x1
/* Protected content, out of the CPU's reach. */
#define MEMLEDGER_GPU_SECURE		0x2
/* Its pages were written to swap. */
#define MEMLEDGER_GPU_RECLAIMED		0x4
/* Another allocator's pages; set for all kinds but the driver's own. */
#define MEMLEDGER_GPU_IMPORTED		0x8
/* What the process maps of it is in the RSS that smaps prints. */
#define MEMLEDGER_GPU_IN_RSS		0x10
/* The process allocated the buffer that it imports here. */
#define MEMLEDGER_GPU_ALLOCATOR		0x20

/**
 * struct memledger_gpu_entry - one piece of GPU memory of one process
 * @id: the driver's name for it, not 0
 * @size: bytes, guard pages not included
 * @mapped: how many of these the process's page tables map; at most @size
 * @dmabuf_ino: inode number of the DMA-BUF; 0: none, or not known
 * @kind: enum memledger_gpu_kind
 * @usage: enum memledger_gpu_usage
 * @flags: MEMLEDGER_GPU_*
 * @surfaces: of all imports of that buffer, by any process, how many are EGL
 *	surfaces; this entry may be one
 * @images: how many are EGL images
 * @importers: how many there are; 0: not known
 * @pad: 0
 */
struct memledger_gpu_entry {
	u64 id;
	u64 size;
	u64 mapped;
	u64 dmabuf_ino;
	u16 kind;
	u16 usage;
	u32 flags;
	u32 surfaces;
	u32 images;
	u32 importers;
	u32 pad;
};

/**
 * enum memledger_imported_rule - how an imported buffer is divided
 * @MEMLEDGER_IMPORTED_SURFACE_FULL: KGSL up to 6.6: who imports it as a surface
 *	pays all of it; where nobody does, the images share it; else others pay
 *	nothing
 * @MEMLEDGER_IMPORTED_SHARED: KGSL of 6.12: surfaces and images share it
 * @MEMLEDGER_IMPORTED_PIXEL: Google's trees: surfaces share it; where there is
 *	none, all importers do, or, of imports without a type, all but the process
 *	that allocated it
 * @NR_MEMLEDGER_IMPORTED_RULES: how many there are
 */
enum memledger_imported_rule {
	MEMLEDGER_IMPORTED_SURFACE_FULL,
	MEMLEDGER_IMPORTED_SHARED,
	MEMLEDGER_IMPORTED_PIXEL,
	NR_MEMLEDGER_IMPORTED_RULES
};

/* X(field): of struct memledger_graphics, as files and keys are called. */
#define MEMLEDGER_GRAPHICS_FIELDS(X)					\
	X(gpumem_mapped)						\
	X(gpumem_unmapped)						\
	X(gpumem_unaccounted)						\
	X(gpumem_secure)						\
	X(gpumem_reclaimed)						\
	X(usermem)							\
	X(imported_size)						\
	X(imported_mem)							\
	X(egl_surface_count)						\
	X(egl_image_count)						\
	X(entries)

/**
 * struct memledger_graphics - a process's memory as its GPU driver has it
 * @gpumem_mapped: bytes of the driver's own memory that the process maps
 * @gpumem_unmapped: bytes of it that it does not; GL mtrack
 * @gpumem_unaccounted: @gpumem_unmapped, and what is mapped without being in RSS
 * @gpumem_secure: bytes of the driver's own memory that are protected
 * @gpumem_reclaimed: bytes of it that are in swap
 * @usermem: bytes of the process's own memory that the GPU uses, pinned
 * @imported_size: bytes of imported buffers, each import in full
 * @imported_mem: their share by the imported rule; EGL mtrack
 * @egl_surface_count: imports that are EGL surfaces
 * @egl_image_count: imports that are EGL images
 * @entries: how many entries there are, virtual ones not counted
 * @usage: bytes by use, of all kinds
 *
 * Sums stop at the largest u64 instead of wrapping. All u64: the struct is
 * part of the binary record in <memledger/abi.h>.
 */
struct memledger_graphics {
#define X(field) u64 field;
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
	u64 usage[NR_MEMLEDGER_GPU_USAGES];
};

/* Indexed by the enums. */
extern const char *const memledger_gpu_usage_names[NR_MEMLEDGER_GPU_USAGES];
extern const char *const memledger_gpu_kind_names[NR_MEMLEDGER_GPU_KINDS];
extern const char *const
	memledger_imported_rule_names[NR_MEMLEDGER_IMPORTED_RULES];

bool memledger_graphics_is_device(const char *name, size_t len);
bool memledger_gpu_entry_valid(const struct memledger_gpu_entry *entry);
bool memledger_imported_share(enum memledger_imported_rule rule,
			      const struct memledger_gpu_entry *entry,
			      u64 *share);
/* What memledger_graphics_add() could not do. */
#define MEMLEDGER_GRAPHICS_OVERFLOW	1
#define MEMLEDGER_GRAPHICS_UNKNOWN	2

unsigned int memledger_graphics_add(struct memledger_graphics *graphics,
				    enum memledger_imported_rule rule,
				    const struct memledger_gpu_entry *entry);
u64 memledger_graphics_total(const struct memledger_totals *totals,
			     const struct memledger_graphics *graphics,
			     u64 device_pss);
int memledger_totals_add_mtrack(struct memledger_totals *totals,
				const struct memledger_graphics *graphics);

#endif
