/* The GPUs of this machine, as a library that stands in for NVIDIA's tells of them, and as drivers show them in
 * files: the layout of these is the drivers' own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/gpus.h"
#include "config/local.h"

#define TWO "GPU-aaaa1=NVIDIA A100-SXM4-40GB;GPU-bbbb2=NVIDIA A100-PCIE-80GB"

static void expect_names(const struct gpus *gpus, const char *names)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < gpus->n; i++) {
        strbuf_puts(&text, i ? " " : "");
        strbuf_puts(&text, gpus->v[i].name);
    }
    assert_string_equal(strbuf_text(&text), names);
    strbuf_clear(&text);
}

/* Of the first. */
static void expect_kinds(const struct gpus *gpus, const char *kinds)
{
    struct strbuf one = {0}, text = {0};
    for (size_t i = 0; gpus->n > 0 && gpu_property(&gpus->v[0], i, &one); i++) {
        strbuf_puts(&text, i ? " " : "");
        strbuf_puts(&text, strbuf_text(&one));
    }
    assert_string_equal(strbuf_text(&text), kinds);
    strbuf_clear(&one);
    strbuf_clear(&text);
}

static void expect_found(const char *library, const char *only, const char *names,
                         const char *kinds)
{
    struct gpus gpus;
    if (library)
        setenv("STAND_IN_GPUS", library, 1);
    else
        unsetenv("STAND_IN_GPUS");
    assert_int_equal(gpus_find(&gpus, "", only), 0);
    expect_names(&gpus, names);
    expect_kinds(&gpus, kinds);
    if (gpus.n > 0)
        assert_string_equal(gpus.vendor, "nvidia");
    gpus_clear(&gpus);
}

static void test_library(void **state)
{
    (void)state;
    expect_found(TWO, NULL, "GPU-aaaa1 GPU-bbbb2", "gpu:nvidia gpu:a100 gpu:sxm4 gpu:40gb");
    expect_found("GPU-1=Tesla T4", NULL, "GPU-1", "gpu:tesla gpu:t4");
    expect_found("", NULL, "", "");
    expect_found(NULL, NULL, "", "");
    /* One that has failed. */
    expect_found("=x;GPU-2=NVIDIA L4", NULL, "GPU-2", "gpu:nvidia gpu:l4");
}

/* What a divided GPU has are its instances, and of one without any nothing can be had. */
static void test_divided(void **state)
{
    (void)state;
    expect_found("GPU-1=A100|MIG-1=A100 MIG 3g.20gb|MIG-2=A100 MIG 3g.20gb;GPU-2=A100", NULL,
                 "MIG-1 MIG-2 GPU-2", "gpu:a100 gpu:mig gpu:3g.20gb");
    expect_found("GPU-1=A100|MIG-1=A100 MIG 1g.5gb", NULL, "MIG-1", "gpu:a100 gpu:mig gpu:1g.5gb");
}

/* What the library says of memory, of instances too; what it does not say is unknown. */
static void test_memory(void **state)
{
    struct gpus gpus;
    (void)state;
    setenv("STAND_IN_GPUS",
           "GPU-1=A100@40960|MIG-1=A100 MIG 3g.20gb@20096;GPU-2=A100@40960;GPU-3=A30", 1);
    assert_int_equal(gpus_find(&gpus, "", NULL), 0);
    expect_names(&gpus, "MIG-1 GPU-2 GPU-3");
    assert_int_equal(gpus.v[0].memory, 20096);
    assert_int_equal(gpus.v[1].memory, 40960);
    assert_int_equal(gpus.v[2].memory, 0);
    gpus_clear(&gpus);
}

/* The rule of CUDA_VISIBLE_DEVICES: numbers or beginnings of names; what follows one that is neither is not seen. */
static void test_only(void **state)
{
    (void)state;
    expect_found(TWO, "1", "GPU-bbbb2", "gpu:nvidia gpu:a100 gpu:pcie gpu:80gb");
    expect_found(TWO, "1,0", "GPU-bbbb2 GPU-aaaa1", "gpu:nvidia gpu:a100 gpu:pcie gpu:80gb");
    expect_found(TWO, "GPU-bb", "GPU-bbbb2", "gpu:nvidia gpu:a100 gpu:pcie gpu:80gb");
    expect_found(TWO, "GPU-", "", "");
    expect_found(TWO, "0,-1,1", "GPU-aaaa1", "gpu:nvidia gpu:a100 gpu:sxm4 gpu:40gb");
    expect_found(TWO, "0,0", "GPU-aaaa1", "gpu:nvidia gpu:a100 gpu:sxm4 gpu:40gb");
    expect_found(TWO, "99999999999999999999999", "", "");
    expect_found(TWO, "", "", "");
}

static void test_own(void **state)
{
    struct gpus gpus;
    (void)state;
    setenv("STAND_IN_GPUS", TWO, 1);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    assert_int_equal(gpus_find_own(&gpus), 0);
    expect_names(&gpus, "GPU-bbbb2");
    gpus_clear(&gpus);
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("ROCR_VISIBLE_DEVICES", "1", 1); /* another vendor's */
    assert_int_equal(gpus_find_own(&gpus), 0);
    expect_names(&gpus, "GPU-aaaa1 GPU-bbbb2");
    gpus_clear(&gpus);
    unsetenv("ROCR_VISIBLE_DEVICES");
}

/* ---- Files ---- */

static void put_file(const char *root, const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof(name), "%s%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(name, 0700);
        *at = '/';
    }
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    fclose(out);
}

static void expect_files(const char *root, const char *names, const char *kinds, const char *vendor)
{
    struct gpus gpus;
    setenv("STAND_IN_GPUS", TWO, 1); /* not asked: it is this machine's */
    assert_int_equal(gpus_find(&gpus, root, NULL), 0);
    expect_names(&gpus, names);
    expect_kinds(&gpus, kinds);
    if (vendor)
        assert_string_equal(gpus.vendor, vendor);
    gpus_clear(&gpus);
}

/* Of the first. */
static void expect_device(const char *root, const char *device)
{
    struct gpus gpus;
    assert_int_equal(gpus_find(&gpus, root, NULL), 0);
    assert_string_equal(gpus.v[0].device, device);
    gpus_clear(&gpus);
}

static void expect_first_memory(const char *root, int64_t memory)
{
    struct gpus gpus;
    assert_int_equal(gpus_find(&gpus, root, NULL), 0);
    assert_int_equal(gpus.v[0].memory, memory);
    gpus_clear(&gpus);
}

static void test_files(void **state)
{
    char root[] = "/tmp/berth-gpus-XXXXXX", remove[64], file[64];
    (void)state;
    assert_non_null(mkdtemp(root));
    expect_files(root, "", "", NULL);
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/0/properties",
             "cpu_cores_count 16\nsimd_count 0\nunique_id 0\n");
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/10/properties",
             "cpu_cores_count 0\nsimd_count 440\nunique_id 7438937490264842516\n");
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/10/name", "aldebaran\n");
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/2/properties",
             "simd_count 440\nunique_id 1\n");
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/2/name", "aldebaran\n");
    expect_files(root, "GPU-0000000000000001 GPU-673c6a3bf5926114", "gpu:aldebaran", "amd");
    put_file(root, "/sys/class/kfd/kfd/topology/nodes/2/properties",
             "simd_count 440\nunique_id 1\ndrm_render_minor 128\n");
    put_file(root, "/sys/class/drm/renderD128/device/mem_info_vram_total", "68702699520\n");
    expect_first_memory(root, 65520);
    put_file(root, "/proc/driver/nvidia/gpus/0000:3b:00.0/information",
             "Model: \t\t NVIDIA H100 PCIe\nIRQ:   \t\t 100\nGPU UUID: \t GPU-12ab\nBus Type: \t "
             "PCIe\nDevice Minor: \t 3\n");
    /* The driver has not looked at this one. */
    put_file(root, "/proc/driver/nvidia/gpus/0000:5e:00.0/information",
             "Model: \t\t Unknown\nGPU UUID: \t GPU-????????"
             "-????\n");
    expect_files(root, "GPU-12ab", "gpu:nvidia gpu:h100 gpu:pcie", "nvidia");
    expect_device(root, ""); /* no such file */
    put_file(root, "/dev/nvidia3", "");
    expect_device(root, ""); /* not a device's */
    snprintf(file, sizeof(file), "%s/dev/nvidia3", root);
    unlink(file);
    if (mknod(file, S_IFCHR | 0600, makedev(1, 5)) == 0)
        expect_device(root, "1:5");
    else
        print_message("only root makes device files: not tried\n");
    snprintf(remove, sizeof(remove), "rm -r %s", root);
    assert_int_equal(system(remove), 0);
}

/* ---- The machine ---- */

static uint32_t count_named(const struct graph *g, const char *key, const char *value)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        const char *found = propset_value(&g->props, g->v[v].props, key);
        n += found && strcmp(found, value) == 0;
    }
    return n;
}

static void test_graph(void **state)
{
    berth_error_t err = {""};
    (void)state;
    setenv("STAND_IN_GPUS", TWO, 1);
    struct graph *g = local_graph(&err);
    if (!g)
        fail_msg("%s", err.text);
    assert_int_equal(count_named(g, "uuid", "GPU-aaaa1"), 1);
    assert_int_equal(count_named(g, "uuid", "GPU-bbbb2"), 1);
    assert_int_equal(count_named(g, "vendor", "nvidia"), 2);
    assert_int_equal(count_named(g, "gpu:a100", ""), 3); /* each, and the node */
    assert_int_equal(count_named(g, "gpu:pcie", ""), 2);
    graph_destroy(g);
    /* Memory is below the GPU of which the library says how much it has. */
    setenv("STAND_IN_GPUS", "GPU-1=A100;GPU-2=A100@40960", 1);
    g = local_graph(&err);
    assert_non_null(g);
    uint32_t last = (uint32_t)g->n - 1;
    assert_string_equal(graph_type_name(g, last), "gpu-memory");
    assert_int_equal(g->v[last].size, 40960);
    assert_true(g->v[last].divisible);
    assert_int_equal(graph_parent(g, last, GRAPH_CONTAINMENT), last - 1);
    assert_string_equal(propset_value(&g->props, g->v[last - 1].props, "uuid"), "GPU-2");
    assert_string_equal(graph_type_name(g, last - 2), "gpu");
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library), cmocka_unit_test(test_divided),
        cmocka_unit_test(test_only),    cmocka_unit_test(test_own),
        cmocka_unit_test(test_files),   cmocka_unit_test(test_graph),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
