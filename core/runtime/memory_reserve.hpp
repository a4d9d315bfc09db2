#pragma once

namespace eventloom {

/// Reserves 1 MiB of address space, once per process. When memory first runs out, the reserve is released before
/// std::bad_alloc is thrown, since cleanup needs memory, too: Json allocates in its destructor, which ends
/// the program if that fails, as does formatting the error message. Throws std::bad_alloc if not even the reserve is
/// available.
void keep_memory_reserve();

}  // namespace eventloom
