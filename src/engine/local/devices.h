/* Keep the processes of a cgroup from character devices.
 *
 * cgroup v2 has no controller for devices: a program for the kernel's BPF machine is attached to a group and is asked
 * at each opening of a device file by a process in it. It stays until the group is removed, also without the process
 * that attached it. This takes the capabilities CAP_BPF and CAP_NET_ADMIN, or CAP_SYS_ADMIN: root's, but not in all
 * containers.
 *
 * Source: the kernel's documentation, admin-guide/cgroup-v2.rst, "Device controller", and bpf(2).
 */
#ifndef ENGINE_LOCAL_DEVICES_H
#define ENGINE_LOCAL_DEVICES_H

#include <stdbool.h>

enum { DEVICES_MAX = 1024 };

/* Whether this process may load such programs. */
bool devices_deniable(void);

/* Keep processes in a group from devices, "MAJOR:MINOR,..." with at most DEVICES_MAX of them. `cgroup` is a descriptor
 * of its folder. Returns 0, or -1 with errno; EINVAL: it is no such list. O(length of the list).
 */
int devices_deny(int cgroup, const char *devices);

#endif
