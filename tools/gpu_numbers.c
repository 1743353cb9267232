// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process's record, and those files of graphics/ that it does not have, in;
 * the numbers, each with what it means, or with the reason why it is
 * unavailable, out.
 */
#include "escape.h"
#include "gpu_numbers.h"
#include "json.h"

/* Where a number comes from, and so what its being unavailable means. */
enum section { DRIVER, DMABUF, DEVICE, TRACEPOINT, TOTAL };

enum unit { BYTES, COUNT };

static const char *const headings[] = {
	[DRIVER] = "As the GPU driver has it",
	[DMABUF] = "DMA-BUFs, by file descriptors, mappings and GPU imports",
	[DEVICE] = "Mappings of other GPU drivers",
	[TRACEPOINT] = "By tracepoint (GPU 0; part of no sum)",
	[TOTAL] = "Total",
};

static const struct {
	const char *name;
	enum section section;
	enum unit unit;
	const char *text;
} infos[NR_MEMLEDGER_GPU_NUMBERS] = {
#define X(name, section, unit, text) { #name, section, unit, text },
	MEMLEDGER_GPU_NUMBERS(X)
#undef X
};

/* Is a feature of the module there? Not known: as if it were. */
static bool has_feature(const struct memledger_module *module,
			const char *name)
{
	char file[64];
	u64 there;

	snprintf(file, sizeof(file), "features/%s", name);
	return memledger_module_read_number(module, file, &there) || there;
}

static void
add_tracepoint_reason(struct memledger_gpu_numbers *numbers,
		      const struct memledger_module *module, const char *name)
{
	if (has_feature(module, "gpu_totals"))
		memledger_reasons_add(&numbers->reasons, name,
				      "GPU totals are switched off: echo 1 > %.160s/kernel/memledger/gpu_totals",
				      module->sysfs);
	else
		memledger_reasons_add(&numbers->reasons, name,
				      "this kernel was built without CONFIG_TRACE_GPU_MEM, or with CONFIG_PREEMPT_RT");
}

/* Why does a file say EOPNOTSUPP? */
static void add_unsupported(struct memledger_gpu_numbers *numbers,
			    const struct memledger_module *module,
			    const char *name, enum section section)
{
	switch (section) {
	case TRACEPOINT:
		add_tracepoint_reason(numbers, module, name);
		break;
	case TOTAL:
		memledger_reasons_add(&numbers->reasons, name,
				      "a part of it is unavailable");
		break;
	default:
		memledger_reasons_add(&numbers->reasons, name,
				      "this kernel has no DMA-BUFs");
		break;
	}
}

/* Return: 0, or what to give up with. */
static int note_error(struct memledger_gpu_numbers *numbers,
		      const struct memledger_module *module, const char *name,
		      enum section section, int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		add_unsupported(numbers, module, name, section);
		return 0;
	case -ENODATA:
		/* Of all others it says that there is no snapshot. */
		if (section != TRACEPOINT)
			return MEMLEDGER_NEW_SNAPSHOT;
		memledger_reasons_add(&numbers->reasons, name,
				      "no event of this process since GPU totals were switched on");
		return 0;
	case -ESRCH:
	case -EPERM:
	case -EACCES:
	case -EINTR:
	case -ENODEV:
		return memledger_module_outcome(module,
						"reading graphics numbers",
						err);
	case -ENOENT:
		memledger_reasons_add(&numbers->reasons, name,
				      "the loaded module does not have it");
		return 0;
	case -EBADMSG:
		memledger_reasons_add(&numbers->reasons, name,
				      "the module's file holds no number");
		return 0;
	default:
		memledger_reasons_add(&numbers->reasons, name,
				      "it cannot be read: %s", strerror(-err));
		return 0;
	}
}

/* Of a number that is not in the record. */
static int read_number(struct memledger_gpu_numbers *numbers,
		       const struct memledger_module *module, pid_t pid,
		       enum memledger_gpu_number_id id)
{
	const char *name = infos[id].name;
	char file[128];
	int ret;

	snprintf(file, sizeof(file), "processes/%d/graphics/%s", pid, name);
	ret = memledger_module_read_number(module, file,
					   &numbers->number[id].value);
	numbers->number[id].known = !ret;
	return ret ? note_error(numbers, module, name, infos[id].section, ret) :
		     0;
}

static void set(struct memledger_gpu_numbers *numbers,
		enum memledger_gpu_number_id id, u64 value, bool known)
{
	numbers->number[id] = (struct memledger_gpu_number){
		.value = known ? value : 0,
		.known = known,
	};
}

/* The driver's numbers are there all together, or none of them is. */
static void take_record(struct memledger_gpu_numbers *numbers,
			const struct memledger_record *record)
{
	const struct memledger_graphics *graphics = &record->graphics;
	bool told = !(record->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK);
	bool divided = told &&
		       !(record->unavailable & MEMLEDGER_UNAVAILABLE_IMPORTED);
	const char *why = *numbers->provider ?
			  "the GPU driver failed to tell" :
			  "no GPU driver has registered with memledger";
	unsigned int i;

#define X(field) \
	set(numbers, MEMLEDGER_GPU_NUMBER_##field, graphics->field, told);
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
	set(numbers, MEMLEDGER_GPU_NUMBER_imported_mem, graphics->imported_mem,
	    divided);
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		numbers->usage[i] = (struct memledger_gpu_number){
			.value = graphics->usage[i],
			.known = told,
		};
	set(numbers, MEMLEDGER_GPU_NUMBER_device_rss, record->device_rss,
	    true);
	set(numbers, MEMLEDGER_GPU_NUMBER_device_pss,
	    record->device_pss >> MEMLEDGER_PSS_SHIFT, true);

	if (!told) {
		for (i = 0; i < NR_MEMLEDGER_GPU_NUMBERS; i++)
			if (infos[i].section == DRIVER)
				memledger_reasons_add(&numbers->reasons,
						      infos[i].name, "%s",
						      why);
		memledger_reasons_add(&numbers->reasons, "usage", "%s", why);
	} else if (!divided) {
		memledger_reasons_add(&numbers->reasons, "imported_mem",
				      "the GPU driver does not tell who imports a buffer, which the imported rule asks for");
	}
}

static int read_rest(struct memledger_gpu_numbers *numbers,
		     const struct memledger_module *module, pid_t pid)
{
	unsigned int i;
	u64 complete;
	int ret;

	for (i = 0; i < NR_MEMLEDGER_GPU_NUMBERS; i++) {
		if (infos[i].section == DRIVER || infos[i].section == DEVICE)
			continue;
		ret = read_number(numbers, module, pid, i);
		if (ret)
			return ret;
	}
	/* Where there are none nothing is missing. */
	numbers->dmabufs_complete =
		memledger_module_read_number(module, "dmabuf/complete",
					     &complete) || complete;
	return 0;
}

/**
 * memledger_gpu_numbers_read - read the numbers of a tracked process
 * @numbers: gets them
 * @module: the module
 * @live: has the record; the numbers will be of the same snapshot
 *
 * Return: enum memledger_outcome, or -1 with the error set.
 */
int memledger_gpu_numbers_read(struct memledger_gpu_numbers *numbers,
			       const struct memledger_module *module,
			       const struct memledger_live *live)
{
	const struct memledger_record *record = &live->record;
	pid_t pid = record->tgid;
	char file[64];
	u64 generation;
	int ret;

	memset(numbers, 0, sizeof(*numbers));
	numbers->rule = memledger_imported_rule_names[record->imported_rule];
	if (memledger_module_read(module, "gpu/provider", numbers->provider,
				  sizeof(numbers->provider)))
		*numbers->provider = '\0';
	take_record(numbers, record);
	ret = read_rest(numbers, module, pid);
	if (ret)
		return ret;
	snprintf(file, sizeof(file), "processes/%d/generation", pid);
	ret = memledger_module_read_number(module, file, &generation);
	if (ret)
		return memledger_module_outcome(module,
						"reading the generation", ret);
	return generation == record->generation ? MEMLEDGER_GOT :
		MEMLEDGER_NEW_SNAPSHOT;
}

static void print_number(FILE *out, const char *name, enum unit unit,
			 const struct memledger_gpu_number *number,
			 const char *text)
{
	if (!number->known)
		fprintf(out, "%20s %12s   %s\n", name, "-", text);
	else if (unit == BYTES)
		fprintf(out, "%20s %12llu   %s\n", name, number->value >> 10,
			text);
	else
		fprintf(out, "%20s %12llu   %s\n", name, number->value, text);
}

static void print_heading(FILE *out,
			  const struct memledger_gpu_numbers *numbers,
			  enum section section)
{
	char *name;

	fputs(headings[section], out);
	if (section == DRIVER && *numbers->provider) {
		name = memledger_escape_text(numbers->provider, "");
		fprintf(out, " (%s)", name ? name : "");
		free(name);
	}
	putc('\n', out);
}

/**
 * memledger_gpu_numbers_print - print numbers as text
 * @out: where to
 * @numbers: the numbers; those by usage are not printed
 */
void memledger_gpu_numbers_print(FILE *out,
				 const struct memledger_gpu_numbers *numbers)
{
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_GPU_NUMBERS; i++) {
		if (!i || infos[i].section != infos[i - 1].section)
			print_heading(out, numbers, infos[i].section);
		print_number(out, infos[i].name, infos[i].unit,
			     &numbers->number[i], infos[i].text);
	}
}

/**
 * memledger_gpu_numbers_print_json - print numbers as a member of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @numbers: the numbers
 */
void
memledger_gpu_numbers_print_json(FILE *out, bool *first,
				 const struct memledger_gpu_numbers *numbers)
{
	bool first_number = true, first_usage = true;
	unsigned int i;

	memledger_json_string(out, first, "provider", *numbers->provider ?
			      numbers->provider : NULL);
	memledger_json_string(out, first, "imported_rule", numbers->rule);
	memledger_json_key(out, first, "graphics");
	putc('{', out);
	for (i = 0; i < NR_MEMLEDGER_GPU_NUMBERS; i++)
		memledger_json_number(out, &first_number, infos[i].name,
				      numbers->number[i].value,
				      numbers->number[i].known);
	memledger_json_key(out, &first_number, "usage");
	putc('{', out);
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		memledger_json_number(out, &first_usage,
				      memledger_gpu_usage_names[i],
				      numbers->usage[i].value,
				      numbers->usage[i].known);
	fputs("}}", out);
}
