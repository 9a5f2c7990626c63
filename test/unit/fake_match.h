/* A matcher that does what a test tells it and notes what it is asked. Linked in place of src/match. */
#ifndef FAKE_MATCH_H
#define FAKE_MATCH_H

#include <stddef.h>

#include "berth/match.h"

struct match {
    /* What the calls answer: an errno, or 0. */
    int error;       /* all but match_write */
    int write_error; /* match_write */
    int64_t at;      /* start of a match */
    const char *text;
    bool full, down;

    char calls[4096]; /* a line each */
    size_t length;
};

#endif
