#include "io/files/complaints.hpp"

#include <spdlog/spdlog.h>

namespace eventloom {

namespace {

spdlog::level::level_enum level_of(Defect kind) {
  return kind == Defect::era ? spdlog::level::warn : spdlog::level::err;
}

}  // namespace

void Complaints::show(Defect kind, const std::string& text, bool last) const {
  spdlog::log(level_of(kind), "{}: {}{}", path_, text, last ? "; further ones of this kind are only counted" : "");
}

void Complaints::sum_up() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] <= kShown) continue;
    spdlog::log(level_of(static_cast<Defect>(i)), "{}: {} {} in all", path_, counts_[i], kNames[i]);
    counts_[i] = 0;
  }
}

}  // namespace eventloom
