/* How many blocks a machine can have at a time (match/book/shut.h): sets of them are the bits of a number,
 * which jobs of one kind are told apart by as well. It is no parameter, but told to who sets one too many.
 */
#ifndef BASE_BLOCKS_H
#define BASE_BLOCKS_H

#define BLOCKS_MAX 64

#endif
