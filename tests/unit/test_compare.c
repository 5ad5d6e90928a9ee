/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/spec.c tools/dockrun/compare.c */
/* A container that is not what was asked for is refused, and the field named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "compare.h"
#include "err.h"
#include "json.h"
#include "sample.h"

static cJSON *sent; /* what every test asks for */

static int
render_sample(void **state)
{
	struct err e;
	struct spec s;

	(void)state;
	sent = sample_make(&s) ? spec_render(&s, &e) : NULL;
	spec_release(&s);
	return sent != NULL ? 0 : -1;
}

static int
drop_sample(void **state)
{
	(void)state;
	cJSON_Delete(sent);
	return 0;
}

/* Reading is for json.c; here the tree is ours to change. */
static cJSON *
at(cJSON *j, const char *key)
{
	cJSON *v = cJSON_GetObjectItemCaseSensitive(j, key);

	assert_non_null(v);
	return v;
}

static cJSON *
parsed(const char *text)
{
	struct err e = { 0 };
	cJSON *j = json_parse(text, strlen(text), &e);

	if (j == NULL)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static void
add_mount(cJSON *list, const char *source, const char *target, bool writable)
{
	cJSON *m = cJSON_CreateObject();
	bool ok = m != NULL;

	json_put_str(m, "Type", "bind", &ok);
	json_put_str(m, "Source", source, &ok);
	json_put_str(m, "Destination", target, &ok);
	json_put_str(m, "Mode", "", &ok);
	json_put_bool(m, "RW", writable, &ok);
	json_put_str(m, "Propagation", "rprivate", &ok);
	assert_true(ok && cJSON_AddItemToArray(list, m));
}

/* The answer of an engine that did as it was told. */
static cJSON *
honest(void)
{
	cJSON *j = cJSON_CreateObject();
	cJSON *config = cJSON_Duplicate(sent, true);
	cJSON *host =
	    cJSON_DetachItemFromObjectCaseSensitive(config, "HostConfig");
	cJSON *mounts = cJSON_CreateArray();
	const cJSON *m;

	cJSON_ArrayForEach(m, at(host, "Mounts"))
	{
		add_mount(mounts, json_at_str(m, "Source"),
		    json_at_str(m, "Target"), !json_at_true(m, "ReadOnly"));
	}
	assert_non_null(cJSON_AddStringToObject(j, "Image", SAMPLE_IMAGE));
	assert_true(cJSON_AddItemToObject(j, "Config", config));
	assert_true(cJSON_AddItemToObject(j, "HostConfig", host));
	assert_true(cJSON_AddItemToObject(j, "Mounts", mounts));
	return j;
}

static int
compare(const cJSON *inspected, struct err *e)
{
	*e = (struct err){ 0 };
	return compare_created(sent, inspected, SAMPLE_IMAGE, e);
}

/* Compares and releases; NULL when accepted, else what was said. */
static const char *
verdict_on(cJSON *inspected)
{
	static struct err e;
	int rc = compare(inspected, &e);

	cJSON_Delete(inspected);
	if (rc == 0)
		return NULL;
	assert_int_equal(e.exit, EX_CONFIG);
	return e.text;
}

static void
what_was_asked_for_is_accepted(void **state)
{
	(void)state;
	assert_null(verdict_on(honest()));
}

static bool
is_empty(const cJSON *v)
{
	return cJSON_IsNull(v) || cJSON_IsFalse(v) ||
	    (cJSON_IsNumber(v) && v->valuedouble == 0) ||
	    (cJSON_IsString(v) && v->valuestring[0] == '\0') ||
	    ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL);
}

/* The nth node below parent, and its own parent. */
static cJSON *
nth_below(cJSON *parent, size_t *nth, cJSON **its_parent)
{
	for (cJSON *c = parent->child; c != NULL; c = c->next) {
		cJSON *found;

		if ((*nth)-- == 0) {
			*its_parent = parent;
			return c;
		}
		found = nth_below(c, nth, its_parent);
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* A field or one of its parts, in an answer that can be spoiled. */
struct victim {
	cJSON *answer;
	cJSON *node;
	cJSON *parent;
	char field[100]; /* "HostConfig.Memory" */
};

/* The nth part (0: all) of a field of Config or HostConfig. */
static bool
choose(struct victim *v, const char *where, const char *key, size_t nth)
{
	v->answer = honest();
	v->parent = at(v->answer, where);
	v->node = at(v->parent, key);
	(void)snprintf(v->field, sizeof(v->field), "%s.%s", where, key);
	if (nth == 0)
		return true;
	nth--;
	v->node = nth_below(v->node, &nth, &v->parent);
	if (v->node == NULL)
		cJSON_Delete(v->answer);
	return v->node != NULL;
}

/* Another value of the same type; false for an object that only gains. */
static bool
change(cJSON *v)
{
	bool may_gain = cJSON_IsObject(v) && v->child != NULL &&
	    (v->string == NULL || strcmp(v->string, "Tmpfs") != 0);

	if (cJSON_IsString(v))
		assert_non_null(cJSON_SetValuestring(v, "other"));
	else if (cJSON_IsNumber(v))
		(void)cJSON_SetNumberHelper(v, v->valuedouble + 1);
	else if (cJSON_IsArray(v))
		assert_true(
		    cJSON_AddItemToArray(v, cJSON_CreateString("other")));
	else if (cJSON_IsObject(v))
		assert_non_null(cJSON_AddStringToObject(v, "other", "x"));
	else
		v->type ^= cJSON_True ^ cJSON_False;
	return !may_gain;
}

static void
replace(struct victim *v, const char *text)
{
	cJSON *other = parsed(text);

	if (cJSON_IsObject(v->parent))
		assert_true(cJSON_ReplaceItemInObjectCaseSensitive(
		    v->parent, v->node->string, other));
	else
		assert_true(
		    cJSON_ReplaceItemViaPointer(v->parent, v->node, other));
}

static void
expect(const struct victim *v, bool refused, const char *how)
{
	char want[150];
	const char *text = verdict_on(v->answer);

	(void)snprintf(
	    want, sizeof(want), "the engine changed %s: asked for ", v->field);
	if (!refused && text != NULL)
		fail_msg("%s %s: %s", v->field, how, text);
	if (refused && text == NULL)
		fail_msg("%s %s: accepted", v->field, how);
	if (refused && strncmp(text, want, strlen(want)) != 0)
		fail_msg("%s %s: not named: %s", v->field, how, text);
}

/* Every field but those that have rules of their own. */
typedef void spoil(const char *where, const char *key, size_t nth, bool *more);

static void
spoil_all(spoil *f)
{
	const cJSON *tops[] = { sent, json_at(sent, "HostConfig") };
	static const char *const names[] = { "Config", "HostConfig" };
	size_t fields = 0;

	for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
		const cJSON *c;

		cJSON_ArrayForEach(c, tops[i])
		{
			bool more = strcmp(c->string, "HostConfig") != 0 &&
			    strcmp(c->string, "Env") != 0;

			fields += more;
			for (size_t nth = 0; more; nth++)
				f(names[i], c->string, nth, &more);
		}
	}
	assert_true(fields > 50);
}

static void
spoil_by_change(const char *where, const char *key, size_t nth, bool *more)
{
	struct victim v;

	*more = choose(&v, where, key, nth);
	if (*more)
		expect(&v, change(v.node), "changed");
}

static void
a_changed_field_is_refused_and_named(void **state)
{
	(void)state;
	spoil_all(spoil_by_change);
}

static void
spoil_by_drop(const char *where, const char *key, size_t nth, bool *more)
{
	struct victim v;
	bool refused;

	*more = choose(&v, where, key, nth);
	if (!*more)
		return;
	refused = !is_empty(v.node);
	cJSON_Delete(cJSON_DetachItemViaPointer(v.parent, v.node));
	expect(&v, refused, "dropped");
}

static void
a_dropped_field_is_refused_unless_it_was_empty(void **state)
{
	(void)state;
	spoil_all(spoil_by_drop);
}

static const char *const empties[] = { "null", "false", "0", "\"\"", "[]",
	"{}" };

static void
spoil_by_emptying(const char *where, const char *key, size_t nth, bool *more)
{
	for (size_t i = 0; i < ARRAY_LEN(empties); i++) {
		struct victim v;
		bool refused;

		*more = choose(&v, where, key, nth);
		if (!*more)
			return;
		refused = !is_empty(v.node);
		replace(&v, empties[i]);
		expect(&v, refused, empties[i]);
	}
}

static void
an_emptied_field_is_refused_unless_it_was_empty(void **state)
{
	(void)state;
	spoil_all(spoil_by_emptying);
}

static void
spoil_by_type(const char *where, const char *key, size_t nth, bool *more)
{
	static const char *const others[] = { "true", "1", "\"x\"", "[[1]]",
		"{\"x\":1}" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct victim v;
		bool refused;

		*more = choose(&v, where, key, nth);
		if (!*more)
			return;
		refused = !cJSON_IsTrue(v.node) || i > 0;
		replace(&v, others[i]);
		expect(&v, refused, others[i]);
	}
}

static void
a_field_of_another_type_is_refused(void **state)
{
	(void)state;
	spoil_all(spoil_by_type);
}

static void
what_was_not_asked_about_may_be_there(void **state)
{
	cJSON *j = honest();
	bool ok = true;

	(void)state;
	json_put_str(j, "Driver", "overlay2", &ok);
	json_put_str(at(j, "Config"), "Domainname", "x", &ok);
	json_put_int(at(j, "HostConfig"), "CpuShares", 7, &ok);
	json_put_str(
	    at(at(j, "Config"), "Labels"), "maintainer", "image's", &ok);
	(void)json_put_obj(at(at(j, "HostConfig"), "LogConfig"), "Config", &ok);
	assert_true(ok);
	assert_null(verdict_on(j));
}

static void
the_environment_may_gain_but_not_lose(void **state)
{
	static const char *const names[] = { "HOME", "FUZZMILL_RUN", "EMPTY" };
	cJSON *j = honest();
	cJSON *env = at(at(j, "Config"), "Env");

	(void)state;
	assert_true(
	    cJSON_InsertItemInArray(env, 0, cJSON_CreateString("PATH=/bin")));
	assert_null(verdict_on(j));
	assert_int_equal(
	    cJSON_GetArraySize(at(sent, "Env")), (int)ARRAY_LEN(names));
	for (int i = 0; i < (int)ARRAY_LEN(names); i++) {
		char want[100];

		j = honest();
		(void)snprintf(want, sizeof(want),
		    "the engine dropped %s from the environment", names[i]);
		cJSON_DeleteItemFromArray(at(at(j, "Config"), "Env"), i);
		assert_string_equal(verdict_on(j), want);
		j = honest();
		(void)change(cJSON_GetArrayItem(at(at(j, "Config"), "Env"), i));
		assert_string_equal(verdict_on(j), want);
	}
	j = honest();
	cJSON_DeleteItemFromObjectCaseSensitive(at(j, "Config"), "Env");
	assert_string_equal(
	    verdict_on(j), "the engine dropped HOME from the environment");
}

static void
mounts_may_come_in_any_order(void **state)
{
	cJSON *j = honest();
	cJSON *mounts = at(j, "Mounts");

	(void)state;
	assert_true(
	    cJSON_AddItemToArray(mounts, cJSON_DetachItemFromArray(mounts, 0)));
	assert_null(verdict_on(j));
}

static void
an_extra_mount_is_refused_by_its_place(void **state)
{
	cJSON *j = honest();

	(void)state;
	add_mount(at(j, "Mounts"), "/var/lib/docker/volumes/x", "/data", true);
	assert_string_equal(verdict_on(j),
	    "the engine added a mount at /data (a VOLUME of the image?); "
	    "the container was not started");
	j = honest();
	assert_true(
	    cJSON_AddItemToArray(at(j, "Mounts"), cJSON_CreateObject()));
	assert_non_null(strstr(verdict_on(j), "added a mount at ?"));
	j = honest();
	add_mount(at(j, "Mounts"), "/src/target", "/target", false);
	assert_string_equal(verdict_on(j), "the engine lists a mount twice");
}

static void
a_mount_that_is_not_ours_is_refused(void **state)
{
	static const char *const fields[] = { "Source", "Destination", "RW" };

	(void)state;
	for (int i = 0;
	     i < cJSON_GetArraySize(json_at(sent, "HostConfig.Mounts")); i++) {
		cJSON *j = honest();

		cJSON_DeleteItemFromArray(at(j, "Mounts"), i);
		assert_memory_equal(
		    verdict_on(j), "the engine changed Mounts: ", 27);
		for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
			cJSON *m;

			j = honest();
			m = cJSON_GetArrayItem(at(j, "Mounts"), i);
			(void)change(at(m, fields[k]));
			assert_memory_equal(
			    verdict_on(j), "the engine changed Mounts: ", 27);
		}
	}
}

static void
no_mounts_at_all_is_refused(void **state)
{
	cJSON *j = honest();

	(void)state;
	cJSON_DeleteItemFromObjectCaseSensitive(j, "Mounts");
	assert_non_null(strstr(verdict_on(j), "made nothing"));
}

static void
another_image_is_refused(void **state)
{
	cJSON *j = honest();

	(void)state;
	(void)change(at(j, "Image"));
	assert_string_equal(verdict_on(j),
	    "the engine took another image: asked for " SAMPLE_IMAGE
	    ", took other");
	j = honest();
	cJSON_DeleteItemFromObjectCaseSensitive(j, "Image");
	assert_non_null(strstr(verdict_on(j), "took nothing"));
}

static void
an_answer_that_is_none_is_refused(void **state)
{
	static const char *const answers[] = { "{}", "[]", "null", "1",
		"{\"Image\":\"" SAMPLE_IMAGE "\"}",
		"{\"Image\":\"" SAMPLE_IMAGE "\",\"Config\":[],"
		"\"HostConfig\":\"\",\"Mounts\":{}}" };
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		assert_non_null(verdict_on(parsed(answers[i])));
	assert_int_equal(compare(NULL, &e), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_asked_for_is_accepted),
		cmocka_unit_test(a_changed_field_is_refused_and_named),
		cmocka_unit_test(
		    a_dropped_field_is_refused_unless_it_was_empty),
		cmocka_unit_test(
		    an_emptied_field_is_refused_unless_it_was_empty),
		cmocka_unit_test(a_field_of_another_type_is_refused),
		cmocka_unit_test(what_was_not_asked_about_may_be_there),
		cmocka_unit_test(the_environment_may_gain_but_not_lose),
		cmocka_unit_test(mounts_may_come_in_any_order),
		cmocka_unit_test(an_extra_mount_is_refused_by_its_place),
		cmocka_unit_test(a_mount_that_is_not_ours_is_refused),
		cmocka_unit_test(no_mounts_at_all_is_refused),
		cmocka_unit_test(another_image_is_refused),
		cmocka_unit_test(an_answer_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, render_sample, drop_sample);
}
