#include "cli/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/client/terminal.h"

static struct termios before;
static volatile sig_atomic_t is_over;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static void redraw(int signal)
{
    (void)signal; /* a poll that it interrupts is enough */
}

static void on_signal(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

bool screen_open(void)
{
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
        return false;
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    on_signal(SIGINT, end);
    on_signal(SIGTERM, end);
    on_signal(SIGHUP, end);
    on_signal(SIGWINCH, redraw);
    signal(SIGTSTP, SIG_IGN);
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
        return false;
    fputs("\033[?1049h\033[?25l", stdout);
    fflush(stdout);
    return true;
}

void screen_close(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void screen_size(size_t *rows, size_t *columns)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    *rows = size.ws_row;
    *columns = size.ws_col;
}

bool screen_is_over(void)
{
    return is_over != 0;
}

/* A byte that is there; KEY_NONE: none; -1: there will be no more. */
static int next_byte(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char c;
    if (poll(&in, 1, 0) <= 0)
        return KEY_NONE;
    ssize_t n = read(STDIN_FILENO, &c, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return KEY_NONE;
    return n == 1 ? c : -1;
}

int screen_key(void)
{
    int c = next_byte();
    if (c != '\033')
        return c;
    c = next_byte();
    if (c != '[' && c != 'O')
        return c < 0 ? -1 : KEY_NONE;
    c = next_byte();
    switch (c) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case '5':
    case '6':
        next_byte(); /* '~' */
        return c == '5' ? KEY_PAGE_UP : KEY_PAGE_DOWN;
    default:
        return c < 0 ? -1 : KEY_NONE;
    }
}

void screen_line(struct strbuf *frame, const char *text, size_t columns, const char *how)
{
    size_t taken = columns, bytes = terminal_fit(text, &taken);
    if (frame->len > 0)
        strbuf_puts(frame, "\r\n");
    if (*how) {
        strbuf_puts(frame, "\033[");
        strbuf_puts(frame, how);
        strbuf_putc(frame, 'm');
    }
    terminal_plain(frame, text, bytes);
    if (*how)
        strbuf_puts(frame, "\033[0m");
    strbuf_puts(frame, "\033[K");
}

void screen_show(const struct strbuf *frame)
{
    fputs("\033[H", stdout);
    if (!frame->failed && frame->len > 0)
        fwrite(frame->data, 1, frame->len, stdout);
    fputs("\033[J", stdout);
    fflush(stdout);
}
