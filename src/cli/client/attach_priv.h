/* What opens an attachment (attach.c) and the thread that serves it (attach_thread.c) share. */
#ifndef CLI_CLIENT_ATTACH_PRIV_H
#define CLI_CLIENT_ATTACH_PRIV_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "cli/client/attach.h"

struct attach {
    enum attach_as as;
    char folder[108], path[108 + 8];
    int listener;
    int passed; /* what a task gets: standard input, the end of a pipe, or a terminal */
    int to;   /* where we put what is typed: the pipe's or the terminal's other end; -1: nowhere */
    int stop; /* readable: we are to end */
    int resized; /* signals that say so */
    pthread_t thread;
    bool runs;
    sigset_t mask;        /* of the thread that has opened this */
    bool is_terminal;     /* our standard input is one */
    struct termios saved; /* its settings */

    /* Of the thread: */
    bool is_raw;  /* our terminal passes every key on */
    bool is_met;  /* a task has been passed what it gets */
    bool is_open; /* our standard input has not ended */
    char typed[4096];
    size_t n_typed, at_typed; /* what was read of it, and how much of that is written */
};

void *attach_thread(void *attach);

/* Give the job's terminal the size of ours. */
void attach_size(const struct attach *a);

#endif
