/* Turns of classes in queues of naive_queues.h spelled out: what each class has is added up anew. How many units each
 * may start is what share/class_counts.h says, which prop_classes and Scoot's cases hold to its rules.
 */
#ifndef PROPERTY_NAIVE_CLASSES_H
#define PROPERTY_NAIVE_CLASSES_H

#include "naive_queues.h"

/* The class of a job of a queue with classes; and whether it is one with 0 percent, which starts nothing. */
int nc_class_of(const struct naive_queues *q, int job);
bool nc_is_shut(const struct naive_queues *q, int job);

/* Workers that are held of the array of a job of such a queue, where it is the first of those that wait together. */
int64_t nc_held(const struct naive_queues *q, int job);

/* A walk begins. */
void nc_begin(struct naive_queues *q);

/* The job of a queue with classes that is looked at next, of those open and not in `out`, of which there is one. */
int nc_next(struct naive_queues *q, int lane, const bool out[NQ_JOBS]);

/* A job of such a queue was looked at. */
void nc_looked(struct naive_queues *q, int job);

#endif
