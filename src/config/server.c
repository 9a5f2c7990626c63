/* The section about the server: who may do what, and how much of it. */
#include "config/read.h"

enum server_key {
    ADMINISTRATORS,
    RETENTION,
    GRACE,
    MAX_JOBS_PER_USER,
    MAX_STORED_PER_USER,
    REQUESTS_PER_SECOND,
    TASKS_PER_CORE,
    PROCESSES_PER_CORE,
    IMAGINED,
    PROLOGUE,
    EPILOGUE,
    HOOK_LIMIT,
    SERVER_KEYS
};
static const char *const server_names[] = {"administrators",
                                           "retention",
                                           "grace",
                                           "max-jobs-per-user",
                                           "max-stored-per-user",
                                           "requests-per-second",
                                           "tasks-per-core",
                                           "processes-per-core",
                                           "imagined",
                                           "prologue",
                                           "epilogue",
                                           "hook-limit"};
static const struct doc_keys server_keys = {"the server", server_names, SERVER_KEYS, 0};

#define STORED_PER_USER (INT64_C(1) << 30)

enum {
    RETENTION_DAYS = 90,
    GRACE_SECONDS = 30,
    HOOK_SECONDS = 300,
    JOBS_PER_USER = 1000000,
    REQUESTS = 10000,
    TASKS_MOST = 1000
};

int read_server(struct reading *r, uint32_t i)
{
    struct config_server *server = &r->config->server;
    uint32_t value[SERVER_KEYS];

    server->retention = (int64_t)RETENTION_DAYS * 86400 * r->second;
    server->grace = GRACE_SECONDS * r->second;
    server->max_jobs_per_user = JOBS_PER_USER;
    server->max_stored_per_user = STORED_PER_USER;
    server->requests_per_second = REQUESTS;
    server->tasks_per_core = 1;
    server->processes_per_core = 0;
    server->imagined = false;
    server->prologue = server->epilogue = NULL;
    server->hook_limit = HOOK_SECONDS * r->second;
    if (i == DOC_NONE)
        return 0;
    if (doc_fields(&r->doc, i, &server_keys, value) < 0 ||
        value_names(r, value[ADMINISTRATORS], "administrators", &server->administrators,
                    &server->n_administrators) < 0 ||
        value_time(r, value[RETENTION], "retention", TIME_UNLIMITED_TOO, &server->retention) < 0 ||
        value_time(r, value[GRACE], "grace", TIME_ZERO_TOO, &server->grace) < 0 ||
        value_number(r, value[MAX_JOBS_PER_USER], "max-jobs-per-user", 1, COUNT_MAX, true,
                     &server->max_jobs_per_user) < 0 ||
        value_size(r, value[MAX_STORED_PER_USER], "max-stored-per-user",
                   &server->max_stored_per_user) < 0 ||
        value_number(r, value[TASKS_PER_CORE], "tasks-per-core", 1, TASKS_MOST, false,
                     &server->tasks_per_core) < 0 ||
        value_number(r, value[PROCESSES_PER_CORE], "processes-per-core", 1, COUNT_MAX, true,
                     &server->processes_per_core) < 0 ||
        value_switch(r, value[IMAGINED], "imagined", &server->imagined) < 0 ||
        value_command(r, value[PROLOGUE], "prologue", &server->prologue) < 0 ||
        value_command(r, value[EPILOGUE], "epilogue", &server->epilogue) < 0 ||
        value_time(r, value[HOOK_LIMIT], "hook-limit", TIME_POSITIVE, &server->hook_limit) < 0)
        return -1;
    return value_number(r, value[REQUESTS_PER_SECOND], "requests-per-second", 1, COUNT_MAX, true,
                        &server->requests_per_second);
}
