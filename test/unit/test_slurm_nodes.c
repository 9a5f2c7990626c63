/* What Slurm says of its nodes, in lines of Slurm 22.05 and of other releases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/slurm/nodes.h"

static int read_line(const char *text, struct slurm_node *node)
{
    static char line[4096];
    snprintf(line, sizeof(line), "%s", text);
    return slurm_node_read(line, node);
}

/* As slurmctld 22.05.8 writes it, with a reason. */
static const char whole[] =
    "NodeName=n2 Arch=x86_64 CoresPerSocket=8  CPUAlloc=6 CPUEfctv=30 CPUTot=32 CPULoad=17.15 "
    "AvailableFeatures=x86,fast ActiveFeatures=x86 Gres=gpu:a100:2(S:0-1),shard:8 GresDrain=N/A "
    "GresUsed=gpu:a100:1(IDX:1),shard:0 NodeAddr=10.0.0.2 NodeHostName=n2 Port=6818 "
    "Version=22.05.8 OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)  "
    "RealMemory=4096 AllocMem=100 FreeMem=21995 Sockets=2 Boards=1 MemSpecLimit=96 "
    "State=MIXED+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A "
    "Partitions=batch,short  BootTime=2026-11-25T22:29:37 CfgTRES=cpu=32,mem=4G,billing=32 "
    "AllocTRES=cpu=6,mem=100M CapWatts=n/a Reason=disk State=IDLE of a=b "
    "[root@2026-11-26T09:00:00]\n";

static void a_line_is_read(void **state)
{
    struct slurm_node n;
    (void)state;
    assert_int_equal(read_line(whole, &n), 0);
    assert_string_equal(n.name, "n2");
    assert_string_equal(n.address, "10.0.0.2");
    assert_int_equal(n.state, SLURM_NODE_DRAINED);
    assert_string_equal(n.reason, "disk State=IDLE of a=b");
    assert_int_equal(n.cpus_per_core, 2);
    assert_int_equal(n.cores, 15); /* one is set aside for the system */
    assert_int_equal(n.cpus_used, 6);
    assert_int_equal(n.gpus, 2);
    assert_int_equal(n.gpus_used, 1);
    assert_int_equal(n.memory, INT64_C(4000) << 20);
    assert_int_equal(n.memory_used, INT64_C(100) << 20);
    assert_string_equal(n.partitions, "batch,short");
    assert_string_equal(n.features, "x86");
}

/* The least that there must be; older releases have no CPUEfctv. */
static void little_is_enough(void **state)
{
    struct slurm_node n;
    (void)state;
    assert_int_equal(
        read_line("NodeName=a CPUTot=4 State=IDLE Gres=(null) ActiveFeatures=(null)", &n), 0);
    assert_int_equal(n.cores, 4);
    assert_int_equal(n.cpus_per_core, 1);
    assert_int_equal(n.gpus, 0);
    assert_int_equal(n.memory, 0);
    assert_string_equal(n.features, "");
    assert_string_equal(n.address, "a");
    assert_string_equal(n.reason, "");
    assert_int_equal(read_line("NodeName=a CPUTot=4", &n), -1);
    assert_int_equal(read_line("NodeName=a State=IDLE", &n), -1);
    assert_int_equal(read_line("NodeName=a/b CPUTot=4 State=IDLE", &n), -1);
    assert_int_equal(read_line("NodeName=.. CPUTot=4 State=IDLE", &n), -1);
    assert_int_equal(read_line("NodeName= CPUTot=4 State=IDLE", &n), -1);
    assert_int_equal(read_line("NodeName=a CPUTot=5000 State=IDLE", &n), -1);
    assert_int_equal(read_line("NodeName=a CPUTot=0 State=IDLE", &n), -1);
    assert_int_equal(read_line("Node a not found", &n), -1);
    assert_int_equal(read_line("", &n), -1);
}

static void states_are_known(void **state)
{
    static const struct {
        const char *word;
        enum slurm_node_state means;
    } words[] = {{"IDLE", SLURM_NODE_UP},
                 {"ALLOCATED", SLURM_NODE_UP},
                 {"MIXED", SLURM_NODE_UP},
                 {"MIXED+COMPLETING", SLURM_NODE_UP},
                 {"IDLE+CLOUD+PLANNED", SLURM_NODE_UP},
                 {"IDLE+DRAIN", SLURM_NODE_DRAINED},
                 {"ALLOCATED+COMPLETING+DRAIN", SLURM_NODE_DRAINED},
                 {"IDLE+MAINTENANCE+RESERVED", SLURM_NODE_DRAINED},
                 {"DOWN", SLURM_NODE_DOWN},
                 {"DOWN*", SLURM_NODE_DOWN},
                 {"IDLE*", SLURM_NODE_DOWN},
                 {"IDLE*+DRAIN", SLURM_NODE_DOWN},
                 {"IDLE+NOT_RESPONDING", SLURM_NODE_DOWN},
                 {"DOWN+DRAIN+NOT_RESPONDING", SLURM_NODE_DOWN},
                 {"IDLE+DRAIN+NOT_RESPONDING", SLURM_NODE_DOWN},
                 {"IDLE~", SLURM_NODE_DOWN},
                 {"IDLE+POWERED_DOWN", SLURM_NODE_DOWN},
                 {"IDLE+REBOOT_ISSUED", SLURM_NODE_DOWN},
                 {"UNKNOWN", SLURM_NODE_DOWN},
                 {"FUTURE", SLURM_NODE_DOWN},
                 {"IDLENESS", SLURM_NODE_DOWN},
                 {"idle", SLURM_NODE_DOWN}};
    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct slurm_node n;
        char text[200];
        snprintf(text, sizeof(text), "NodeName=a CPUTot=4 State=%s X=1", words[i].word);
        assert_int_equal(read_line(text, &n), 0);
        if (n.state != words[i].means)
            fail_msg("%s is taken for %d", words[i].word, (int)n.state);
    }
}

static void gpus_are_counted(void **state)
{
    static const struct {
        const char *text;
        int64_t n;
    } all[] = {{"gpu:2", 2},
               {"gpu", 1},
               {"gpu:a100", 1},
               {"gpu:a100:4(S:0-1)", 4},
               {"gpu:a100:1(IDX:0,2),gpu:v100:3(IDX:1-3)", 4},
               {"craynetwork:4,gpu:1", 1},
               {"gpus:3,shard:8", 0},
               {"gpu:(null):2(IDX:N/A)", 2},
               {"(null)", 0},
               {"gpu:100000", 1},
               {"gpu:200,gpu:b:200", SLURM_GPUS_MOST}};
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct slurm_node n;
        char text[200];
        snprintf(text, sizeof(text), "NodeName=a CPUTot=4 Gres=%s State=IDLE", all[i].text);
        assert_int_equal(read_line(text, &n), 0);
        if (n.gpus != all[i].n)
            fail_msg("%s has %d GPUs", all[i].text, (int)n.gpus);
    }
}

static void partitions_are_read(void **state)
{
    struct slurm_partition p;
    char batch[] =
        "PartitionName=batch AllowGroups=ALL Default=YES QoS=N/A State=UP TotalCPUs=12\n",
         closed[] = "PartitionName=closed Default=NO State=INACTIVE", none[] = "No partitions";
    (void)state;
    assert_int_equal(slurm_partition_read(batch, &p), 0);
    assert_string_equal(p.name, "batch");
    assert_true(p.is_default && p.is_up);
    assert_int_equal(slurm_partition_read(closed, &p), 0);
    assert_true(!p.is_default && !p.is_up);
    assert_int_equal(slurm_partition_read(none, &p), -1);
    assert_true(slurm_list_has("batch,short", "short"));
    assert_true(slurm_list_has("batch,short", "batch"));
    assert_false(slurm_list_has("batch,short", "shor"));
    assert_false(slurm_list_has("batch", "batches"));
    assert_false(slurm_list_has("", "batch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_read),      cmocka_unit_test(little_is_enough),
        cmocka_unit_test(states_are_known),    cmocka_unit_test(gpus_are_counted),
        cmocka_unit_test(partitions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
