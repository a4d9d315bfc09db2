#include "core/transport/network.hpp"

#include "core/runtime/memory.hpp"

namespace eventloom {

std::vector<MemoryBound> Network::memory_bounds() const { return memory_there_is(); }

}  // namespace eventloom
