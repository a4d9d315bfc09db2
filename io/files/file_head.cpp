#include "io/files/file_head.hpp"

#include "core/runtime/error.hpp"
#include "io/files/byte_stream.hpp"

namespace eventloom {

std::vector<std::byte> file_head(const std::string& path) {
  constexpr std::size_t kHeadBytes = 4096;
  try {
    std::vector<std::byte> head(kHeadBytes);
    head.resize(ByteStream(path).read(head));
    return head;
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace eventloom
