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
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  for (const std::uint64_t tick_ps : {1000U, 7U}) {
    try {
      const auto reader = open_tpx3(SourceUri::parse("tpx3:" + file.path()), {0}, {tick_ps});
      const auto [hits, lost] = fuzz::read_all(*reader, size);
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
