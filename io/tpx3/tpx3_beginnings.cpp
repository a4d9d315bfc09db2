#include "io/tpx3/tpx3_beginnings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/files/file_head.hpp"
#include "io/tpx3/tpx3_clock.hpp"

namespace eventloom {

namespace {

struct Beginning {
  std::string file;
  std::int64_t time = 0;
  bool placed = false;  ///< the file has a global time
  bool edges = false;   ///< it has TDC edges
};

/// std::nullopt for files without times, and for files that the reader will refuse.
std::optional<Beginning> beginning_of(const std::string& file) {
  if (!begins_tpx3_file(file_head(file))) return std::nullopt;
  const auto preview = preview_tpx3(file);
  Tpx3Clock clock;
  clock.begin_file(preview);
  if (!clock.now()) return std::nullopt;
  return Beginning{file, *clock.now(), preview.global().has_value(), preview.tdc().has_value()};
}

}  // namespace

std::optional<ClockBeginning> tpx3_beginning(const std::string& file) {
  const auto found = beginning_of(file);
  if (!found || found->placed || found->edges) return std::nullopt;
  // A file some of whose packets lie before the restart of the clock is placed in turn 1.
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(found->time, 0));
  const auto first = time % kTpx3PixelPeriod;
  return ClockBeginning{first, time >= kTpx3PixelPeriod ? first + 1 : 0};
}

void require_placed_clocks(std::span<const std::string> files) {
  if (files.size() < 2) return;
  std::optional<Beginning> first;
  for (const auto& file : files) {
    const auto other = beginning_of(file);
    if (!other) continue;
    if (!first) first = other;
    const auto apart = std::abs(other->time - first->time);
    if (apart <= Tpx3Clock::kNear || (first->placed && other->placed)) continue;
    throw UserError(
        fmt::format("'{}' begins at {:.3f} s and '{}' at {:.3f} s of clocks that start again every 26.8 s, and without "
                    "global times in both it is ambiguous how far they are apart: join the files of one run with "
                    "?concat, as in 'tpx3:run_*.tpx3?concat', give the files of chips that were recorded together the "
                    "same ?clock=NAME, or say how often each clock had started again before the file: ?turns=0",
                    first->file, tpx3_seconds(first->time), other->file, tpx3_seconds(other->time)));
  }
}

}  // namespace eventloom
