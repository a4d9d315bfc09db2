#include "io/event_files/companions.hpp"

#include <utility>

namespace eventloom {

namespace {

/// Each file stays open and locked until its part ends, and the limit is often 1024 open files per process.
constexpr std::size_t kMostComplete = 100;

}  // namespace

std::vector<EventFileInfo> CompleteCompanions::infos() const {
  std::vector<EventFileInfo> infos;
  for (const auto& [file, info] : files_) infos.push_back(info);
  return infos;
}

void CompleteCompanions::sync() {
  for (const auto& [file, info] : files_) file->sync();
}

void CompleteCompanions::keep() {
  for (const auto& [file, info] : files_) file->keep();
}

void CompleteCompanions::publish() {
  for (const auto& [file, info] : files_) file->publish();
}

Companions::Companions(const CompanionSettings& settings) {
  for (const auto& [target, first_file] : settings.outputs) {
    writers_.push_back(std::make_unique<EventFileWriter>(
        make_event_format(target, settings.run),
        EventFilesSettings{target.folder, target.most_bytes, target.triggers, settings.replace, first_file,
                           settings.first_event},
        [this](CompleteEventFile complete) { complete_.push_back(std::move(complete)); }));
  }
}

void Companions::begin() {
  for (const auto& writer : writers_) writer->begin();
}

bool Companions::write(const BuiltSlice& slice) {
  if (complete_.size() >= kMostComplete) return false;
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    if (writers_[i]->write(slice)) continue;
    while (i-- > 0) writers_[i]->take_back();
    return false;
  }
  for (const auto& writer : writers_) writer->settle(slice);
  return true;
}

CompleteCompanions Companions::end() {
  for (const auto& writer : writers_) writer->end();
  return CompleteCompanions(std::exchange(complete_, {}));
}

void Companions::abandon() {
  for (const auto& writer : writers_) writer->abandon();
}

}  // namespace eventloom
