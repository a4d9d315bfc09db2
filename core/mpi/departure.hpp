#pragma once

namespace eventloom {

/// How a rank leaves while an exception unwinds it. Everything that is freed collectively (windows, communicators,
/// pending messages) checks this first: it would wait forever for ranks that do not join.

/// True while an exception unwinds this rank that the other ranks, if any, do not share (see leave_together()). Then
/// collective calls and waits are forbidden: MPI's resources end with the program, see with_mpi().
bool leaves_alone();

/// Whether something was not freed because this rank left alone: MPI_Finalize may then wait forever.
bool left_something();

}  // namespace eventloom
