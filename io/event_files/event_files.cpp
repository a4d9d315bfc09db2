#include "io/event_files/event_files.hpp"

#include <system_error>
#include <utility>

namespace eventloom {

EventFiles::EventFiles(std::unique_ptr<EventFormat> format, EventFilesSettings settings)
    : settings_(settings),
      ours_(format->ours()),
      writer_(std::move(format), std::move(settings),
              [this](const CompleteEventFile& complete) { publish(complete); }) {
  writer_.begin();
}

void EventFiles::publish(const CompleteEventFile& complete) {
  complete.file->sync();
  complete.file->publish();
  summary_.files.push_back(settings_.folder / complete.info.name);
  summary_.events += complete.info.events;
  summary_.bytes += complete.info.bytes;
}

EventFilesSummary EventFiles::finish() {
  writer_.end();
  std::error_code error;
  for (auto beyond = summary_.files.size(); settings_.replace; ++beyond) {
    const auto path = writer_.path_of(static_cast<std::uint32_t>(beyond));
    if (!std::filesystem::exists(path, error)) break;
    remove_own(path, ours_);
  }
  return summary_;
}

}  // namespace eventloom
