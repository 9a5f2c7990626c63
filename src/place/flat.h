/* A flat machine: interchangeable units in one calendar. */
#ifndef PLACE_FLAT_H
#define PLACE_FLAT_H

#include "place/place.h"

/* A machine of `units`, 1 to INT64_MAX; its destroy frees it. NULL with ENOMEM. */
struct place *flat_create(int64_t units);

#endif
