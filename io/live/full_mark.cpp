#include "io/live/full_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>

#include "io/files/descriptor.hpp"

namespace eventloom {

namespace {

/// A mark that has not been renewed for this long is a dead recorder's.
constexpr std::chrono::seconds kFresh{3};

}  // namespace

std::filesystem::path full_mark_of(const std::filesystem::path& file) {
  const auto name = file.filename().string();
  return file.parent_path() / (name.substr(0, name.find('.')) + ".full");
}

void renew_full_mark(const std::filesystem::path& mark) {
  const Descriptor file(::open(mark.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.is_open()) static_cast<void>(::futimens(file.number(), nullptr));
}

void remove_full_mark(const std::filesystem::path& mark) {
  std::error_code error;
  if (std::filesystem::file_size(mark, error) == 0 && !error) std::filesystem::remove(mark, error);
}

bool FullMark::is_fresh(Time now) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(mark_, error);
  if (error) {
    renewed_.reset();
    return false;
  }
  if (renewed_ != written) {
    renewed_ = written;
    seen_ = now;
  }
  return now - seen_ < kFresh;
}

}  // namespace eventloom
