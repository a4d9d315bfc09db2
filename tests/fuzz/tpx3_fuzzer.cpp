#include <array>
#include <span>
#include <string>

#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "hit_blocks.hpp"
#include "io/tpx3/tpx3_reader.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  eventloom::fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eventloom;
  // One file, and two of one run.
  const auto bytes = fuzz::bytes_of(data, size);
  const fuzz::MemoryFile whole(bytes);
  const fuzz::MemoryFile first(bytes.first(size / 2));
  const fuzz::MemoryFile second(bytes.subspan(size / 2));
  const std::array one{whole.path()};
  const std::array two{first.path(), second.path()};
  for (const auto paths : {std::span<const std::string>(one), std::span<const std::string>(two)}) {
    try {
      const auto reader = open_tpx3(SourceUri::parse("tpx3:run.tpx3"), paths, {0}, {paths.size() == 1 ? 1000U : 7U});
      std::uint64_t bytes_in_all = 0;
      for (const auto& path : paths) bytes_in_all += fuzz::unpacked_bytes(path);
      const auto [hits, lost] = fuzz::read_all(*reader, bytes_in_all);
      const auto packets = reader->counts().counters[Metric::packets];
      const auto skipped = reader->counts().counters[Metric::skipped_elements];
      fuzz::require(hits + skipped <= packets, "a hit is a packet");
      fuzz::require(hits + lost + skipped >= packets, "every packet is a hit, a loss or of another kind");
    } catch (const UserError&) {
      continue;  // refusing is what the reader may do
    }
  }
  return 0;
}
