/* How many blocks a machine can have at a time (match/book/blocks.h): sets of them are the bits of a number,
 * which jobs of one kind are told apart by as well. It is no parameter, but told to who sets one too many.
 */
#ifndef BASE_BLOCKS_H
#define BASE_BLOCKS_H

#define BLOCKS_MAX 64

/* Turns of blocks that come again, in the time after which these repeat together, up to which is decided exactly
 * whether they leave time for a job. Of more only those blocks count that leave none by themselves, and the job is
 * taken. It is a year of ten that come daily.
 */
#define BLOCKS_TURNS 4096

#endif
