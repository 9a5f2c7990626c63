/* Drawing primitives of SVG, written to a file as they are called.
 *
 * Coordinates are pixels, rounded to tenths when written, so that the file is small and the same on every
 * machine. Text is escaped here; it must be valid UTF-8 (report_clean_text).
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stdint.h>

#include "report/outfile.h"

struct svg {
    struct outfile *out;
    int64_t x, y; /* pen of the open path, in tenths */
};

/* Write the opening tag for a picture of width x height with a style sheet; svg_end closes it. */
void svg_begin(struct svg *svg, struct outfile *out, double width, double height, const char *css);
void svg_end(struct svg *svg);

/* Write markup unchanged: tags and attributes that the calls below don't cover. */
void svg_raw(struct svg *svg, const char *markup);

void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *class);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *class);

/* anchor: "start", "middle" or "end" */
void svg_text(struct svg *svg, double x, double y, const char *class, const char *anchor,
              const char *text);

/* <title>text</title>: the tooltip of the enclosing element */
void svg_title(struct svg *svg, const char *text);

/* A path: begin, then moves and axis-parallel steps, then end. svg_path_box adds a closed
 * rectangle. */
void svg_path_begin(struct svg *svg, const char *class);
void svg_path_move(struct svg *svg, double x, double y);
void svg_path_across(struct svg *svg, double x); /* horizontal to x */
void svg_path_down(struct svg *svg, double y);   /* vertical to y */
void svg_path_line(struct svg *svg, double x, double y);
void svg_path_close(struct svg *svg);
void svg_path_box(struct svg *svg, double x1, double y1, double x2, double y2);
void svg_path_end(struct svg *svg);

#endif
