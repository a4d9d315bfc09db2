#include <algorithm>
#include <string>
#include <string_view>

#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "hit_blocks.hpp"
#include "io/packed/packed_reader.hpp"

/// The input is a line with the keys of a packed: URI, followed by the records.

namespace {

using namespace eventloom;

void read_all(const std::string& uri, const TimeBase& base, std::uint64_t file_bytes) {
  const auto reader = open_packed(SourceUri::parse(uri), {0}, base);
  const auto [hits, lost] = fuzz::read_all(*reader, file_bytes);
  const auto counters = reader->counts().counters;
  const auto whole = counters[Metric::records];
  fuzz::require(hits + counters[Metric::bad_records] == whole, "every record is a hit or a loss");
  fuzz::require(hits + lost == whole || hits + lost == whole + 1, "so is the truncated one");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  const std::size_t line = std::min(std::string_view(text, size).find('\n'), size);
  const std::size_t begin = std::min(line + 1, size);
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size).subspan(begin));
  const std::string uri = "packed:" + file.path() + "?" + std::string(text, line);
  for (const std::uint64_t tick_ps : {1000U, 7U}) {
    try {
      read_all(uri, {.tick_ps = tick_ps}, fuzz::unpacked_bytes(file.path()));
    } catch (const UserError&) {
      continue;  // the parser may refuse
    }
  }
  return 0;
}
