// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does, when it is loaded, one thing of each kind that must not be done in a
 * kernel. That a debug kernel had nothing to say of memledger is worth something
 * only where the same kernel, run in the same way, reports these.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *plant = "";
module_param(plant, charp, 0400);
MODULE_PARM_DESC(plant, "what to do, by names with commas between");

static void use_after_free(void)
{
	int *freed = kmalloc(sizeof(*freed), GFP_KERNEL);
	int *kept = freed;

	OPTIMIZER_HIDE_VAR(kept);
	kfree(freed);
	if (kept)
		READ_ONCE(*kept);
}

static unsigned long sink;

static void shift_too_far(void)
{
	unsigned int by = BITS_PER_LONG + 8;

	OPTIMIZER_HIDE_VAR(by);
	WRITE_ONCE(sink, 1UL << by);
}

static void leak(void)
{
	void *lost = kmalloc(200, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static void unguarded_rcu(void)
{
	static int __rcu *guarded;

	WRITE_ONCE(sink, (unsigned long)rcu_dereference(guarded));
}

static void lock_inversion(void)
{
	static DEFINE_MUTEX(one);
	static DEFINE_MUTEX(other);

	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);

	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

static void put_too_often(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

struct ticking {
	struct timer_list timer;
};

static void tick(struct timer_list *timer)
{
}

static void free_while_active(void)
{
	struct ticking *ticking = kzalloc(sizeof(*ticking), GFP_KERNEL);

	if (!ticking)
		return;
	timer_setup(&ticking->timer, tick, 0);
	mod_timer(&ticking->timer, jiffies + HZ);
	/* Whoever finds it stops the timer. */
	kfree(ticking);
}

static unsigned long contested;
static DECLARE_COMPLETION(raced);

static int race_on(void *arg)
{
	unsigned long end = jiffies + 5 * HZ;

	while (time_before(jiffies, end)) {
		for (int i = 0; i < 1000; i++) {
			contested++;
			barrier();
		}
		cond_resched();
	}
	complete(&raced);
	return 0;
}

static void race(void)
{
	int nr = 0;

	for (int i = 0; i < 2; i++)
		nr += !IS_ERR(kthread_run(race_on, NULL, "race_on"));
	while (nr--)
		wait_for_completion(&raced);
}

/* lockdep goes off with its own first report of a lock, and with one of KASAN. */
static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "unguarded_rcu", unguarded_rcu },
	{ "lock_inversion", lock_inversion },
	{ "use_after_free", use_after_free },
	{ "shift_too_far", shift_too_far },
	{ "leak", leak },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "put_too_often", put_too_often },
	{ "free_while_active", free_while_active },
	{ "race", race },
};

static bool is_wanted(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = plant; *at; at++) {
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
		at = strchrnul(at, ',');
		if (!*at)
			break;
	}
	return false;
}

static int __init planted_init(void)
{
	for (int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is_wanted(kinds[i].name))
			kinds[i].run();
	return 0;
}
module_init(planted_init);

/* Without it the module could not be unloaded. */
static void __exit planted_exit(void)
{
}
module_exit(planted_exit);

MODULE_DESCRIPTION("One of each mistake that a debug kernel has to find");
MODULE_LICENSE("GPL");
