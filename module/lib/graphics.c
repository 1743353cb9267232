// SPDX-License-Identifier: GPL-2.0-only
/*
 * From entries of GPU memory to the numbers of a process, and from these to
 * the mtrack rows of its table, as Qualcomm's memtrack HAL has them.
 */
#include <memledger/graphics.h>

const char *const memledger_gpu_usage_names[NR_MEMLEDGER_GPU_USAGES] = {
#define X(id, name) \
	[MEMLEDGER_GPU_##id] = #name,
	MEMLEDGER_GPU_USAGES(X)
#undef X
};

const char *const memledger_gpu_kind_names[NR_MEMLEDGER_GPU_KINDS] = {
	[MEMLEDGER_GPU_DRIVER] = "driver",
	[MEMLEDGER_GPU_USER] = "user",
	[MEMLEDGER_GPU_DMABUF] = "dmabuf",
};

const char *const
memledger_imported_rule_names[NR_MEMLEDGER_IMPORTED_RULES] = {
	[MEMLEDGER_IMPORTED_SURFACE_FULL] = "surface-full",
	[MEMLEDGER_IMPORTED_SHARED] = "shared",
	[MEMLEDGER_IMPORTED_PIXEL] = "pixel",
};

/*
 * Device files of GPU drivers other than KGSL, whose mappings Android counts
 * as Other dev.
 */
static const char *const device_prefixes[] = {
	"/dev/mali", "/dev/dri/", "/dev/pvrsrvkm",
};

/**
 * memledger_graphics_is_device - whether a mapping is of a GPU driver's file
 * @name: as /proc/PID/maps has it; not necessarily NUL-terminated
 * @len: its length
 *
 * Return: false also for KGSL's, which Android has a row for.
 */
bool memledger_graphics_is_device(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(device_prefixes); i++) {
		size_t n = strlen(device_prefixes[i]);

		if (len >= n && !memcmp(name, device_prefixes[i], n))
			return true;
	}
	return false;
}

#define ALL_FLAGS	(MEMLEDGER_GPU_VIRTUAL | MEMLEDGER_GPU_SECURE |	\
			 MEMLEDGER_GPU_RECLAIMED | MEMLEDGER_GPU_IMPORTED | \
			 MEMLEDGER_GPU_IN_RSS | MEMLEDGER_GPU_ALLOCATOR)

/**
 * memledger_gpu_entry_valid - whether a record can be
 * @entry: what a driver said
 *
 * Return: false if it contradicts itself or has words that are not known.
 */
bool memledger_gpu_entry_valid(const struct memledger_gpu_entry *entry)
{
	return entry->id && entry->kind < NR_MEMLEDGER_GPU_KINDS &&
	       entry->usage < NR_MEMLEDGER_GPU_USAGES &&
	       entry->mapped <= entry->size &&
	       !(entry->flags & ~(u32)ALL_FLAGS) &&
	       (!(entry->flags & MEMLEDGER_GPU_VIRTUAL) ||
		entry->kind == MEMLEDGER_GPU_DRIVER) &&
	       !(entry->flags & MEMLEDGER_GPU_IMPORTED) ==
	       (entry->kind == MEMLEDGER_GPU_DRIVER) &&
	       (!entry->importers ||
		entry->importers >= (u64)entry->surfaces + entry->images);
}

static u64 divide(u64 size, u64 by)
{
	return by > 1 ? div64_u64(size, by) : size;
}

static bool pixel_share(const struct memledger_gpu_entry *entry, u64 *share)
{
	u32 importers = entry->importers;

	if (entry->usage == MEMLEDGER_GPU_EGL_SURFACE)
		*share = divide(entry->size, entry->surfaces);
	else if (entry->surfaces)
		*share = 0;
	else if (!importers)
		return false;
	else if (entry->usage != MEMLEDGER_GPU_ANY || importers == 1 ||
		 importers == entry->images)
		*share = divide(entry->size, importers);
	else if (entry->flags & MEMLEDGER_GPU_ALLOCATOR)
		*share = 0;
	else
		*share = divide(entry->size, importers - 1);
	return true;
}

/**
 * memledger_imported_share - what a process pays for a buffer that it imported
 * @rule: how drivers of that kind divide
 * @entry: the import
 * @share: gets bytes
 *
 * Return: false if the driver does not tell what the rule needs.
 */
bool memledger_imported_share(enum memledger_imported_rule rule,
			      const struct memledger_gpu_entry *entry,
			      u64 *share)
{
	switch (rule) {
	case MEMLEDGER_IMPORTED_SURFACE_FULL:
		if (entry->usage == MEMLEDGER_GPU_EGL_SURFACE)
			*share = entry->size;
		else
			*share = entry->surfaces ? 0 :
				 divide(entry->size, entry->images);
		return true;
	case MEMLEDGER_IMPORTED_SHARED:
		*share = divide(entry->size,
				(u64)entry->surfaces + entry->images);
		return true;
	case MEMLEDGER_IMPORTED_PIXEL:
		return pixel_share(entry, share);
	case NR_MEMLEDGER_IMPORTED_RULES:
		break;
	}
	return false;
}

/* Returns whether the sum was too large for its type. */
static bool add(u64 *sum, u64 value)
{
	bool overflow = *sum + value < *sum;

	*sum = overflow ? U64_MAX : *sum + value;
	return overflow;
}

/**
 * memledger_graphics_add - count an entry
 * @graphics: the sums
 * @rule: how an imported buffer is divided
 * @entry: a valid one
 *
 * An entry that fails is counted all the same, but for what is not known of it.
 *
 * Return: 0; MEMLEDGER_GRAPHICS_OVERFLOW if a sum was too large and now is
 * U64_MAX; MEMLEDGER_GRAPHICS_UNKNOWN if the driver does not tell what @rule needs,
 * and imported_mem lacks the entry; or both.
 */
unsigned int memledger_graphics_add(struct memledger_graphics *graphics,
				    enum memledger_imported_rule rule,
				    const struct memledger_gpu_entry *entry)
{
	u64 unmapped = entry->size - entry->mapped, share = 0;
	bool overflow = false, known = true;

	if (entry->flags & MEMLEDGER_GPU_VIRTUAL)
		return 0;
	graphics->entries++;
	overflow |= add(&graphics->usage[entry->usage], entry->size);

	switch (entry->kind) {
	case MEMLEDGER_GPU_DRIVER:
		overflow |= add(&graphics->gpumem_mapped, entry->mapped);
		overflow |= add(&graphics->gpumem_unmapped, unmapped);
		overflow |= add(&graphics->gpumem_unaccounted,
				entry->flags & MEMLEDGER_GPU_IN_RSS ?
				unmapped : entry->size);
		if (entry->flags & MEMLEDGER_GPU_SECURE)
			overflow |= add(&graphics->gpumem_secure, entry->size);
		if (entry->flags & MEMLEDGER_GPU_RECLAIMED)
			overflow |= add(&graphics->gpumem_reclaimed,
					entry->size);
		break;
	case MEMLEDGER_GPU_USER:
		overflow |= add(&graphics->usermem, entry->size);
		break;
	case MEMLEDGER_GPU_DMABUF:
		known = memledger_imported_share(rule, entry, &share);
		overflow |= add(&graphics->imported_size, entry->size);
		overflow |= add(&graphics->imported_mem, share);
		graphics->egl_surface_count +=
			entry->usage == MEMLEDGER_GPU_EGL_SURFACE;
		graphics->egl_image_count +=
			entry->usage == MEMLEDGER_GPU_EGL_IMAGE;
		break;
	}
	return (overflow ? MEMLEDGER_GRAPHICS_OVERFLOW : 0) |
	       (known ? 0 : MEMLEDGER_GRAPHICS_UNKNOWN);
}

/* The fixed-point fields hold less than the bytes do. */
#define MAX_BYTES	(U64_MAX >> MEMLEDGER_PSS_SHIFT)

/*
 * Android writes what the HAL reports, in whole kB, to three columns of a row,
 * and to no other.
 */
static bool add_mtrack(struct memledger_totals *totals,
		       enum memledger_category category, u64 bytes)
{
	struct memledger_usage *rows[] = {
		&totals->category[category], &totals->total,
	};
	bool overflow = bytes > MAX_BYTES;
	unsigned int i;
	u64 floor;

	if (overflow)
		bytes = MAX_BYTES;
	floor = bytes & ~1023ULL;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		overflow |= add(&rows[i]->pss, bytes << MEMLEDGER_PSS_SHIFT);
		overflow |= add(&rows[i]->pss_floor, floor);
		overflow |= add(&rows[i]->private_dirty, floor);
		overflow |= add(&rows[i]->rss, floor);
	}
	return overflow;
}

/**
 * memledger_totals_add_mtrack - the rows that only a GPU driver can fill
 * @totals: of a process, without them
 * @graphics: the process's numbers
 *
 * As Qualcomm's HAL: what it allocated and does not map is GL, what it
 * imported is EGL. It reports nothing as Other.
 *
 * Return: 0, or -EOVERFLOW if a number was too large and now is the largest
 * that there is room for.
 */
int memledger_totals_add_mtrack(struct memledger_totals *totals,
				const struct memledger_graphics *graphics)
{
	bool overflow;

	overflow = add_mtrack(totals, MEMLEDGER_CAT_EGL_MTRACK,
			      graphics->imported_mem);
	overflow |= add_mtrack(totals, MEMLEDGER_CAT_GL_MTRACK,
			       graphics->gpumem_unmapped);
	return overflow ? -EOVERFLOW : 0;
}

/**
 * memledger_graphics_total - a process's graphics memory, each byte once
 * @totals: its rows
 * @graphics: what the GPU driver says
 * @device_pss: what smaps has of other GPU drivers' files, bytes <<
 *	MEMLEDGER_PSS_SHIFT
 *
 * What smaps counts of the drivers' files, and what no page table of the process
 * has of the driver's own memory. The caller adds the process's share of all
 * DMA-BUFs, be they mapped, imported or neither. Memory of the process that the
 * GPU uses is not graphics memory.
 *
 * Return: bytes; U64_MAX where that is too little.
 */
u64 memledger_graphics_total(const struct memledger_totals *totals,
			     const struct memledger_graphics *graphics,
			     u64 device_pss)
{
	u64 total = (totals->category[MEMLEDGER_CAT_GFX_DEV].pss + device_pss)
		    >> MEMLEDGER_PSS_SHIFT;

	add(&total, graphics->gpumem_unaccounted);
	return total;
}
