#include "io/live/feed_recording.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

std::string new_recording(const std::filesystem::path& folder, SourceId id, bool go_on) {
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
    if (!go_on) {
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
  attempt([&] { append(buffers, damage); });
}

void FeedRecording::finish() {
  attempt([this] {
    append_loss(std::numeric_limits<Epoch>::max());
    file_->finish();
    file_.reset();
  });
}

void FeedRecording::attempt(const std::function<void()>& work) {
  if (!file_) return;
  try {
    work();
  } catch (const UserError& e) {
    spdlog::error("{}: its recording ends: {}; the run continues", name_, e.what());
    ++failures_;
    file_->abandon();
    file_.reset();
  }
}

void FeedRecording::append(std::span<const std::byte> buffers, std::span<const Damage> damage) {
  auto lost = damage.begin();
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    for (; lost != damage.end() && lost->first_epoch < header->first_epoch; ++lost) note_loss(*lost);
    append_loss(header->first_epoch);
    file_->append(buffers.first(header->stored_bytes()));
    end_ = header->epochs().end;
    buffers = buffers.subspan(header->stored_bytes());
  }
  for (; lost != damage.end(); ++lost) note_loss(*lost);
}

/// Merges all losses between two buffers into one stretch. Losses before the first buffer and after the end are not
/// recorded.
void FeedRecording::note_loss(const Damage& damage) {
  if (end_ == 0 || damage.n_epochs >= kForEver) return;
  loss_.n_hits += damage.n_hits;
  loss_.epochs.begin = std::max(end_, std::min(loss_.epochs.begin, damage.first_epoch));
  loss_.epochs.end = std::max({loss_.epochs.end, end_of(damage), loss_.epochs.begin + 1});
}

/// Appends the pending loss, unless it lies at or after `before`, the epoch of the next buffer, or there is no room for
/// it before that; it then stays pending.
void FeedRecording::append_loss(Epoch before) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (loss_.n_hits != 0) {
    const Epoch begin = std::max(end_, loss_.epochs.begin);
    if (begin >= before) return;
    const Epoch end = std::min(std::max(loss_.epochs.end, begin + 1), before);
    EpochBufferHeader header;
    header.first_epoch = begin;
    header.n_epochs = static_cast<std::uint32_t>(std::min((end - begin).value, kMost));
    header.n_hits = static_cast<std::uint32_t>(std::min(loss_.n_hits, kMost));
    std::vector<std::byte> stored;
    append_stored(header, {}, stored);
    file_->append(stored);
    end_ = end;
  }
  loss_ = {};
}

}  // namespace eventloom
