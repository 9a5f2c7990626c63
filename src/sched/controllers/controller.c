#include "sched/controllers/controller.h"

#include "sched/controllers/rows.h"

const struct controller *const controllers_all[] = {
    &history_controller, &block_controller,      &hold_controller,
    &begin_controller,   &preemption_controller, &overrun_controller,
    &depend_controller,  &limit_controller,      NULL,
};
const struct controller *const controllers_none[] = {NULL};
