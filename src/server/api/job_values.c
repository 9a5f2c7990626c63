/* Values of requests that are numbers or texts. */
#include <string.h>

#include "config/signals.h"
#include "server/api/job_read.h"

bool signal_read(const json_t *value, int *number)
{
    const char *text = json_string_value(value);
    if (text)
        return signals_read(text, strlen(text), number);
    *number = (int)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 1 &&
           json_integer_value(value) <= SIGNALS_MAX;
}
