/* A file that appears whole or not at all.
 *
 * Bytes go to a temporary name beside the target; outfile_close renames it into place only when every
 * byte has been written. A name that ends in .gz is compressed. Anything but a regular file, such as
 * a pipe, is written directly; "-" is standard output.
 */
#ifndef REPORT_OUTFILE_H
#define REPORT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "berth/error.h"

struct outfile;

/* Returns a file to write, or NULL with errno and a text that names the path. */
struct outfile *outfile_open(const char *path, berth_error_t *err);

/* The path as it was given. */
const char *outfile_path(const struct outfile *out);

/* The absolute path of the file that outfile_close puts in place, to see whether two files are the same;
 * NULL if it is written directly.
 */
const char *outfile_target(const struct outfile *out);

/* Append bytes. An error is kept and reported by outfile_close; further writes are then ignored. */
void outfile_write(struct outfile *out, const void *bytes, size_t n);

/* Finish. With `keep` the file gets its name, unless a write has failed; without, it is removed. Frees
 * out in any case; NULL is allowed. Returns 0, or -1 with errno and a text that names the path.
 */
int outfile_close(struct outfile *out, bool keep, berth_error_t *err);

/* Remove the temporary files of all open files. For a signal handler, before the program ends. */
void outfile_abandon(void);

#endif
