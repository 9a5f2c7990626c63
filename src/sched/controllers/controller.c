#include "sched/controllers/controller.h"

#include "sched/controllers/rows.h"

const struct controller *const controllers_all[] = {
    &history_controller, /* it counts what all others do */
    &block_controller,   /* what a job may use: before anybody looks for room */
    &hold_controller,    /* the first row that keeps a job says why */
    &depend_controller,
    &begin_controller,
    &preemption_controller, /* a held job that goes has its victims let go before limits forget it */
    &rebalance_controller,  /* where that makes no room */
    &reclaim_controller,    /* nor that */
    &overrun_controller,    /* what runs on is booked before limits count */
    &clear_controller,      /* what is stopped has its booking until then */
    &gang_controller,       /* who waits for it has nothing to do with the rest */
    &turn_controller,       /* nor has who waits for other gangs of its array */
    &array_controller,      /* before limits are measured */
    &claim_controller,
    &starving_controller, /* what it gives back limits count anew */
    &limit_controller,
    &share_controller, /* what others let it hold */
    NULL,
};

const struct controller *const controllers_none[] = {NULL};
