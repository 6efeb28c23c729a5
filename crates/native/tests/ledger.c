/* A skill that keeps book of what the border says: who made what, and who gave it back. */
#include "metier.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int made, released;
static const struct metier_host *known;
static char late[512];

static int is(struct metier_bytes request, const char *word)
{
    return memmem(request.data, request.length, word, strlen(word)) != NULL;
}

static struct metier_bytes bytes(const char *text)
{
    struct metier_bytes all = {(const uint8_t *)text, strlen(text)};
    return all;
}

static int32_t give(struct metier_bytes *answer, char *text)
{
    made++;
    *answer = bytes(text);
    return 0;
}

static void *ask_late(void *nothing)
{
    (void)nothing;
    struct metier_bytes heard = known->ask(known->context, bytes("{\"method\":\"host/env\",\"params\":{\"name\":\"LATE\"}}"));
    snprintf(late, sizeof late, "%.*s", (int)heard.length, heard.data);
    return NULL;
}

/* Asks everything that can be asked wrongly, and one thing rightly; the answers one after the other. */
static char *questions(const struct metier_host *host)
{
    struct metier_bytes none = {NULL, 0}, nowhere = {NULL, 100}, endless = {(const uint8_t *)"{}", SIZE_MAX};
    struct metier_bytes all[] = {
        none,
        nowhere,
        endless,
        bytes("good morning"),
        bytes("{\"method\":\"host/format_disk\",\"params\":{}}"),
        bytes("{\"method\":\"host/env\",\"params\":{\"name\":\"GREETING\"}}"),
    };
    char *text = malloc(8192);
    size_t end = sprintf(text, "{\"result\":[");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct metier_bytes heard = host->ask(host->context, all[i]);
        end += sprintf(text + end, "%s%.*s", i ? "," : "", (int)heard.length, heard.data);
    }
    sprintf(text + end, "]}");
    return text;
}

static void *create(void)
{
    return malloc(1);
}

static int32_t answer(void *skill, struct metier_bytes request, const struct metier_host *host, struct metier_bytes *out)
{
    (void)skill;
    char *text;
    known = host;
    if (is(request, "\"method\":\"questions\""))
        return give(out, questions(host));
    if (is(request, "\"method\":\"late\"")) {
        pthread_t thread;
        pthread_create(&thread, NULL, ask_late, NULL);
        pthread_join(thread, NULL);
        return give(out, strdup(late));
    }
    if (is(request, "\"method\":\"fails\""))
        return 9;
    asprintf(&text, "{\"result\":{\"made\":%d,\"released\":%d}}", made, released);
    return give(out, text);
}

static void release(void *skill, struct metier_bytes out)
{
    (void)skill;
    released++;
    free((void *)out.data);
}

static void destroy(void *skill)
{
    free(skill);
    const char *path = getenv("METIER_TEST_LEDGER");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "made %d, released %d", made, released);
        fclose(file);
    }
}

const struct metier_skill *metier_skill_v1(void)
{
    static const struct metier_skill table = {METIER_ABI, sizeof table, create, answer, release, destroy};
    return &table;
}
