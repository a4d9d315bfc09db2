#pragma once

namespace eventloom {

/// How a rank leaves when an exception is on its way out of it. What is freed together with all other ranks (windows,
/// communicators, messages under way) asks here first: when the others do not come, it would wait for them for ever.

/// True while an exception unwinds this rank that the others, if there are any, do not share (see leave_together()).
/// Nothing collective may be called then, and nothing waited for: what MPI holds ends with the program, see with_mpi().
bool leaves_alone();

/// Something was not freed because this rank left alone: MPI_Finalize may wait for it for ever.
bool left_something();

}  // namespace eventloom
