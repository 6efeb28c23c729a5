/*
 * metier.h — a skill as a library, in C or in whatever can speak C.
 *
 * A skill exports one function, metier_skill_v1, which gives out a table. metier loads the library in a process of its own and
 * calls the functions of the table, one after the other, from one thread. What is exchanged is JSON in UTF-8 with its length;
 * nothing ends with a zero byte. The messages are those of the skill protocol (sdk/schema/wire.json), without `jsonrpc` and `id`:
 *
 *     {"method":"initialize","params":{"protocol":1,"skill":"greeter","directory":"…"}}
 *         → {"result":{"tools":[{"name":"greet"}],"manifest":{"name":"greeter","version":"1.0.0"}}}
 *     {"method":"tool/execute","params":{"name":"greet","input":{"who":"Ada"}}}
 *         → {"result":{"output":"Hello, Ada"}}
 *         → {"error":{"code":-32603,"message":"it broke"}}
 *
 * Who owns what:
 *   - a request is the host's, and is there until `answer` returns;
 *   - an answer is the library's, and is there until the host gives it back with `release`, which it does once for each;
 *   - a question is the library's, and is there until `ask` returns;
 *   - what `ask` gives is the host's, and is there until the next `ask` or until `answer` returns.
 *
 * A library is never unloaded. What it prints is its log. A crash ends its process, and costs it the call.
 */
#ifndef METIER_H
#define METIER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this border; a table of another version is not used. */
#define METIER_ABI 1u

/* Bytes and how many there are. They belong to whoever made them. */
struct metier_bytes {
    const uint8_t *data; /* may be NULL if there are none */
    size_t length;
};

/* The host's side. */
struct metier_host {
    void *context; /* the host's own: pass it to `ask` */
    /*
     * Asks {"method":"host/read_file","params":{"path":"…"}} and the like; gives {"result":…} or {"error":{"code":…,"message":"…"}}.
     * The code -32001 is a refusal: it was not permitted. Only to be called by the thread that was called with `answer`, and
     * before that returns; whoever else calls it gets an error.
     */
    struct metier_bytes (*ask)(void *context, struct metier_bytes request);
};

/* The skill's side. */
struct metier_skill {
    uint32_t abi;  /* METIER_ABI */
    uint32_t size; /* sizeof(struct metier_skill) */
    /* Makes a skill; NULL if it can't. It is passed to the other functions. */
    void *(*create)(void);
    /* Answers a request: writes its answer to *answer and returns 0. Anything else says that there is no answer. */
    int32_t (*answer)(void *skill, struct metier_bytes request, const struct metier_host *host, struct metier_bytes *answer);
    /* Takes an answer back. */
    void (*release)(void *skill, struct metier_bytes answer);
    /* Ends a skill, after its last answer was taken back. */
    void (*destroy)(void *skill);
};

#if defined(__GNUC__) || defined(__clang__)
#define METIER_EXPORT __attribute__((visibility("default")))
#else
#define METIER_EXPORT
#endif

/* What a library exports. The table must be there as long as the library. */
METIER_EXPORT const struct metier_skill *metier_skill_v1(void);

#ifdef __cplusplus
}
#endif

#endif
