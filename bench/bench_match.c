/* What matching costs: a job's text read, matched and its resources told in `simple`, under every policy,
 * on three machines; and what loading them costs. Each row is a process of its own, so that none finds the
 * memory of another.
 *
 * With BERTH_BENCH_PEER naming a resource-query, the same commands go through it, and what it tells of its
 * time (-e) stands beside; its slowest runs are left out.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "berth/match.h"
#include "measure.h"

enum { TEXT = 8192, HELD = 10000, JOBS_MAX = 1024, PEER_JOBS = 20 };

static const char *const policies[] = {"first",  "firstnodex", "low",     "high",     "lonode",
                                       "hinode", "lonodex",    "hinodex", "locality", "variation",
                                       "pack",   "spread",     "balance", "nodeorder"};

static const struct machine {
    const char *name;
    int racks, nodes, sockets, cores, gpus; /* of what is above; 0: no such level */
} machines[] = {
    {"m1", 160, 64, 2, 32, 2},
    {"m2", 16, 64, 2, 16, 2},
    {"m3", 0, 16384, 0, 48, 4},
};

static const struct series {
    const char *what;
    int machine, slots, sockets, cores;
    int held;  /* jobs before, each of another duration, that aren't measured */
    int jobs;  /* that are */
    bool last; /* the one node with a property, which is held the longest */
    bool peer; /* takes it seconds, not hours */
    match_op_t op;
} all_series[] = {
    {"m1, one node", 0, 1, 2, 32, 0, 200, false, true, MATCH_ALLOCATE},
    {"m1, 10,000 held", 0, 1, 2, 32, HELD, 200, false, false, MATCH_ALLOCATE},
    {"m2, four nodes or later", 1, 4, 2, 16, 0, 1024, false, true, MATCH_ALLOCATE_ORELSE_RESERVE},
    {"m3, the last to be free", 2, 1, 0, 0, 16384, 5, true, false, MATCH_WITHOUT_ALLOCATING_FUTURE},
};

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_match: %s\n", what);
    exit(1);
}

static size_t put_level(char *text, size_t n, const char *above, const char *type, int scale,
                        int scope)
{
    return n + (size_t)snprintf(
                   text + n, TEXT - n,
                   "<node id=\"%s\"><data key=\"type\">%s</data><data "
                   "key=\"basename\">%s</data></node>\n"
                   "<edge id=\"%s2%s\" source=\"%s\" target=\"%s\"><data key=\"id_scope\">%d</data>"
                   "<data key=\"multi_scale\">%d</data></edge>\n",
                   type, type, type, above, type, above, type, scope, scale);
}

/* The keys of a recipe; the peer wants a default for all that a recipe leaves out. */
static size_t put_keys(char *text)
{
    static const char *const keys[][4] = {{"node", "root", "int", "0"},
                                          {"node", "type", "string", NULL},
                                          {"node", "basename", "string", NULL},
                                          {"node", "unit", "string", ""},
                                          {"node", "size", "long", "1"},
                                          {"node", "subsystem", "string", "containment"},
                                          {"edge", "e_subsystem", "string", "containment"},
                                          {"edge", "relation", "string", "contains"},
                                          {"edge", "rrelation", "string", "in"},
                                          {"edge", "id_scope", "int", "0"},
                                          {"edge", "id_start", "int", "0"},
                                          {"edge", "id_stride", "int", "1"},
                                          {"edge", "gen_method", "string", "MULTIPLY"},
                                          {"edge", "multi_scale", "int", "1"},
                                          {"edge", "as_tgt_subsystem", "string", "containment"},
                                          {"edge", "as_tgt_uplvl", "int", "1"},
                                          {"edge", "as_src_uplvl", "int", "1"}};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        n += (size_t)snprintf(text + n, TEXT - n,
                              "<key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\">"
                              "%s%s%s</key>\n",
                              keys[i][1], keys[i][0], keys[i][1], keys[i][2],
                              keys[i][3] ? "<default>" : "", keys[i][3] ? keys[i][3] : "",
                              keys[i][3] ? "</default>" : "");
    return n;
}

/* The recipe of a machine. */
static size_t put_machine(char *text, const struct machine *m)
{
    const char *up = "cluster";
    size_t n = (size_t)snprintf(text, TEXT,
                                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");

    n += put_keys(text + n);
    n += (size_t)snprintf(text + n, TEXT - n,
                          "<graph id=\"g\" edgedefault=\"directed\"><node id=\"cluster\">"
                          "<data key=\"root\">1</data><data key=\"type\">cluster</data>"
                          "<data key=\"basename\">cluster</data></node>\n");
    if (m->racks) {
        n = put_level(text, n, up, "rack", m->racks, 0);
        up = "rack";
    }
    n = put_level(text, n, up, "node", m->nodes, m->racks ? 1 : 0);
    up = "node";
    if (m->sockets) {
        n = put_level(text, n, up, "socket", m->sockets, 0);
        up = "socket";
    }
    n = put_level(text, n, up, "core", m->cores, m->sockets ? 1 : 0);
    n = put_level(text, n, up, "gpu", m->gpus, m->sockets ? 1 : 0);
    return n + (size_t)snprintf(text + n, TEXT - n, "</graph></graphml>\n");
}

static size_t put_job(char *text, const struct series *s, int duration, bool last)
{
    size_t n = (size_t)snprintf(text, TEXT,
                                "version: 9999\nresources:\n  - type: slot\n    count: %d\n"
                                "    label: default\n    with:\n      - type: node\n"
                                "        count: 1\n",
                                s->slots);
    if (s->cores)
        n += (size_t)snprintf(text + n, TEXT - n,
                              "        with:\n          - type: socket\n            count: %d\n"
                              "            with:\n              - type: core\n"
                              "                count: %d\n",
                              s->sockets, s->cores);
    return n + (size_t)snprintf(text + n, TEXT - n,
                                "attributes:\n  system:\n    duration: %d\n%s"
                                "tasks:\n  - command: [ \"app\" ]\n    slot: default\n"
                                "    count:\n      per_slot: 1\n",
                                duration,
                                last ? "    constraints: {\"properties\": [\"last\"]}\n" : "");
}

/* One job from its text to the text of what it got. */
static double run(match_t *m, match_op_t op, const char *job, size_t length, int64_t id)
{
    const char *text;
    size_t n;
    double start = now();
    jobspec_t *spec = jobspec_parse(job, length, NULL, NULL);

    check(spec != NULL, "cannot read a job");
    check(match_run(m, op, spec, id, 0, NULL, NULL) == 0, "cannot match a job");
    check(match_write(m, "simple", &text, &n) == 0, "cannot write what a job got");
    jobspec_destroy(spec);
    return now() - start;
}

/* Hold m3's nodes until different times, one by one: there is no search in that. */
static void hold_all(match_t *m, int nodes)
{
    char text[TEXT];
    berth_error_t err;

    for (int i = 0; i < nodes; i++) {
        size_t n = (size_t)snprintf(
            text, sizeof(text),
            "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"%d\", \"children\": "
            "{\"core\": \"0-47\", \"gpu\": \"0-3\"}}], \"nodelist\": [\"node%d\"], "
            "\"starttime\": 0, \"expiration\": 0}}",
            i, i);
        check(match_update(m, "rv1exec", text, n, i + 1, 0, 60 * (i + 1), false, &err) == 0,
              "cannot hold a node");
    }
    snprintf(text, sizeof(text), "/cluster0/node%d", nodes - 1);
    check(match_set_property(m, text, "last", "", &err) == 0, "cannot set a property");
}

/* A row's own part: load, jobs, figures. */
static void measure(const struct series *s, const char *policy)
{
    static double took[JOBS_MAX];
    char text[TEXT];
    berth_error_t err;
    struct rusage usage;
    match_options_t options = {.policy = policy, .filters = "ALL:core,ALL:node"};
    double start = now();
    size_t n = put_machine(text, &machines[s->machine]);
    resource_graph_t *graph = resource_graph_read("grug", text, n, &err);

    check(graph != NULL, "cannot read the machine");
    match_t *m = match_create(graph, &options, &err);
    check(m != NULL, "cannot make a matcher");
    double load = now() - start;
    getrusage(RUSAGE_SELF, &usage);
    if (s->last)
        hold_all(m, s->held);
    for (int i = 0; i < s->held && !s->last; i++) {
        n = put_job(text, s, 1000 + i, false);
        run(m, s->op, text, n, i + 1);
    }
    n = put_job(text, s, 3600, s->last);
    for (int i = 0; i < s->jobs; i++)
        took[i] = run(m, s->op, text, n, s->held + i + 1);
    qsort(took, (size_t)s->jobs, sizeof(*took), compare);
    printf("%-24s %-10s %6.3f %6.0f %9.1f %9.1f %9.1f", s->what, policy, load,
           (double)usage.ru_maxrss / 1024, 1e6 * took[0], 1e6 * took[s->jobs / 2],
           1e6 * took[s->jobs - 1]);
    fflush(stdout);
    match_destroy(m);
}

static FILE *open_in(const char *folder, const char *name, char *path, const char *mode)
{
    snprintf(path, TEXT, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    check(file != NULL, "cannot write a file for the peer");
    return file;
}

/* The median of what the peer says its matches took, seconds; negative unless it gave every job something. */
static double ask_peer(const char *peer, const char *folder, const struct series *s,
                       const char *policy)
{
    static double took[PEER_JOBS];
    char text[TEXT], machine[TEXT], job[TEXT], commands[TEXT], command[5 * TEXT];
    int n = 0;
    FILE *file = open_in(folder, "machine.graphml", machine, "w");

    fwrite(text, 1, put_machine(text, &machines[s->machine]), file);
    fclose(file);
    file = open_in(folder, "job.yaml", job, "w");
    fwrite(text, 1, put_job(text, s, 3600, false), file);
    fclose(file);
    file = open_in(folder, "commands", commands, "w");
    for (int i = 0; i < PEER_JOBS; i++)
        fprintf(file, "match %s %s\n",
                s->op == MATCH_ALLOCATE ? "allocate" : "allocate_orelse_reserve", job);
    fprintf(file, "quit\n");
    fclose(file);
    snprintf(command, sizeof(command),
             "'%s' -L '%s' -f grug -P %s -F simple -p ALL:core,ALL:node -e <'%s' 2>/dev/null", peer,
             machine, policy, commands);
    file = popen(command, "r");
    bool given = false; /* a refusal is quick, and no match */
    while (file && fgets(text, sizeof(text), file)) {
        const char *at = strstr(text, "ELAPSE=");
        given |= strstr(text, "RESOURCES=ALLOCATED") || strstr(text, "RESOURCES=RESERVED");
        if (at && given && n < PEER_JOBS)
            took[n++] = strtod(at + 7, NULL);
        if (at)
            given = false;
    }
    if (file)
        pclose(file);
    remove(machine);
    remove(job);
    remove(commands);
    qsort(took, (size_t)n, sizeof(*took), compare);
    return n == PEER_JOBS ? took[n / 2] : -1;
}

int main(void)
{
    const char *peer = getenv("BERTH_BENCH_PEER");
    char folder[] = "/tmp/bench_match.XXXXXX";

    if (peer && (access(peer, X_OK) < 0 || !mkdtemp(folder)))
        peer = NULL;
    printf("%-24s %-10s %6s %6s %9s %9s %9s%s\n", "series", "policy", "load s", "MB", "least us",
           "median us", "most us", peer ? "   peer us" : "");
    for (size_t i = 0; i < sizeof(all_series) / sizeof(all_series[0]); i++)
        for (size_t k = 0; k < sizeof(policies) / sizeof(policies[0]); k++) {
            int status;
            fflush(stdout);
            pid_t pid = fork();
            if (pid == 0) {
                measure(&all_series[i], policies[k]);
                _exit(0);
            }
            check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "a run failed");
            double median = peer && all_series[i].peer
                                ? ask_peer(peer, folder, &all_series[i], policies[k])
                                : -1;
            printf(median < 0 ? "\n" : " %9.0f\n", 1e6 * median);
        }
    if (peer)
        rmdir(folder);
    return 0;
}
