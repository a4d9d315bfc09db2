#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "io/hld/hld_reader.hpp"

// HLD files in all modes of the reader. For any file, blocks are as HitReader specifies, and reading ends.

namespace {

using namespace eventloom;

void check_block(const HitBlock& block, const StreamHeader& header) {
  const auto hits = block.size();
  fuzz::require(block.channel.size() == hits, "each hit has a channel");
  std::size_t before = 0;
  for (const auto& loss : block.losses) {
    fuzz::require(before <= loss.before && loss.before <= hits, "losses lie in their order between the hits");
    before = loss.before;
  }
  std::size_t words = 0;
  for (std::size_t i = 0; i < hits; ++i) {
    const auto payload = block.payload_of(i);
    const auto announced = header.payload.of(block.channel[i]);
    const bool counted = announced == PayloadTable::kLengthInFirstWord;
    fuzz::require(!counted || !payload.empty(), "there is a first word");
    fuzz::require(payload.size() == (counted ? payload[0] + std::size_t{1} : announced),
                  "there are as many words as announced");
    fuzz::require(block.channel[i] <= kValueMask, "channels have 28 bits");
    words += payload.size();
  }
  fuzz::require(words == block.payload.size(), "every word is of a hit");
}

void read_file(const std::vector<std::string>& paths, const std::string& query) {
  const auto uri = SourceUri::parse("hld:" + paths.front() + query);
  const auto reader = open_hld(uri, paths, {0}, {});
  HitBlock block;
  while (reader->read(block)) {
    fuzz::require(block.size() != 0 || !block.losses.empty(), "a block has hits or losses");
    check_block(block, reader->header());
  }
  (void)reader->anomalies();
  (void)reader->counts();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  constexpr std::array<const char*, 6> kQueries = {
      "", "?tdc", "?tdc=0x0-0xff,0xe000", "?tdc&time=tdc", "?concat", "?number=word:1:8-31&from=8000"};
  try {
    for (const std::string query : kQueries) {
      std::vector<std::string> paths(query == "?concat" ? 2 : 1, file.path());
      read_file(paths, query);
    }
  } catch (const UserError&) {
    // Not an HLD file.
  }
  return 0;
}
