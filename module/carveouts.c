// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a node of the device tree to the graphics carve-outs: reserved memory
 * that belongs to the GPU, the display or a secure heap, and the device that
 * has it. dts/bindings describes the node. Without one there is nothing to
 * tell, and everything else works as ever.
 *
 * What has been reserved is known once the kernel runs, and stays. So the node
 * is read while the module is loaded, and nothing here is ever written again.
 */
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "carveouts.h"

#define COMPATIBLE	"memledger,graphics-carveouts"

static bool known;
static unsigned int nr_carveouts;
static struct memledger_carveout *carveouts;

/* These become directories, beside files that have names, too. */
static bool name_is_good(const char *name)
{
	unsigned int i;

	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return false;
	if (!strcmp(name, "static") || !strcmp(name, "reusable"))
		return false;
	for (i = 0; i < nr_carveouts; i++) {
		if (!strcmp(name, carveouts[i].name))
			return false;
	}
	return true;
}

/* A kernel without CMA may keep apart what it might use. */
static bool is_lent(const struct reserved_mem *memory)
{
	unsigned long pfn = PHYS_PFN(memory->base);

	return pfn_valid(pfn) && !PageReserved(pfn_to_page(pfn));
}

/* Return: 0, -EINVAL if there is nothing to tell, or -ENOMEM. */
static int add_region(const char *name, struct device_node *region,
		      struct device_node *owner)
{
	struct memledger_carveout *carveout = &carveouts[nr_carveouts];
	struct reserved_mem *memory = of_reserved_mem_lookup(region);

	if (!memory || !memory->size) {
		pr_warn("memledger: carve-out %s: nothing has been reserved\n",
			name);
		return -EINVAL;
	}
	*carveout = (struct memledger_carveout) {
		.name = kstrdup(name, GFP_KERNEL),
		.owner = owner ? kasprintf(GFP_KERNEL, "%pOF", owner) : NULL,
		.start = memory->base,
		.size = memory->size,
		.reusable = of_property_read_bool(region, "reusable") &&
			    is_lent(memory),
		.no_map = of_property_read_bool(region, "no-map"),
	};
	/* Counted at once, so that what there is of it is freed. */
	nr_carveouts++;
	return carveout->name && (carveout->owner || !owner) ? 0 : -ENOMEM;
}

static int add_carveout(struct device_node *node, int i)
{
	struct device_node *region, *owner;
	const char *name;
	int ret = -EINVAL;

	if (of_property_read_string_index(node, "memory-region-names", i,
					  &name) ||
	    !name_is_good(name)) {
		pr_warn("memledger: carve-out %d of %pOF has no name of its own\n",
			i, node);
		return -EINVAL;
	}
	region = of_parse_phandle(node, "memory-region", i);
	owner = of_parse_phandle(node, "memledger,owners", i);
	if (region)
		ret = add_region(name, region, owner);
	of_node_put(owner);
	of_node_put(region);
	return ret;
}

static int add_carveouts(struct device_node *node)
{
	int i, nr = of_count_phandle_with_args(node, "memory-region", NULL);

	if (nr <= 0)
		return 0;
	carveouts = kcalloc(nr, sizeof(*carveouts), GFP_KERNEL);
	if (!carveouts)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (add_carveout(node, i) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/**
 * memledger_carveouts_init - read the device tree
 *
 * A carve-out that the kernel could not reserve, or whose name is unusable, is
 * left out, and the log says so.
 *
 * Return: 0, also if there is no node; -ENOMEM, and then nothing is known.
 */
int __init memledger_carveouts_init(void)
{
	struct device_node *node;
	int ret;

	node = of_find_compatible_node(NULL, NULL, COMPATIBLE);
	if (!node)
		return 0;
	ret = add_carveouts(node);
	of_node_put(node);
	if (ret)
		memledger_carveouts_exit();
	known = !ret;
	return ret;
}

/**
 * memledger_carveouts_exit - forget them; nobody may ask any more
 */
void memledger_carveouts_exit(void)
{
	unsigned int i;

	for (i = 0; i < nr_carveouts; i++) {
		kfree(carveouts[i].name);
		kfree(carveouts[i].owner);
	}
	kfree(carveouts);
	carveouts = NULL;
	nr_carveouts = 0;
}

/**
 * memledger_carveouts_known - whether a device tree tells of carve-outs
 *
 * Return: true even if it tells that there is none.
 */
bool memledger_carveouts_known(void)
{
	return known;
}

/**
 * memledger_carveout_get - one of the carve-outs, in the order of the node
 * @i: which, from 0
 *
 * Return: the carve-out, which stays until memledger_carveouts_exit(); NULL
 * behind the last.
 */
const struct memledger_carveout *memledger_carveout_get(unsigned int i)
{
	return i < nr_carveouts ? &carveouts[i] : NULL;
}

/**
 * memledger_carveouts_sum - the size of all of a kind
 * @reusable: of those inside MemTotal, which can be a part of lost RAM; or of
 *	those outside
 * @bytes: gets the sum
 *
 * Return: 0, or -EOPNOTSUPP if no device tree tells.
 */
int memledger_carveouts_sum(bool reusable, u64 *bytes)
{
	const struct memledger_carveout *carveout;
	unsigned int i;

	if (!known)
		return -EOPNOTSUPP;
	*bytes = 0;
	for (i = 0; (carveout = memledger_carveout_get(i)); i++) {
		if (carveout->reusable == reusable)
			*bytes += carveout->size;
	}
	return 0;
}

/**
 * memledger_carveouts_mem_total - MemTotal of /proc/meminfo, to compare with
 *
 * Return: bytes.
 */
u64 memledger_carveouts_mem_total(void)
{
	return (u64)totalram_pages() << PAGE_SHIFT;
}
