/* The reader of configurations: what is said of files that are wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config_texts.h"

#define NAME        "expected a name of at most 255 bytes without blanks and commas, got "
#define TIME        "seconds, or a number with s, m, h, d or w as in 1.5h, "
#define COUNT_UP_TO "a whole number from 1 to 1000000000000000"

/* A text, and what is said of it, behind "f:". */
struct wrong {
    const char *text, *error;
};

static const struct wrong wrong_machines[] = {
    {"", "1:1: expected a mapping, got nothing"},
    {"[]", "1:1: expected a configuration as a mapping, got a list"},
    {"{}", "1:1: key \"resources\": expected in a configuration, is missing"},
    {NODES "queue: {}\n",
     "2:1: key \"queue\": unknown in a configuration, expected resources, licenses, match, "
     "default-queue, default-duration, default-limit, starvation-threshold, "
     "claims, sla-waiting-time, actions, passes, users, shares, accounts, queues, "
     "blocks, bounds, trace, "
     "server, pilots, engine"},
    {NODES "actions: all", "2:10: key \"actions\": expected together or a list as in [allocate, "
                           "backfill], got \"all\""},
    {NODES "actions: []",
     "2:10: key \"actions\": expected at least one action, as in [allocate, backfill]"},
    {NODES "actions: [evict]", "2:11: key \"actions\": expected reclaim, allocate, preempt or "
                               "backfill, got \"evict\""},
    {NODES "actions: [allocate, reclaim, allocate]",
     "2:30: key \"actions\": expected each action once, got \"allocate\""},
    {NODES NODES, "2:1: key \"resources\": expected once in a mapping"},
    {"resources: &a {nodes: 1}\nusers: *a\n", "2:8: expected a value, not an alias of one"},
    {"resources: here", "1:12: key \"resources\": expected local, {file: ...} or {nodes: ...}, got "
                        "\"here\""},
    {"resources:", "1:11: key \"resources\": expected local, {file: ...} or {nodes: ...}, got "
                   "nothing"},
    {"engine: pbs", "1:9: key \"engine\": expected local, slurm or {slurm: ...}, got \"pbs\""},
    {"engine: slurm\nresources: local", "2:12: key \"resources\": expected without engine: slurm, "
                                        "whose machine is Slurm's"},
    {"engine: local", "1:1: key \"resources\": expected in a configuration, is missing"},
    {"engine: {slurm: {partition: a b}}",
     "1:29: key \"partition\": expected a name of at most 255 bytes without "
     "blanks and commas, got \"a b\""},
    {"resources: {}", "1:12: key \"resources\": expected the key file or nodes in it"},
    {"resources: {cores: 1}", "1:12: key \"resources\": expected the key file or nodes in it"},
    {"resources: {file: a, cores: 1}", "1:29: key \"cores\": expected with nodes, not with a file"},
    {"resources: {file: a, nodes: 1}", "1:29: key \"nodes\": expected with nodes, not with a file"},
    {"resources: {nodes: 1, format: jgf}",
     "1:31: key \"format\": expected with a file, not with nodes"},
    {"resources: {file: ''}", "1:19: key \"file\": expected a text, got \"\""},
    {"resources: {file: [a]}", "1:19: key \"file\": expected a text, got a list"},
    {"resources: {file: a, format: xml}", "1:30: key \"format\": expected grug, jgf, "
                                          "jgf_shorthand, rv1exec, rv1exec_force or hwloc, got "
                                          "\"xml\""},
    {"resources: {nodes: 0}", "1:20: key \"nodes\": expected a whole number from 1 to 4000000, "
                              "got \"0\""},
    {"resources: {nodes: 1, cores: 0}",
     "1:30: key \"cores\": expected a whole number from 1 to 1000000, got \"0\""},
    {"resources: {nodes: 1, cores: 01}",
     "1:30: key \"cores\": expected a whole number from 1 to 1000000, got \"01\""},
    {"resources: {nodes: 1, gpus: -1}",
     "1:29: key \"gpus\": expected a whole number from 0 to 1000000, got \"-1\""},
    {"resources: {nodes: 1, memory: 2.5}",
     "1:31: key \"memory\": expected a whole number from 0 to 1000000000, got \"2.5\""},
    {"resources: {nodes: 2000000, cores: 1}",
     "1:12: key \"resources\": expected at most 4000000 of nodes, cores, gpus and memories in all, "
     "got 2000000 nodes with 1 things in each"},
    {NODES "match: {policy: best}",
     "2:17: key \"policy\": expected first, firstnodex, low, high, lonode, hinode, lonodex, "
     "hinodex, "
     "locality, variation, pack, spread, balance, options such as \"policy=low "
     "node_centric=true\", or weights from 1 to 1000000 such as \"spread=1 balance=2\", got "
     "\"best\""},
    {NODES "match: {policy: spread=1 balance=0}",
     "2:17: key \"policy\": expected first, firstnodex, low, high, lonode, hinode, lonodex, "
     "hinodex, locality, variation, pack, spread, balance, options such as \"policy=low "
     "node_centric=true\", or weights from 1 to 1000000 such as \"spread=1 balance=2\", got "
     "\"spread=1 balance=0\""},
    {NODES "match: {traverser: deep}",
     "2:20: key \"traverser\": expected simple or flexible, got \"deep\""},
    {NODES "match: {filters: core}",
     "2:18: key \"filters\": expected pairs of types such as \"ALL:core,rack:node\", got \"core\""},
    {NODES "match: {filters: [\"ALL:core\"]}",
     "2:18: key \"filters\": expected pairs of types such as \"ALL:core,rack:node\", got a list"},
    {NODES "match: {subsystems: containment}",
     "2:21: key \"subsystems\": expected CA, IBA, IBBA, PFS1BA, PA, C+IBA, C+IBBA, C+PFS1BA, C+PA, "
     "IB+IBBA, C+P+IBA, V+PFS1BA, VA or ALL, got \"containment\""},
    {NODES "match: {format: rv2}", "2:17: key \"format\": expected simple, pretty_simple, rlite, "
                                   "rv1, rv1_nosched, rv1_shorthand, "
                                   "jgf or jgf_shorthand, got \"rv2\""},
    {NODES "match: {match-policy: first}",
     "2:9: key \"match-policy\": unknown in the matching, expected "
     "policy, traverser, filters, subsystems, format"},
};

static const struct wrong wrong_queues[] = {
    {NODES "default-queue: a", "2:16: key \"default-queue\": expected the name of a queue, got "
                               "\"a\""},
    {NODES "default-queue: []", "2:16: key \"default-queue\": expected the name of a queue, got a "
                                "list"},
    {NODES "default-duration: 0", "2:19: key \"default-duration\": expected " TIME
                                  "above 0 and up to 100 years, or unknown, got \"0\""},
    {NODES "default-duration: unlimited",
     "2:19: key \"default-duration\": expected " TIME
     "above 0 and up to 100 years, or unknown, got \"unlimited\""},
    {NODES "default-duration: 1y", "2:19: key \"default-duration\": expected " TIME
                                   "above 0 and up to 100 years, or unknown, got \"1y\""},
    {NODES "default-duration: 1.0000001",
     "2:19: key \"default-duration\": expected " TIME
     "above 0 and up to 100 years, or unknown, got \"1.0000001\""},
    {NODES "default-duration: 36501d", "2:19: key \"default-duration\": expected " TIME
                                       "above 0 and up to 100 years, or unknown, got \"36501d\""},
    {NODES "passes: {min-interval: -1}",
     "2:24: key \"min-interval\": expected " TIME "up to 100 years, got \"-1\""},
    {NODES "bounds: {ended-jobs: 0}",
     "2:22: key \"ended-jobs\": expected a whole number from 1 to 1000000000000000, got \"0\""},
    {NODES "passes: {max-events: unlimited}", "2:22: key \"max-events\": expected a whole number "
                                              "from 0 to 1000000000000000, got \"unlimited\""},
    {NODES "users: [a]", "2:8: key \"users\": expected users with their groups as in {u1: "
                         "[staff]}, got a list"},
    {NODES "users: {a b: []}", "2:9: key \"users\": " NAME "\"a b\""},
    {NODES "users: {a: staff}", "2:12: key \"a\": expected a list of names, got \"staff\""},
    {NODES "users: {a: [g, h, g]}", "2:19: key \"a\": expected each name once, got \"g\""},
    {NODES "queues: {}", "2:9: key \"queues\": expected 1 to 4096 queues as NAME: {...}"},
    {NODES "queues: [a]", "2:9: key \"queues\": expected 1 to 4096 queues as NAME: {...}"},
    {NODES "queues: {\"\": {}}", "2:10: key \"queues\": " NAME "\"\""},
    {NODES "queues: {\"a,b\": {}}", "2:10: key \"queues\": " NAME "\"a,b\""},
    {NODES "queues: {a: {}, a: {}}", "2:17: key \"a\": expected once in a mapping"},
    {QUEUE("[]"), "3:6: expected a queue as a mapping, got a list"},
    {QUEUE("{depth: 1}"),
     "3:7: key \"depth\": unknown in a queue, expected one such as queue-depth, max-queue-depth, "
     "reservation-depth, max-reservation-depth"},
    {QUEUE("{prioritty: 1}"),
     "3:7: key \"prioritty\": unknown in a queue, expected one such as priority"},
    {QUEUE("{colour: red}"), "3:7: key \"colour\": unknown in a queue"},
    {QUEUE("{sla-waiting-time: 0}"), "3:25: key \"sla-waiting-time\": expected seconds, or "
                                     "a number with s, m, h, d or w as in 1.5h, "
                                     "above 0 and up to 100 years, or none, got \"0\""},
    {QUEUE("{policy: eazy}"),
     "3:15: key \"policy\": expected fcfs, easy, hybrid, conservative or ageing, got \"eazy\""},
    {QUEUE("{starvation-threshold: 0}"), "3:29: key \"starvation-threshold\": expected seconds, or "
                                         "a number with s, m, h, d or w as in 1.5h, "
                                         "above 0 and up to 100 years, or none, got \"0\""},
    {QUEUE("{claims: 0}"), "3:15: key \"claims\": expected " COUNT_UP_TO ", got \"0\""},
    {QUEUE("{queue-depth: 0}"),
     "3:20: key \"queue-depth\": expected " COUNT_UP_TO ", or unlimited, got \"0\""},
    {QUEUE("{max-queue-depth: many}"),
     "3:24: key \"max-queue-depth\": expected " COUNT_UP_TO ", or unlimited, got \"many\""},
    {QUEUE("{reservation-depth: 5}"), "3:26: key \"reservation-depth\": expected only with policy "
                                      "hybrid"},
    {QUEUE("{policy: conservative, reservation-depth: 5}"),
     "3:48: key \"reservation-depth\": expected only with policy hybrid"},
    {QUEUE("{policy: hybrid, reservation-depth: unlimited}"),
     "3:42: key \"reservation-depth\": expected " COUNT_UP_TO ", got \"unlimited\""},
    {QUEUE("{policy: easy, max-reservation-depth: 5}"),
     "3:44: key \"max-reservation-depth\": expected only with policy hybrid or conservative"},
    {QUEUE("{requires: gpu}"), "3:17: key \"requires\": expected a list of properties, or a "
                               "constraint (RFC 31), got \"gpu\""},
    {QUEUE("{requires: [a&b]}"),
     "3:17: key \"requires\": expected properties without any of !&'\"^`|()"},
    {QUEUE("{requires: [[a]]}"),
     "3:17: key \"requires\": expected properties without any of !&'\"^`|()"},
    {QUEUE("{requires: {property: [a]}}"),
     "3:18: key \"constraints\": unknown constraint operator: "
     "property, expected properties, hostlist, ranks, "
     "and, or, not"},
    {QUEUE("{requires: {hostlist: [\"a[\"]}}"),
     "3:29: key \"hostlist\": expected hosts such as \"node[1-8]\", got \"a[\""},
    {QUEUE("{priority: high}"), "3:17: key \"priority\": expected a whole number from "
                                "-100000 to 100000, got \"high\""},
    {QUEUE("{users: u1}"), "3:14: key \"users\": expected a list of names, got \"u1\""},
    {QUEUE("{groups: [g, \"\"]}"), "3:19: key \"groups\": " NAME "\"\""},
    {QUEUE("{groups: [g, ~]}"), "3:19: key \"groups\": " NAME "nothing"},
    {QUEUE("{preempts: all}"), "3:17: key \"preempts\": expected preemptible, lower, borrowers, "
                               "both, nobody or richer, got \"all\""},
    {QUEUE("{claims-admit: all}"),
     "3:21: key \"claims-admit\": expected preemptible or unknown, got \"all\""},
    {QUEUE("{keeps-gangs: 1}"), "3:20: key \"keeps-gangs\": expected yes or no, got \"1\""},
    {QUEUE("{preemptible: maybe}"),
     "3:20: key \"preemptible\": expected no, yes, cancel or requeue, got \"maybe\""},
    {QUEUE("{parent: b}"), "3:15: key \"parent\": expected the name of a queue that has no parent "
                           "itself, got \"b\""},
    {QUEUE("{parent: a}"), "3:15: key \"parent\": expected the name of a queue that has no parent "
                           "itself, got \"a\""},
    {QUEUE("{parent: b}\n  b: {parent: c}\n  c:"),
     "3:15: key \"parent\": expected the name of a queue that has no parent itself, got \"b\""},
    {QUEUE("{parent: c}\n  b: {parent: a}\n  c:"),
     "4:15: key \"parent\": expected the name of a queue that has no parent itself, got \"a\""},
    {QUEUE("{parent: ~}"), "3:15: key \"parent\": expected the name of a queue that has no parent "
                           "itself, got nothing"},
    {QUEUE("\n  b: {parent: a, policy: fcfs}"),
     "4:26: key \"policy\": expected in its parent, queue \"a\", only"},
    {QUEUE("\n  b: {parent: a, queue-depth: 1}"),
     "4:31: key \"queue-depth\": expected in its parent, queue \"a\", only"},
    {QUEUE("\n  b: {parent: a, requires: []}"),
     "4:28: key \"requires\": expected in its parent, queue \"a\", only"},
    {QUEUE("\n  b: {parent: a, preemptible: no}"),
     "4:31: key \"preemptible\": expected in its parent, queue \"a\", only"},
    {QUEUE("\n  b: {parent: a, shares: {}}"),
     "4:26: key \"shares\": expected in its parent, queue \"a\", only"},
    {QUEUE("{shares: {heavy: 1}}"), "3:16: key \"heavy\": unknown in the shares of a queue, "
                                    "expected under, weight, guarantee, deserved, "
                                    "capability, by, order, weights, classes"},
    {QUEUE("{shares: {weight: 0}}"),
     "3:24: key \"weight\": expected a whole number from 1 to 1000000, got \"0\""},
    {QUEUE("{shares: {under: b}}"),
     "3:23: key \"under\": expected the name of a division of the section shares, got \"b\""},
    {QUEUE("{shares: {by: group}}"),
     "3:20: key \"by\": expected user, account or class, got \"group\""},
    {QUEUE("{shares: {order: [share]}}"),
     "3:23: key \"order\": expected priority, deadline, gang, age and "
     "submit, or the key by beside it, got a list"},
    {QUEUE("{shares: {by: user, order: [[priority], [drf, overcommit]]}}"),
     "3:52: key \"order\": \"overcommit\" orders nothing here: how many jobs may wait is said by "
     "\"limits\", as in user: {pending: 100}"},
    {NODES "shares: {order: [{plugins: [{name: nodeorder, arguments: {nodeaffinity.weight: 1}}]}]}",
     "2:59: key \"nodeaffinity.weight\": unknown in the plugin nodeorder, expected "
     "leastrequested.weight, mostrequested.weight, balancedresource.weight"},
    {NODES
     "shares: {order: [{plugins: [{name: nodeorder, arguments: {mostrequested.weight: -1}}]}]}",
     "2:81: key \"mostrequested.weight\": expected a whole number from 0 to 1000000, got \"-1\""},
    {NODES "shares: {order: [{plugins: [{name: nodeorder, arguments: [1]}]}]}",
     "2:58: expected the plugin nodeorder as a mapping, got a list"},
    {NODES "shares: {order: [{plugins: [{name: nodeorder, arguments: 1}]}]}",
     "2:58: expected the plugin nodeorder as a mapping, got a scalar"},
    {NODES "shares: {order: [{plugins: [{name: drf, arguments: 1}]}]}",
     "2:52: key \"arguments\": expected none: what plugins are told is said by keys of queues, "
     "such as "
     "weight, guarantee and sla-waiting-time"},
    {NODES "shares: {order: [{plugins: [{name: binpack, arguments: {binpack.cpu: 5}}]}]}",
     "2:57: key \"binpack.cpu\": unknown in the plugin binpack, expected binpack.weight"},
    {NODES "shares: {order: [{plugins: [{name: binpack, arguments: {binpack.weight: 0.5}}]}]}",
     "2:73: key \"binpack.weight\": expected a whole number from 0 to 1000000, got \"0.5\""},
    {NODES "shares: {order: [binpack, {plugins: [{name: binpack, arguments: {binpack.weight: "
           "1000000}}]}]}",
     "2:17: key \"order\": the weights of plugins add up to more than 1000000"},
    {NODES "shares: {order: [{plugins: [{name: binpack, enableNodeOrder: 2}]}]}",
     "2:62: key \"enableNodeOrder\": expected yes or no, got \"2\""},
    {QUEUE("{shares: {by: user, order: [{plugins: [{name: nodeorder, arguments: "
           "{mostrequested.weight: 5}}]}]}}"),
     "3:74: key \"arguments\": expected none: which nodes a job gets is said by the section match, "
     "or by the order of the section shares"},
    {QUEUE("{shares: {by: user, order: [{plugins: [{name: binpack, arguments: {binpack.cpu: "
           "5}}]}]}}"),
     "3:72: key \"arguments\": expected none: which nodes a job gets is said by the section match, "
     "or by the order of the section shares"},
    {NODES "shares: {order: [{plugins: [{name: [binpack], arguments: {x: 1}}]}]}",
     "2:58: key \"arguments\": expected none: what plugins are told is said by keys of queues, "
     "such as "
     "weight, guarantee and sla-waiting-time"},
    {NODES "shares: {order: [{plugins: [{name: drf, arguments: {x: 1}}]}]}",
     "2:52: key \"arguments\": expected none: what plugins are told is said by keys of queues, "
     "such as "
     "weight, guarantee and sla-waiting-time"},
    {NODES "shares: {order: [{plugins: [{name: drf, enableJobOrder: 1}]}]}",
     "2:57: key \"enableJobOrder\": expected yes or no, got \"1\""},
    {QUEUE("{shares: {by: user, order: [{plugins: [{name: drf}]}, {plugins: [drf]}]}}"),
     "3:71: key \"order\": expected each comparator once, got \"drf\""},
    {QUEUE("{shares: {by: user, order: [{names: [drf]}]}}"),
     "3:35: key \"names\": unknown in a plugin, expected name, arguments, enableJobOrder, "
     "enableQueueOrder, enableNodeOrder, "
     "enableTaskOrder, enableJobReady, enableJobPipelined, enablePreemptable, enableReclaimable, "
     "enablePredicate, enableHierarchy, enableJobStarving"},
    {QUEUE("{shares: {by: user, order: [random]}}"),
     "3:34: key \"order\": expected priority, share, drf, usage, fewest-running, deadline, gang, "
     "age "
     "or submit, "
     "got "
     "\"random\""},
    {QUEUE("{shares: {by: user, order: [proportion, capacity]}}"),
     "3:46: key \"order\": expected each comparator once, got \"capacity\""},
    {QUEUE("{shares: {guarantee: 4}}"),
     "3:27: key \"guarantee\": expected amounts of resources as in {core: 64, gpu: 4}, got \"4\""},
    {NODES "shares: {divisions: {a: {under: b}, b: {under: a}}}",
     "2:48: key \"under\": expected at most 15 divisions above, and not itself"},
    {NODES "shares: {divisions: {d0: {}, d1: {under: d0}, d2: {under: d1}, d3: {under: d2}, "
           "d4: {under: d3}, d5: {under: d4}, d6: {under: d5}, d7: {under: d6}, d8: {under: "
           "d7}, d9: {under: d8}, d10: {under: d9}, d11: {under: d10}, d12: {under: d11}, "
           "d13: {under: d12}, d14: {under: d13}, d15: {under: d14}, d16: {under: d15}}}",
     "2:309: key \"under\": expected at most 15 divisions above, and not itself"},
    {QUEUE("{shares: {by: account}}"),
     "3:20: key \"by\": expected account only where the key accounts has some"},
    {NODES "accounts: {}",
     "2:11: key \"accounts\": expected 1 to 65536 accounts as NAME: {users: [u1]}, "
     "got a mapping"},
    {NODES "accounts: {a: {weight: 0}}",
     "2:24: key \"weight\": expected a whole number from 1 to 1000000, got \"0\""},
    {NODES "accounts: {a: {under: b}}",
     "2:23: key \"under\": expected the name of an account, got \"b\""},
    {NODES "accounts: {a: {under: b}, b: {under: a}}",
     "2:38: key \"under\": expected at most 15 accounts above, and not itself"},
    {NODES "accounts: {a: {users: [u1], weights: {u2: 2}}}",
     "2:39: key \"weights\": expected users of the account, got \"u2\""},
    {NODES "accounts: {a: {users: [u1], default-for: [u2]}}",
     "2:43: key \"default-for\": expected users of the account, got \"u2\""},
    {NODES "accounts: {a: {user: [u1]}}", "2:16: key \"user\": unknown in an account, expected "
                                          "under, weight, users, weights, default-for, "
                                          "limits"},
    {NODES "accounts: {a: {limits: {duration: 3}}}",
     "2:25: key \"duration\": expected running, pending or a type of resources in the limits of an "
     "account"},
    {NODES "accounts: {a: {limits: {core: -1}}}",
     "2:31: key \"core\": expected a whole number from 0 to 1000000000000000, or "
     "unlimited, got \"-1\""},
    {NODES "accounts: {a: {}}\nqueues: {q: {shares: {by: account, weights: {u1: 2}}}}",
     "3:45: key \"weights\": expected with by: account only in the accounts"},
};

static const struct wrong wrong_limits[] = {
    {QUEUE("{limits: {node: 4}}"),
     "3:16: key \"node\": unknown in the limits, expected job, user, queue, "
     "except"},
    {QUEUE("{limits: {job: 4}}"),
     "3:21: key \"job\": expected limits as in {node: 4, core: 64}, got \"4\""},
    {QUEUE("{limits: {job: {node: -1}}}"),
     "3:28: key \"node\": expected a whole number from 0 to 1000000000000000, or unlimited, got "
     "\"-1\""},
    {QUEUE("{limits: {job: {duration: 1x}}}"),
     "3:32: key \"duration\": expected " TIME "up to 100 years, or unlimited, got \"1x\""},
    {QUEUE("{limits: {job: {running: 1}}}"),
     "3:22: key \"running\": expected duration or a type of "
     "resources in the limits of a job"},
    {QUEUE("{limits: {user: {duration: 1}}}"),
     "3:23: key \"duration\": expected running, pending or a type of resources in the limits of a "
     "user"},
    {QUEUE("{limits: {queue: {duration: 1}}}"),
     "3:24: key \"duration\": expected running, pending or a type of resources in the limits of a "
     "queue"},
    {QUEUE("{limits: {job: {\"a b\": 1}}}"), "3:22: key \"job\": " NAME "\"a b\""},
    {QUEUE("{limits: {job: {node: 1, node: 2}}}"),
     "3:31: key \"node\": expected once in a mapping"},
    {QUEUE("{limits: {except: {}}}"), "3:24: key \"except\": expected a list of exceptions as in "
                                      "{users: [u1], job: {node: 16}}, got a mapping"},
    {QUEUE("{limits: {except: [{job: {}}]}}"),
     "3:25: key \"except\": expected users or groups that it is for"},
    {QUEUE("{limits: {except: [{users: [u], queue: {}}]}}"),
     "3:38: key \"queue\": unknown in an exception, expected users, groups, job, user"},
    {QUEUE("{limits: {except: [{users: [u], job: {pending: 1}}]}}"),
     "3:44: key \"pending\": expected duration or a type of resources in the limits of a job"},
};

static const struct wrong wrong_rest[] = {
    {NODES "pilots: {max-nodes: 0}",
     "2:21: key \"max-nodes\": expected a whole number from 1 to 1000, got \"0\""},
    {NODES "pilots: {max-nodes: 1, time: 5m}",
     "2:30: key \"time\": expected 15 minutes or more, got \"5m\""},
    {NODES "blocks: {}", "2:9: key \"blocks\": expected a list of at most 64 blocks"},
    {NODES "blocks: [{name: m, resources: n, start: 0}]",
     "2:10: key \"duration\": expected either a duration or an end"},
    {NODES "blocks: [{" BLOCK ", end: 9}]",
     "2:10: key \"duration\": expected either a duration or an end"},
    {NODES "blocks: [{name: m, resources: n, start: 5, end: 5}]",
     "2:49: key \"end\": expected a time after the start, got \"5\""},
    {NODES "blocks: [{name: m, resources: n, start: 5, end: 9, every: 4}]",
     "2:59: key \"every\": expected 0 for once, or more than the duration, got \"4\""},
    {NODES "blocks: [{name: m, resources: \"n[\", start: 0, duration: 1}]",
     "2:31: key \"resources\": expected names or paths such as \"node[0-3],node7\" or "
     "\"/cluster0/rack1\", or \"all\", got \"n[\""},
    {NODES "blocks: [{name: m, resources: \"\", start: 0, duration: 1}]",
     "2:31: key \"resources\": expected names or paths such as \"node[0-3],node7\" or "
     "\"/cluster0/rack1\", or \"all\", got \"\""},
    {NODES "blocks: [{name: m, resources: n, start: -1, duration: 1}]",
     "2:41: key \"start\": expected a date such as 2026-12-24T18:00, or seconds, up to 100 years, "
     "got "
     "\"-1\""},
    {NODES "blocks: [{name: m, resources: n, start: 2026-02-30, duration: 1}]",
     "2:41: key \"start\": expected a date such as 2026-12-24T18:00, or seconds, up to 100 years, "
     "got "
     "\"2026-02-30\""},
    {NODES "blocks: [{name: m, resources: n, start: 0, duration: 0}]",
     "2:54: key \"duration\": expected " TIME "above 0 and up to 100 years, got \"0\""},
    {NODES "blocks: [{" BLOCK ", every: 1}]",
     "2:64: key \"every\": expected 0 for once, or more than the duration, got \"1\""},
    {NODES "blocks: [{" BLOCK "}, {" BLOCK "}]",
     "2:58: key \"name\": expected each name once, got \"m\""},
    {NODES "blocks: [{" BLOCK ", for: [u1]}]",
     "2:62: expected what a block is for as a mapping, got a list"},
    {NODES "blocks: [{" BLOCK ", for: {queues: [b]}}]",
     "2:72: key \"queues\": expected the name of a queue, got \"b\""},
    {NODES "blocks: [{" BLOCK ", for: {jobs: [a, a]}}]",
     "2:73: key \"jobs\": expected each name once, got \"a\""},
    {NODES "server: {grace: -1}",
     "2:17: key \"grace\": expected seconds, or a number with s, m, h, d or w as in 1.5h, up to "
     "100 years, got \"-1\""},
    {NODES "server: {tasks-per-core: unlimited}",
     "2:26: key \"tasks-per-core\": expected a whole number from 1 to 1000, got \"unlimited\""},
    {NODES "server: {max-jobs-per-user: 0}",
     "2:29: key \"max-jobs-per-user\": expected a whole number from 1 to 1000000000000000, or "
     "unlimited, got \"0\""},
    {NODES "server: {max-stored-per-user: 0}",
     "2:31: key \"max-stored-per-user\": expected bytes above 0 or a size such as \"4G\", "
     "up to 8T, or unlimited, got \"0\""},
    {NODES "server: {max-stored-per-user: [4G]}",
     "2:31: key \"max-stored-per-user\": expected bytes above 0 or a size such as \"4G\", "
     "up to 8T, or unlimited, got a list"},
    {NODES "queues: {a: {shares: {by: class}}}",
     "2:27: key \"by\": expected class only beside the key classes"},
    {NODES "queues: {a: {shares: {by: user, classes: {percent: {a: 1}}}}}",
     "2:42: key \"classes\": expected only with by: class"},
    {NODES "queues: {a: {shares: {by: class, order: [share], classes: {percent: {a: 1}}}}}",
     "2:41: key \"order\": expected none with by: class"},
    {NODES "queues: {a: {shares: {by: class, classes: {percent: {a: -1}}}}}",
     "2:57: key \"a\": expected a whole number from 0 to 1000000000, got \"-1\""},
    {NODES "queues: {a: {shares: {by: class, classes: {percent: {a: 1}, default: b}}}}",
     "2:70: key \"default\": expected the name of a class of the key percent, got \"b\""},
    {NODES "queues: {a: {shares: {by: class, classes: {percent: {a: 1}, worker: []}}}}",
     "2:69: key \"worker\": expected a resource, or amounts as in {core: 4, memory: 16}, got a "
     "list"},
    {NODES "queues: {a: {limits: {queue: {core: 4}}, shares: {capability: {core: 3}}}}",
     " queue 'a': capability: core has a limit already"},
    {NODES "trace: {processor: cpu}",
     "2:20: key \"processor\": expected core or node, got \"cpu\""},
    {NODES "trace: {queues: {1: batch}}",
     "2:21: key \"queues\": expected the name of a queue, got \"batch\""},
    {NODES "trace: {queues: {batch: 1}}", "2:18: key \"queues\": expected a whole number from -1 "
                                          "to 1000000000000000, got \"batch\""},
    {NODES "trace: {users: [a]}",
     "2:16: key \"users\": expected a mapping from the trace's numbers, got a list"},
    {NODES "trace: {users: {1: }}", "2:20: key \"users\": " NAME "nothing"},
    {NODES "trace: {users: {1: a, 1: b}}", "2:23: key \"1\": expected once in a mapping"},
    {NODES "trace: {partitions: {1: gpu}}", "2:25: key \"partitions\": expected a list of "
                                            "properties, or a constraint (RFC 31), got \"gpu\""},
};

static void check_wrong(const struct wrong *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        berth_error_t err = {""};
        char expected[sizeof(err.text)];
        snprintf(expected, sizeof(expected), "f:%s", rows[i].error);
        errno = 0;
        struct config *c = config_read("f", rows[i].text, strlen(rows[i].text), SECOND, &err);
        if (c)
            fail_msg("is read:\n%s", rows[i].text);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, expected);
        assert_null(config_read(NULL, rows[i].text, strlen(rows[i].text), SECOND, NULL));
    }
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    check_wrong(wrong_machines, COUNT(wrong_machines));
    check_wrong(wrong_queues, COUNT(wrong_queues));
    check_wrong(wrong_limits, COUNT(wrong_limits));
    check_wrong(wrong_rest, COUNT(wrong_rest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_files_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
