#pragma once

namespace eventloom {

/// Sets 1 MiB of address space aside, once for the process. When memory runs out for the first time, it is given back
/// before std::bad_alloc is thrown, so that what must still be done has some: nlohmann::json allocates in its
/// destructor, which ends the program where that fails, and the message about the missing memory takes some, too.
/// Throws std::bad_alloc when there is not even that.
void keep_memory_reserve();

}  // namespace eventloom
