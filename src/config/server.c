/* The section about the server: who may do what, and how much of it. */
#include "config/read.h"

enum server_key {
    ADMINISTRATORS,
    RETENTION,
    GRACE,
    MAX_JOBS_PER_USER,
    REQUESTS_PER_SECOND,
    SERVER_KEYS
};
static const char *const server_names[] = {"administrators", "retention", "grace",
                                           "max-jobs-per-user", "requests-per-second"};
static const struct doc_keys server_keys = {"the server", server_names, SERVER_KEYS, 0};

enum { RETENTION_DAYS = 90, GRACE_SECONDS = 30, JOBS_PER_USER = 1000000, REQUESTS = 10000 };

int read_server(struct reading *r, uint32_t i)
{
    struct config_server *server = &r->config->server;
    uint32_t value[SERVER_KEYS];

    server->retention = (int64_t)RETENTION_DAYS * 86400 * r->second;
    server->grace = GRACE_SECONDS * r->second;
    server->max_jobs_per_user = JOBS_PER_USER;
    server->requests_per_second = REQUESTS;
    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &server_keys, value) < 0 ||
        value_names(r, value[ADMINISTRATORS], "administrators", &server->administrators,
                    &server->n_administrators) < 0 ||
        value_time(r, value[RETENTION], "retention", TIME_UNLIMITED_TOO, &server->retention) < 0 ||
        value_time(r, value[GRACE], "grace", TIME_ZERO_TOO, &server->grace) < 0 ||
        value_number(r, value[MAX_JOBS_PER_USER], "max-jobs-per-user", 1, COUNT_MAX, true,
                     &server->max_jobs_per_user) < 0)
        return -1;
    return value_number(r, value[REQUESTS_PER_SECOND], "requests-per-second", 1, COUNT_MAX, true,
                        &server->requests_per_second);
}
