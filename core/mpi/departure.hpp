#pragma once

namespace eventloom {

/// How a rank leaves while an exception unwinds it. Everything that is freed collectively (windows, communicators,
/// pending messages) checks here first: when the other ranks do not join, it would wait for them for ever.

/// True while this rank is unwound by an exception that the others, if there are any, do not share (see
/// leave_together()). Then nothing collective may be called, and nothing waited for: MPI's resources end with the
/// program, see with_mpi().
bool leaves_alone();

/// Something was not freed because this rank left alone: MPI_Finalize may wait for it for ever.
bool left_something();

}  // namespace eventloom
