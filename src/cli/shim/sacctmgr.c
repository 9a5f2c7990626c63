/* sacctmgr: what tools ask it, which is whose account is whose. It changes nothing. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/client/terminal.h"
#include "cli/shim/shim.h"

#define COLUMNS_MAX 32
#define WIDTH       10

enum what { HEAD, BARS, BARS_END, NOTHING, HELP, VERSION };

static const struct foreign_option options[] = {
    {"noheader", 'n', FOREIGN_NONE, HEAD, NULL},
    {"parsable2", 'P', FOREIGN_NONE, BARS, NULL},
    {"parsable", 'p', FOREIGN_NONE, BARS_END, NULL},
    {"associations", 's', FOREIGN_NONE, NOTHING, NULL},
    {"immediate", 'i', FOREIGN_NONE, NOTHING, NULL},
    {"readonly", 'r', FOREIGN_NONE, NOTHING, NULL},
    {"quiet", 'Q', FOREIGN_NONE, NOTHING, NULL},
    {"help", 'h', FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

/* What may be listed, and its columns where none are named. */
static const struct entity {
    const char *name, *format;
    bool of_user;
} entities[] = {{"user", "User,DefaultAccount,AdminLevel", true},
                {"association", "Cluster,Account,User,Partition,QOS", true},
                {"account", "Account,Descr,Org", true},
                {"cluster", "Cluster,ControlHost", false},
                {"qos", "Name,Priority", false}};

struct asked {
    bool no_head, bars, bars_end, help, version;
    const struct entity *entity;
    const char *format, *user;
};

struct column {
    char name[40];
    int width;
};

/* "users", "assoc" and "association" are the same. */
static const struct entity *find_entity(const char *word)
{
    size_t n = strlen(word);
    n -= n > 1 && (word[n - 1] == 's' || word[n - 1] == 'S') && strcasecmp(word, "qos") != 0;
    for (size_t i = 0; n >= 3 && i < sizeof(entities) / sizeof(*entities); i++)
        if (n <= strlen(entities[i].name) && strncasecmp(entities[i].name, word, n) == 0)
            return &entities[i];
    return NULL;
}

static size_t read_columns(const char *format, struct column *columns)
{
    size_t n = 0;
    while (*format && n < COLUMNS_MAX) {
        size_t length = strcspn(format, ","), name = strcspn(format, ",%");
        struct column *c = &columns[n++];
        snprintf(c->name, sizeof(c->name), "%.*s", (int)name, format);
        c->width = name < length ? atoi(format + name + 1) : WIDTH;
        c->width = c->width < 1 ? WIDTH : c->width > 1000 ? 1000 : c->width;
        format += length + (format[length] == ',');
    }
    return n;
}

static const char *sacctmgr_value_of(const struct asked *f, const char *name, const char *user,
                                     const char *account)
{
    bool of_user = f->entity->of_user;
    if (strcasecmp(name, "user") == 0)
        return of_user && strcmp(f->entity->name, "account") != 0 ? user : "";
    if (strncasecmp(name, "acc", 3) == 0 || strncasecmp(name, "def", 3) == 0)
        return strcasecmp(name, "defaultqos") == 0 ? "normal" : of_user ? account : "";
    if (strncasecmp(name, "clu", 3) == 0)
        return "berth";
    if (strncasecmp(name, "adm", 3) == 0)
        return "None";
    if (strcasecmp(name, "qos") == 0 || strcasecmp(name, "name") == 0)
        return "normal";
    return "";
}

static void put_cells(const struct asked *f, const struct column *columns, size_t n,
                      const char *user, const char *account)
{
    for (size_t i = 0; i < n; i++) {
        const char *text =
            user ? sacctmgr_value_of(f, columns[i].name, user, account) : columns[i].name;
        if (f->bars || f->bars_end)
            printf("%s%s", i > 0 ? "|" : "", text);
        else
            printf("%*.*s ", columns[i].width, columns[i].width, text);
    }
    puts(f->bars_end ? "|" : "");
}

/* A row of the caller and the default account, where there are accounts; none of others. */
static int print_rows(const struct asked *f, berth_error_t *err)
{
    struct column columns[COLUMNS_MAX];
    struct connection s;
    json_t *answer = NULL;
    const struct passwd *me = getpwuid(geteuid());
    size_t n = read_columns(f->format ? f->format : f->entity->format, columns);
    int rc = connection_open(&s, "sacctmgr", err) < 0 ||
                     connection_ask(&s, "GET", "/v1/server", NULL, &answer, err) < 0
                 ? connection_failed(&s, err)
                 : 0;
    const char *account = json_string_value(json_object_get(answer, "account"));
    bool mine = me && (!f->user || strcmp(f->user, me->pw_name) == 0);
    if (rc == 0 && !f->no_head)
        put_cells(f, columns, n, NULL, NULL);
    if (rc == 0 && (!f->entity->of_user || (mine && account)))
        put_cells(f, columns, n, me ? me->pw_name : "", account ? account : "");
    connection_close(&s);
    json_decref(answer);
    return rc;
}

/* "list user ann format=account%256 where cluster=x". False: it asks for something else. */
static bool read_words(struct asked *f, char **words, int n)
{
    if (n < 2 || (strcasecmp(words[0], "list") != 0 && strcasecmp(words[0], "show") != 0))
        return false;
    f->entity = find_entity(words[1]);
    for (int i = 2; f->entity && i < n; i++) {
        const char *sign = strchr(words[i], '=');
        if (sign && strncasecmp(words[i], "format=", 7) == 0)
            f->format = sign + 1;
        else if (sign && strncasecmp(words[i], "user", 4) == 0)
            f->user = sign + 1;
        else if (!sign && strcasecmp(words[i], "where") != 0 &&
                 strcmp(f->entity->name, "user") == 0)
            f->user = words[i];
    }
    return f->entity != NULL;
}

int shim_sacctmgr(int argc, char **argv)
{
    struct asked f = {.no_head = false};
    struct foreign_words walk = {.tool = "sacctmgr", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    const char *value;
    char *words[64];
    berth_error_t err;
    int rc, n = 0;

    for (;;) { /* options may stand behind other words */
        rc =
            foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value, &err);
        if (rc < 0)
            return shim_failed("sacctmgr", "%s", err.text);
        if (rc == 0 && (walk.at >= walk.n || n == 64))
            break;
        if (rc == 0) {
            words[n++] = walk.v[walk.at++];
            continue;
        }
        f.no_head = f.no_head || option->what == HEAD;
        f.bars = f.bars || option->what == BARS;
        f.bars_end = f.bars_end || option->what == BARS_END;
        f.help = f.help || option->what == HELP;
        f.version = f.version || option->what == VERSION;
    }
    if (f.help)
        return puts("usage: sacctmgr [-n] [-p|-P] list|show user|association|account|cluster|qos "
                    "[user=NAME] [format=LIST]") < 0;
    if (f.version)
        return shim_version();
    if (!read_words(&f, words, n))
        return shim_failed("sacctmgr", "here it only lists users, associations, accounts, clusters "
                                       "and qos; accounts are configured in berth-config(5)");
    return print_rows(&f, &err);
}
