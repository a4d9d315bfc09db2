#include "formats/marker_counts.hpp"

#include <string_view>

namespace eventloom {

namespace {

struct MarkerWords {
  std::string_view one;
  std::string_view more;
  std::string_view marker;
};
constexpr std::array<MarkerWords, kOtherMarkers> kWords = {{{"peak", "peaks", "P"},
                                                            {"event tag", "event tags", "TG"},
                                                            {"histogram", "histograms", "H1"},
                                                            {"schedule", "schedules", "SCH"}}};

}  // namespace

std::string text_of(const MarkerCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < kOtherMarkers; ++i) {
    const auto n = counts.numbers()[i];
    if (n == 0) continue;
    const auto& words = kWords[i];
    text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + std::string(n == 1 ? words.one : words.more) + " (" +
            std::string(words.marker) + ")";
  }
  return text;
}

}  // namespace eventloom
