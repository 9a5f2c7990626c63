/* Drawing primitives of SVG. */
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TENTHS_LIMIT                                                                               \
    1e9 /* far outside any picture; keeps a wrong number from becoming a wrong file */

void svg_raw(struct svg *svg, const char *markup)
{
    outfile_write(svg->out, markup, strlen(markup));
}

static int64_t tenths(double value)
{
    if (!(fabs(value) < TENTHS_LIMIT))
        return 0;
    return llround(value * 10);
}

/* Tenths as the shortest number: 125 -> 12.5, 120 -> 12, -4 -> -.4 */
static void put_tenths(struct svg *svg, int64_t value)
{
    char buf[32];
    int64_t size = value < 0 ? -value : value;
    int n = 0;
    if (value < 0)
        buf[n++] = '-';
    if (size >= 10 || size == 0)
        n += snprintf(buf + n, sizeof(buf) - 4, "%lld", (long long)(size / 10));
    if (size % 10) {
        buf[n++] = '.';
        buf[n++] = (char)('0' + size % 10);
    }
    outfile_write(svg->out, buf, (size_t)n);
}

static void put_attribute(struct svg *svg, const char *name, double value)
{
    svg_raw(svg, " ");
    svg_raw(svg, name);
    svg_raw(svg, "=\"");
    put_tenths(svg, tenths(value));
    svg_raw(svg, "\"");
}

static void put_class_attribute(struct svg *svg, const char *class)
{
    svg_raw(svg, " class=\"");
    svg_raw(svg, class);
    svg_raw(svg, "\"");
}

static void put_xml_text(struct svg *svg, const char *text)
{
    for (const char *s = text; *s; s++) {
        if (*s == '&')
            svg_raw(svg, "&amp;");
        else if (*s == '<')
            svg_raw(svg, "&lt;");
        else if (*s == '>')
            svg_raw(svg, "&gt;");
        else if ((unsigned char)*s < 0x20) /* most controls can't stand in XML, not even escaped */
            svg_raw(svg, " ");
        else
            outfile_write(svg->out, s, 1);
    }
}

void svg_begin(struct svg *svg, struct outfile *out, double width, double height, const char *css)
{
    *svg = (struct svg){.out = out};
    svg_raw(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    svg_raw(svg, " viewBox=\"0 0 ");
    put_tenths(svg, tenths(width));
    svg_raw(svg, " ");
    put_tenths(svg, tenths(height));
    svg_raw(svg, "\">\n<style>");
    svg_raw(svg, css);
    svg_raw(svg, "</style>\n");
}

void svg_end(struct svg *svg)
{
    svg_raw(svg, "</svg>\n");
}

void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *class)
{
    svg_raw(svg, "<rect");
    put_class_attribute(svg, class);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    svg_raw(svg, "/>\n");
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *class)
{
    svg_raw(svg, "<line");
    put_class_attribute(svg, class);
    put_attribute(svg, "x1", x1);
    put_attribute(svg, "y1", y1);
    put_attribute(svg, "x2", x2);
    put_attribute(svg, "y2", y2);
    svg_raw(svg, "/>\n");
}

void svg_text(struct svg *svg, double x, double y, const char *class, const char *anchor,
              const char *text)
{
    svg_raw(svg, "<text");
    put_class_attribute(svg, class);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    if (strcmp(anchor, "start") != 0) {
        svg_raw(svg, " text-anchor=\"");
        svg_raw(svg, anchor);
        svg_raw(svg, "\"");
    }
    svg_raw(svg, ">");
    put_xml_text(svg, text);
    svg_raw(svg, "</text>\n");
}

void svg_title(struct svg *svg, const char *text)
{
    svg_raw(svg, "<title>");
    put_xml_text(svg, text);
    svg_raw(svg, "</title>");
}

void svg_path_begin(struct svg *svg, const char *class)
{
    svg_raw(svg, "<path");
    if (*class)
        put_class_attribute(svg, class);
    svg_raw(svg, " d=\"");
    svg->x = svg->y = 0;
}

void svg_path_move(struct svg *svg, double x, double y)
{
    svg->x = tenths(x);
    svg->y = tenths(y);
    svg_raw(svg, "M");
    put_tenths(svg, svg->x);
    svg_raw(svg, " ");
    put_tenths(svg, svg->y);
}

/* Relative steps are shorter; they are differences of rounded positions, so they don't drift. */
void svg_path_across(struct svg *svg, double x)
{
    int64_t to = tenths(x);
    if (to == svg->x)
        return;
    svg_raw(svg, "h");
    put_tenths(svg, to - svg->x);
    svg->x = to;
}

void svg_path_down(struct svg *svg, double y)
{
    int64_t to = tenths(y);
    if (to == svg->y)
        return;
    svg_raw(svg, "v");
    put_tenths(svg, to - svg->y);
    svg->y = to;
}

void svg_path_line(struct svg *svg, double x, double y)
{
    int64_t to_x = tenths(x), to_y = tenths(y);
    svg_raw(svg, "l");
    put_tenths(svg, to_x - svg->x);
    svg_raw(svg, " ");
    put_tenths(svg, to_y - svg->y);
    svg->x = to_x;
    svg->y = to_y;
}

void svg_path_close(struct svg *svg)
{
    svg_raw(svg, "z");
}

void svg_path_box(struct svg *svg, double x1, double y1, double x2, double y2)
{
    svg_path_move(svg, x1, y1);
    svg_path_across(svg, x2);
    svg_path_down(svg, y2);
    svg_path_across(svg, x1);
    svg_path_close(svg);
}

void svg_path_end(struct svg *svg)
{
    svg_raw(svg, "\"/>\n");
}
