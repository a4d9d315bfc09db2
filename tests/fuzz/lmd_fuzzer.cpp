#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_reader.hpp"

// LMD files of both kinds and byte orders, with times from every place. For any file, blocks are as HitReader
// specifies, every event's hits are read or counted as lost, and reading ends.

namespace {

using namespace eventloom;

void check_block(const HitBlock& block) {
  const auto hits = block.size();
  fuzz::require(block.channel.size() == hits && block.payload_begin.size() == hits, "each hit has its columns");
  std::size_t before = 0;
  for (const auto& loss : block.losses) {
    fuzz::require(before <= loss.before && loss.before <= hits, "losses lie in their order between the hits");
    before = loss.before;
  }
  std::size_t words = 0;
  for (std::size_t i = 0; i < hits; ++i) {
    const auto payload = block.payload_of(i);
    fuzz::require(!payload.empty() && payload.size() == payload[0] + std::size_t{1},
                  "the number of words is as stated");
    fuzz::require(block.channel[i] <= kValueMask, "channels have 28 bits");
    words += payload.size();
  }
  fuzz::require(words == block.payload.size(), "every word is of a hit");
}

/// The number of hits in the whole events of the file.
std::uint64_t items_of(const std::string& path) {
  LmdFile file(path);
  LmdEvent event;
  std::uint64_t items = 0;
  while (file.next(event)) {
    std::uint64_t bytes = sizeof(LmdEventHeader);
    for (const auto& sub : event.subevents) bytes += sizeof(LmdSubeventHeader) + sub.data.size();
    fuzz::require(bytes == 8 + 2 * std::uint64_t{event.dlen}, "subevents fill their event");
    items += event.items();
  }
  fuzz::require(!file.next(event) && file.problems().empty(), "nothing follows the end");
  return items;
}

void read_file(const std::vector<std::string>& paths, const std::string& query, std::uint64_t items) {
  const auto reader = open_lmd(SourceUri::parse("lmd:" + paths.front() + query), paths, {0}, {});
  HitBlock block;
  Tick last = 0;
  std::uint64_t accounted = 0;
  while (reader->read(block)) {
    fuzz::require(block.size() != 0 || !block.losses.empty(), "a block has hits or losses");
    check_block(block);
    accounted += block.size();
    for (const auto& loss : block.losses) accounted += loss.cause == DropCause::corrupt ? 0 : loss.hits;
    if ((reader->header().flags & kNumbered) == 0) continue;
    for (const auto time : block.time) {
      fuzz::require(last <= time, "numbers rise");
      last = time;
    }
  }
  fuzz::require(accounted == items * paths.size(), "every hit is read or lost");
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
      "",       "?time=wr", "?time=wr&wr=0x100&unit=ps&round=down", "?time=word:0,2", "?time=word:1,1&from=0100000a",
      "?concat"};
  try {
    const auto items = items_of(file.path());
    for (const std::string query : kQueries) {
      read_file(std::vector<std::string>(query == "?concat" ? 2 : 1, file.path()), query, items);
    }
  } catch (const UserError&) {
    // Not an LMD file.
  }
  return 0;
}
