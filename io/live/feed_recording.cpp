#include "io/live/feed_recording.hpp"

#include <cstdio>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

std::string new_recording(const std::filesystem::path& folder, SourceId id, bool keep_recordings) {
  create_folder_durably(folder);
  for (int attempt = 0;; ++attempt) {
    char name[64];
    if (attempt == 0) {
      std::snprintf(name, sizeof name, "source-%04u.epochs", static_cast<unsigned>(id.value));
    } else {
      std::snprintf(name, sizeof name, "source-%04u-%02d.epochs", static_cast<unsigned>(id.value), attempt);
    }
    const auto path = folder / name;
    if (!is_there(path) && !is_there(path.string() + kPartial)) return path.string();
    if (!keep_recordings) {
      throw UserError("--record: '" + path.string() + "' exists; choose another folder, or move it away");
    }
  }
}

bool is_recording_name(const std::string& name) {
  return name.starts_with("source-") &&
         (name.ends_with(".epochs") || name.ends_with(std::string(".epochs") + kPartial));
}

FeedRecording::FeedRecording(const std::string& path, const StreamHeader& header, std::string name)
    : file_(std::make_unique<StreamWriter>(path, header, is_nobodys)), name_(std::move(name)) {}

void FeedRecording::add(std::span<const std::byte> buffers, std::span<const Damage> damage) {
  attempt([&] { losses_.add(buffers, damage, [this](auto stored) { file_->append(stored); }); });
}

void FeedRecording::finish() {
  attempt([this] {
    losses_.finish([this](auto stored) { file_->append(stored); });
    file_->finish();
    file_.reset();
  });
}

void FeedRecording::attempt(const std::function<void()>& work) {
  if (!file_) return;
  try {
    work();
  } catch (const UserError& e) {
    log::error("{}: its recording ends: {}; the run continues", name_, e.what());
    ++failures_;
    file_->abandon();
    file_.reset();
  }
}

}  // namespace eventloom
