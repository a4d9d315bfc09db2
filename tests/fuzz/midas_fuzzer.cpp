#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "hit_blocks.hpp"
#include "io/midas/midas_reader.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  eventloom::fuzz::silence_log();
  return 0;
}

namespace {

using namespace eventloom;

void read_all(const std::string& uri) {
  const auto parsed = SourceUri::parse(uri);
  const auto path = parsed.path();
  const auto reader = open_midas(parsed, std::span(&path, 1), {0}, {});
  HitBlock block;
  std::uint64_t hits = 0;
  std::uint64_t lost = 0;
  while (reader->read(block)) {
    fuzz::require(block.size() != 0 || !block.losses.empty(), "a block is not empty");
    fuzz::require(block.channel.size() == block.size() && block.payload_begin.size() == block.size(), "equal columns");
    for (std::size_t i = 0; i < block.size(); ++i) {
      fuzz::require(block.payload_of(i)[0] == block.payload_of(i).size() - 1, "a hit has the length that it states");
    }
    hits += block.size();
    for (const auto& loss : block.losses) lost += loss.hits;
  }
  const auto counters = reader->counts().counters;
  const auto items = counters[Metric::subevents] + counters[Metric::empty_events];
  fuzz::require(hits <= items && hits + lost >= items, "every bank is a hit or lost");
}

void read_records(const std::string& uri, std::uint64_t file_bytes) {
  const auto parsed = SourceUri::parse(uri);
  const auto path = parsed.path();
  const auto reader = open_midas(parsed, std::span(&path, 1), {0}, {});
  const auto found = fuzz::read_all(*reader, file_bytes);
  fuzz::require(found.hits <= reader->counts().counters[Metric::records], "every hit is a record");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  for (const char* keys : {"", "?event=2", "?time=ADC0:0,2", "?bits=16", "?number=word:1:4-31&from=ADC0"}) {
    try {
      read_all("midas:" + file.path() + keys);
    } catch (const UserError&) {
      continue;  // the reader may refuse
    }
  }
  for (const char* keys :
       {"?bank=ADC0&record=3&channel=u8@0&payload=i16le@1", "?bank=ADC0&record=4&time=u24le@0&skip=1&channel=u8@3"}) {
    try {
      read_records("midas:" + file.path() + keys, fuzz::unpacked_bytes(file.path()));
    } catch (const UserError&) {
      continue;
    }
  }
  return 0;
}
