#include "io/files/defect_log.hpp"

#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

log::Level level_of(Defect kind) { return kind == Defect::era ? log::Level::warn : log::Level::error; }

}  // namespace

void DefectLog::show(Defect kind, const std::string& text) const {
  log::write(level_of(kind), "{}: {}{}", path_, text,
             limits_[static_cast<std::size_t>(kind)].at_last("; further ones of this kind are only counted"));
}

void DefectLog::sum_up() {
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (!limits_[i].exceeded()) continue;
    log::write(level_of(static_cast<Defect>(i)), "{}: {} {} in all", path_, limits_[i].count(), kNames[i]);
    limits_[i] = MessageLimit();
  }
}

}  // namespace eventloom
