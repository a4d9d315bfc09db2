#include "app/tools/record/recorder.hpp"

#include <algorithm>
#include <ostream>
#include <system_error>
#include <thread>

#include "app/command/report_file.hpp"
#include "app/command/safe_text.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "core/runtime/trouble_text.hpp"
#include "io/files/durable.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

/// Wait of an idle recorder: part of the latency of a hit.
constexpr auto kIdleWait = std::chrono::microseconds(200);
/// How often acknowledgements are read.
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kProgress = std::chrono::seconds(10);
/// How long to try to write to a full disk at the end.
constexpr auto kLongestEnd = std::chrono::seconds(5);

/// The lock file is in the folder.
std::filesystem::path lock_place(const std::filesystem::path& folder) {
  create_folder_durably(folder);
  return folder / "";
}

/// Hits whose times lie before the end of an earlier recorder's data: their sender's clock has been set back.
std::uint64_t hits_too_early(const Source& stream) { return stream.counts().counters[Metric::hits_before_the_run]; }

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

}  // namespace

Recorder::Recorder(const RecorderSettings& settings, const std::vector<SourceSpec>& specs, SourceOpener& opener)
    : settings_(settings),
      lock_(lock_place(settings.folder)),
      kept_(settings.keep_bytes),
      acknowledgement_troubles_(specs.size()) {
  for (std::size_t i = 0; i < specs.size(); ++i) add_source(specs[i], SourceId{static_cast<std::uint16_t>(i)}, opener);
  for (const auto& files : files_) {
    remove_own(files.names().end_mark(), is_nobodys);
    remove_own(files.names().full_mark(), is_nobodys);
  }
  // A recorder that follows must know that this one has listened.
  for (auto& files : files_) files.flush();
  next_look_ = Clock::now();
  next_progress_ = Clock::now() + kProgress;
}

void Recorder::add_source(const SourceSpec& spec, SourceId id, SourceOpener& opener) {
  const RecordNames names(settings_.folder, id.value);
  auto earlier = take_up(names, id.value, spec.uri.text());
  for (const auto& file : earlier.files) kept_.add(file, false);
  const auto past = earlier.past;
  files_.emplace_back(names, id.value, spec.uri.text(), std::move(earlier), settings_.limits, kept_);
  sources_.emplace_back(opener.open(spec, id), past, files_.back());
  log::info("source {}: {} is recorded in {}.*.epochs", id.value, sources_.back().name(), names.stem());
}

void Recorder::run() {
  while (!std::ranges::all_of(sources_, &SourceRecorder::is_done)) {
    const auto now = Clock::now();
    const bool moved = turn(now);
    if (!finishing_ && must_end(now)) finish_all();
    if (finishing_ && now - *finishing_ > kLongestEnd && std::ranges::any_of(files_, &StreamRecorder::is_blocked))
      break;
    look_around(now);
    if (!moved) std::this_thread::sleep_for(kIdleWait);
  }
  end();
}

bool Recorder::turn(Clock::time_point now) {
  bool moved = false;
  for (auto& source : sources_) {
    moved = source.turn(now) || moved;
    if (!begun_ && source.has_begun()) begun_ = now;
  }
  return moved;
}

bool Recorder::must_end(Clock::time_point now) {
  if (const int signal = stop_signal(); signal != 0) {
    log::warn("{}: ending cleanly", signal_name(signal));
    return true;
  }
  const bool over = settings_.duration.count() != 0 && begun_ && now - *begun_ >= settings_.duration;
  if (over) log::info("the end of --duration: ending cleanly");
  return over;
}

void Recorder::finish_all() {
  finishing_ = Clock::now();
  for (auto& source : sources_) source.finish();
}

void Recorder::look_around(Clock::time_point now) {
  if (now >= next_look_) {
    next_look_ = now + kLook;
    read_acknowledgements();
  }
  if (now >= next_progress_) {
    next_progress_ = now + kProgress;
    report_progress();
  }
}

void Recorder::read_acknowledgements() {
  for (std::uint32_t s = 0; s < files_.size(); ++s) {
    std::string trouble;
    const auto place = files_[s].names().acknowledgement();
    const auto first = read_acknowledgement(place, trouble);
    const auto next = files_[s].next_number();
    if (first && *first > next) {
      trouble = fmt::format("'{}' acknowledges files before number {}, but the next one is number {}; it is ignored",
                            place.string(), *first, next);
    } else if (first) {
      kept_.acknowledge(s, *first);
    }
    if (!trouble.empty() && trouble != acknowledgement_troubles_[s]) log::warn("{}", trouble);
    acknowledgement_troubles_[s] = trouble;
  }
}

void Recorder::report_progress() const {
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  std::string silent;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    hits += files_[s].hits();
    bytes += files_[s].bytes();
    if (!sources_[s].has_begun()) silent += fmt::format("{}{}", silent.empty() ? "" : ", ", s);
  }
  std::error_code error;
  const auto space = std::filesystem::space(settings_.folder, error);
  log::info("recorded {} hits, {}{}; {} of files kept, {} free", hits, megabytes(bytes),
            silent.empty() ? "" : "; nothing heard of source " + silent, megabytes(kept_.bytes()),
            error ? "?" : megabytes(space.available));
}

/// A source that cannot write ends after its last whole epoch buffer.
void Recorder::end() {
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    auto& source = sources_[s];
    if (!source.is_done()) source.give_up();
    source.close();
    marked_ = files_[s].mark_end() && marked_;
    for (const auto& remark : source.source().remarks()) log::warn("source {}: {}", s, remark);
  }
  read_acknowledgements();
}

bool Recorder::is_whole() const {
  const auto whole = [](const SourceRecorder& source) {
    const auto& stream = source.source();
    return source.is_done() && stream.anomalies() == 0 && !stream.counts().counters.any_trouble() &&
           hits_too_early(stream) == 0;
  };
  return marked_ && kept_.lost().files == 0 && std::ranges::all_of(sources_, whole);
}

void Recorder::print(std::ostream& out) const {
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const auto& files = files_[s];
    const auto& source = sources_[s].source();
    out << fmt::format("{}: {} hits in {} epoch buffers in {} files, {} bytes\n", for_terminal(files.names().stem()),
                       files.hits(), files.buffers(), files.files(), files.bytes());
    auto troubles = trouble_text(source.counts().counters);
    if (const auto n = source.anomalies(); n != 0)
      troubles += fmt::format("{}anomalies {}", troubles.empty() ? "" : ", ", n);
    if (const auto n = files.hits_unwritten(); n != 0) {
      troubles += fmt::format("{}hits_unwritten {}", troubles.empty() ? "" : ", ", n);
    }
    if (!troubles.empty()) out << fmt::format("source {} ({}): {}\n", s, for_terminal(source.name()), troubles);
    if (const auto n = hits_too_early(source); n != 0) {
      out << fmt::format(
          "source {} ({}): {} hits are not recorded, as their times lie before the end of the data that an earlier "
          "recorder wrote; if the clock has been set back, use another folder\n",
          s, for_terminal(source.name()), n);
    }
  }
  const auto removed = [&out](const KeptFiles::Removed& files, const char* why) {
    if (files.files == 0) return;
    out << fmt::format("removed {} files, {} bytes, {} hits: {}\n", files.files, files.bytes, files.hits, why);
  };
  removed(kept_.acknowledged(), "acknowledged");
  removed(kept_.lost(), "lost, as --keep left no room for them");
}

Json Recorder::report() const {
  auto list = Json::array();
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const auto& files = files_[s];
    const auto& source = sources_[s].source();
    list.push_back({{"source", s},
                    {"name", source.name()},
                    {"files", files.files()},
                    {"epoch_buffers", files.buffers()},
                    {"bytes", files.bytes()},
                    {"hits", files.hits()},
                    {"hits_unwritten", files.hits_unwritten()},
                    {"anomalies", source.anomalies()},
                    {"remarks", source.remarks()},
                    {"counts", source.counts().by_name()}});
  }
  const auto removed = [](const KeptFiles::Removed& of) {
    return Json{{"files", of.files}, {"bytes", of.bytes}, {"hits", of.hits}};
  };
  return {{"format", kRecordReport},
          {"whole", is_whole()},
          {"removed_acknowledged", removed(kept_.acknowledged())},
          {"removed_for_room", removed(kept_.lost())},
          {"per_source", list}};
}

}  // namespace eventloom
