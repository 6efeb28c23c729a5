/*
 * metier.h — a skill as a library, in C or in any language with a C interface.
 *
 * A skill exports one function, metier_skill_v1, which returns a table. metier loads the library in a separate process and
 * calls the functions of the table, one after the other, from one thread. Messages are JSON in UTF-8 with their length;
 * no zero byte follows them. They are those of the skill protocol (sdk/schema/wire.json), without `jsonrpc` and `id`:
 *
 *     {"method":"initialize","params":{"protocol":1,"skill":"greeter","directory":"…"}}
 *         → {"result":{"tools":[{"name":"greet"}],"manifest":{"name":"greeter","version":"1.0.0"}}}
 *     {"method":"tool/execute","params":{"name":"greet","input":{"who":"Ada"}}}
 *         → {"result":{"output":"Hello, Ada"}}
 *         → {"error":{"code":-32603,"message":"it broke"}}
 *
 * Ownership:
 *   - a request belongs to the host, and is valid until `answer` returns;
 *   - an answer belongs to the library, and is valid until the host returns it with `release`, once for each answer;
 *   - a question belongs to the library, and is valid until `ask` returns;
 *   - the result of `ask` belongs to the host, and is valid until the next `ask` or until `answer` returns.
 *
 * A library is never unloaded. Its output is its log. A crash ends its process and fails the call.
 */
#ifndef METIER_H
#define METIER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; a table of another version is rejected. */
#define METIER_ABI 1u

/* Bytes and their number. They belong to the side that allocated them. */
struct metier_bytes {
    const uint8_t *data; /* may be NULL if there are none */
    size_t length;
};

/* The host's side. */
struct metier_host {
    void *context; /* the host's state: pass it to `ask` */
    /*
     * Takes {"method":"host/read_file","params":{"path":"…"}} or similar; returns {"result":…} or {"error":{"code":…,"message":"…"}}.
     * The code -32001 is a refusal: the request is not permitted. Only the thread that runs `answer` can call it, and only
     * before `answer` returns; any other call gets an error.
     */
    struct metier_bytes (*ask)(void *context, struct metier_bytes request);
};

/* The skill's side. */
struct metier_skill {
    uint32_t abi;  /* METIER_ABI */
    uint32_t size; /* sizeof(struct metier_skill) */
    /* Creates a skill; NULL on failure. It is passed to the other functions. */
    void *(*create)(void);
    /* Answers a request: writes its answer to *answer and returns 0. Any other value means that there is no answer. */
    int32_t (*answer)(void *skill, struct metier_bytes request, const struct metier_host *host, struct metier_bytes *answer);
    /* Frees an answer. */
    void (*release)(void *skill, struct metier_bytes answer);
    /* Destroys a skill, after its last answer was freed. */
    void (*destroy)(void *skill);
};

#if defined(__GNUC__) || defined(__clang__)
#define METIER_EXPORT __attribute__((visibility("default")))
#else
#define METIER_EXPORT
#endif

/* The export of a library. The table must stay valid as long as the library is loaded. */
METIER_EXPORT const struct metier_skill *metier_skill_v1(void);

#ifdef __cplusplus
}
#endif

#endif
