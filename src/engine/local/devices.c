/* Devices that a cgroup is kept from. */
#include "engine/local/devices.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HEAD = 5,             /* instructions before those of the devices */
    EACH = 2,             /* of a device */
    TAIL = 4,             /* behind them */
    NUMBER_MAX = 1 << 20, /* of a device; the kernel's are below */
    KIND_MASK = 0xffff    /* in access_type, below what is asked for */
};

/* Registers: the program's argument is in the second at first, its answer in the first at last. */
enum reg { ANSWER, ARGUMENT, KIND, MAJOR, MINOR };

struct program {
    struct bpf_insn v[HEAD + EACH * DEVICES_MAX + TAIL];
    uint32_t n;
};

static void put_instruction(struct program *p, int code, enum reg reg, size_t offset,
                            int32_t number)
{
    struct bpf_insn insn = {.code = (uint8_t)code, .off = (int16_t)offset, .imm = number};
    insn.dst_reg = reg & 15U;
    p->v[p->n++] = insn;
}

static void put_load(struct program *p, enum reg reg, size_t offset)
{
    put_instruction(p, BPF_LDX | BPF_MEM | BPF_W, reg, offset, 0);
    p->v[p->n - 1].src_reg = ARGUMENT;
}

/* If a register is (BPF_JEQ) or is not (BPF_JNE) a number, go on `by` instructions behind the next one. */
static void put_jump(struct program *p, int how, enum reg reg, int32_t number, uint32_t by)
{
    put_instruction(p, BPF_JMP | how | BPF_K, reg, by, number);
}

static void put_answer(struct program *p, int32_t answer)
{
    put_instruction(p, BPF_ALU64 | BPF_MOV | BPF_K, ANSWER, 0, answer);
    put_instruction(p, BPF_JMP | BPF_EXIT, ANSWER, 0, 0);
}

/* A number and what ends it, of which *at becomes what follows. False: it is none. */
static bool read_device_number(const char **at, const char *ends, int32_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long n = strtoul(*at, &end, 10);
    if (n >= NUMBER_MAX || !strchr(ends, *end))
        return false;
    *number = (int32_t)n;
    *at = *end ? end + 1 : end;
    return true;
}

static uint32_t count_devices(const char *devices)
{
    uint32_t n = 1;
    for (const char *at = devices; (at = strchr(at, ',')); at++)
        n++;
    return n;
}

/* Allow everything but to have to do with a device of the list. */
static bool compile(struct program *p, const char *devices)
{
    uint32_t n = count_devices(devices), tests;
    const char *at = devices;
    if (n > DEVICES_MAX)
        return false;
    tests = EACH * n;
    p->n = 0;
    put_load(p, KIND, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    put_instruction(p, BPF_ALU64 | BPF_AND | BPF_K, KIND, 0, KIND_MASK);
    put_load(p, MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
    put_load(p, MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
    put_jump(p, BPF_JNE, KIND, BPF_DEVCG_DEV_CHAR, tests);
    for (; n > 0; n--, tests -= EACH) {
        int32_t major, minor;
        if (!read_device_number(&at, ":", &major) ||
            !read_device_number(&at, n > 1 ? "," : "", &minor))
            return false;
        put_jump(p, BPF_JNE, MAJOR, major, 1);
        put_jump(p, BPF_JEQ, MINOR, minor, tests); /* to the last answer */
    }
    put_answer(p, 1);
    put_answer(p, 0);
    return true;
}

/* Returns a descriptor, or -1 with errno. */
static int load_program(const struct program *p)
{
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (uint64_t)(uintptr_t)p->v;
    attr.insn_cnt = p->n;
    attr.license = (uint64_t)(uintptr_t) "MIT";
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach_program(int cgroup, int program)
{
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.target_fd = (uint32_t)cgroup;
    attr.attach_bpf_fd = (uint32_t)program;
    attr.attach_type = BPF_CGROUP_DEVICE;
    attr.attach_flags = BPF_F_ALLOW_MULTI; /* the container's own may be above */
    return (int)syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr));
}

bool devices_deniable(void)
{
    struct program p = {.n = 0};
    put_answer(&p, 1);
    int fd = load_program(&p);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int devices_deny(int cgroup, const char *devices)
{
    struct program *p = malloc(sizeof(*p));
    if (!p)
        return -1;
    bool good = compile(p, devices);
    int fd = good ? load_program(p) : -1, rc = -1;
    if (!good)
        errno = EINVAL;
    if (fd >= 0) {
        rc = attach_program(cgroup, fd);
        int saved = errno;
        close(fd);
        errno = saved;
    }
    int saved = errno;
    free(p);
    errno = saved;
    return rc;
}
