#include <string>

#include "core/runtime/error.hpp"
#include "fuzz_input.hpp"
#include "hit_blocks.hpp"
#include "io/compass/compass_reader.hpp"

/// The first byte selects the header of the file: 0, its own; 1, the old format; 2 to 4, columns of text, with
/// semicolons, with commas, and with a waveform; others, 0xCAEx.

namespace {

using namespace eventloom;

std::string keys_of(std::uint8_t choice) {
  if (choice == 0) return "";
  if (choice == 2) return "?drop=none&header=BOARD;CHANNEL;TIMETAG;ENERGY;CALIB_ENERGY;ENERGYSHORT;FLAGS";
  if (choice == 3) return "?header=FLAGS,BOARD,TIMETAG,CHANNEL,CALIB_ENERGY";
  if (choice == 4) return "?header=BOARD;CHANNEL;TIMETAG;ENERGY;FLAGS;PROBE_CODE;SAMPLES";
  return choice == 1 ? "?header=old" : std::string("?header=0xCAE") + "0123456789ABCDEF"[choice & 0xf];
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size).subspan(1));
  for (const std::uint64_t tick_ps : {1000U, 7U}) {
    try {
      const auto reader = open_compass(SourceUri::parse("compass:" + file.path() + keys_of(data[0])), {0}, {tick_ps});
      const auto [hits, lost] = fuzz::read_all(*reader, fuzz::unpacked_bytes(file.path()));
      const auto counters = reader->counts().counters;
      const auto whole = counters[Metric::records];
      fuzz::require(hits + counters[Metric::bad_records] <= whole, "every record is a hit, bad, or left out");
      fuzz::require(hits + lost == whole || hits + lost == whole + 1, "so is the truncated one");
    } catch (const UserError&) {
      continue;  // the reader may refuse
    }
  }
  return 0;
}
