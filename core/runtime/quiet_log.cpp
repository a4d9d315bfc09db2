#include "core/runtime/quiet_log.hpp"

#include <spdlog/spdlog.h>

#include <atomic>

namespace eventloom {

namespace {

std::atomic<bool> is_quiet = false;

}  // namespace

QuietLog::QuietLog() : level_(spdlog::get_level()) {
  spdlog::set_level(spdlog::level::off);
  is_quiet = true;
}

QuietLog::~QuietLog() {
  spdlog::set_level(static_cast<spdlog::level::level_enum>(level_));
  is_quiet = false;
}

bool QuietLog::exists() { return is_quiet; }

}  // namespace eventloom
