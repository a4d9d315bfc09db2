#include "io/sources/complaints.hpp"

#include <spdlog/spdlog.h>

namespace eventloom {

void Complaints::show(const std::string& text, bool last) const {
  spdlog::error("{}: {}{}", path_, text, last ? "; more of this kind are only counted" : "");
}

void Complaints::sum_up() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > kShown) spdlog::error("{}: {} {} in all", path_, counts_[i], kNames[i]);
    counts_[i] = 0;
  }
}

}  // namespace eventloom
