/* A well-behaved skill, from which the others are derived. Each `answer` is just large enough for this test, and not for reuse. */
#include "metier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CONTRIBUTES
#define CONTRIBUTES "{\"result\":{\"tools\":[{\"name\":\"t\"}]}}"
#endif

static int is(struct metier_bytes request, const char *word)
{
    /* Requests do not end with a zero byte. */
    return memmem(request.data, request.length, word, strlen(word)) != NULL;
}

static int32_t say(struct metier_bytes *answer, const char *text)
{
    char *copy = strdup(text);
    answer->data = (const uint8_t *)copy;
    answer->length = strlen(copy);
    return 0;
}

/* The body of the tool: the part that differs. */
static int32_t tool(struct metier_bytes request, const struct metier_host *host, struct metier_bytes *answer);

static void *create(void)
{
    static int skill;
    return &skill;
}

static int32_t answer(void *skill, struct metier_bytes request, const struct metier_host *host, struct metier_bytes *out)
{
    (void)skill;
    if (is(request, "\"method\":\"initialize\""))
        return say(out, CONTRIBUTES);
    if (is(request, "\"method\":\"shutdown\""))
        return say(out, "{\"result\":{}}");
    if (is(request, "\"good\":true"))
        return say(out, "{\"result\":{\"output\":\"good\"}}");
    return tool(request, host, out);
}

static void release(void *skill, struct metier_bytes out)
{
    (void)skill;
    free((void *)out.data);
}

static void destroy(void *skill)
{
    (void)skill;
}

#ifndef TABLE
#define TABLE {METIER_ABI, sizeof(struct metier_skill), create, answer, release, destroy}
#endif

#ifndef NO_TABLE
const struct metier_skill *metier_skill_v1(void)
{
    static const struct metier_skill table = TABLE;
    return &table;
}
#endif
