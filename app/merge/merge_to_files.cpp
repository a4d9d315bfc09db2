#include "app/merge/merge_to_files.hpp"

#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/event_file_run.hpp"
#include "core/runtime/error.hpp"
#include "io/event_files/event_files.hpp"
#include "io/event_files/event_target.hpp"
#include "io/hdf5/event_stream.hpp"
#include "io/hdf5/merge.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/run_tables.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadAheadBytes = std::size_t{64} << 20;
/// Files of an output that must not be there, or may be replaced. More than these are examined when they are begun.
constexpr std::uint32_t kPlannedFiles = 1000;

struct OpenedRun {
  RunTables tables;
  std::string missing;
};

OpenedRun open_run(const MergeToFiles& what) {
  if (is_merged_file(what.run)) {
    auto tables = open_run_tables(what.run);
    auto missing = tables.record.missing;
    return {std::move(tables), std::move(missing)};
  }
  auto opened = open_run_to_merge(what.run, what.partial);
  return {{std::move(opened.run.record), what.run.parent_path(), std::move(opened.run.parts)}, opened.missing};
}

void check_files(const MergeToFiles& what, const RunTables& run, const EventTarget& target, const EventFormat& format,
                 FilePlan& plan, FilePlan::Existing existing) {
  plan.read(what.run, "the run");
  for (const auto& part : run.parts) plan.read(run.folder / part.name, "the run");
  for (const auto& source : run.record.sources) {
    if (!source.input.path.empty()) plan.read(source.input.path, "a source of the run");
  }
  plan.write(target.folder / format.file_name(0), "--to", format.ours(), existing);
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < kPlannedFiles; ++i) names.insert(format.file_name(i));
  const auto is_planned = [names = std::move(names)](const std::string& name) { return names.contains(name); };
  plan.write_in(target.folder, "--to", is_planned, format.ours(), existing);
  plan.check();
}

void clear(HitColumns& hits) {
  hits.time.clear();
  hits.channel.clear();
  hits.source.clear();
  hits.payload_words.clear();
  hits.payload.clear();
}

/// The hits of the current event of `stream`, all of them.
void read_whole(EventStream& stream, HitPiece& piece, std::vector<std::uint32_t>& words, HitColumns& hits) {
  clear(hits);
  for (stream.read_hits(piece); !piece.time.empty(); stream.read_hits(piece)) {
    hits.time.insert(hits.time.end(), piece.time.begin(), piece.time.end());
    hits.channel.insert(hits.channel.end(), piece.channel.begin(), piece.channel.end());
    hits.source.insert(hits.source.end(), piece.source.begin(), piece.source.end());
    for (const auto n : piece.words) hits.payload_words.push_back(static_cast<std::uint32_t>(n));
    for (stream.read_words(words); !words.empty(); stream.read_words(words)) {
      if (hits.payload.empty()) {
        std::swap(hits.payload, words);  // most events have no more
      } else {
        hits.payload.insert(hits.payload.end(), words.begin(), words.end());
      }
    }
  }
}

EventFilesSummary write_events(const RunTables& run, EventFiles& files) {
  EventStream stream(run, kReadAheadBytes);
  HitPiece piece;
  std::vector<std::uint32_t> words;
  HitColumns hits;
  while (stream.next()) {
    read_whole(stream, piece, words, hits);
    const auto& event = stream.event();
    files.write({.number = stream.number(),
                 .time = event.time,
                 .duration = event.duration,
                 .times = hits.time,
                 .channels = hits.channel,
                 .sources = hits.source,
                 .payload_words = hits.payload_words,
                 .payload = hits.payload});
  }
  return files.finish();
}

}  // namespace

int merge_to_files(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing) {
  const auto target = parse_event_target(what.target, "--to");
  const auto [run, missing] = open_run(what);
  auto format = make_event_format(target, event_file_run(run.record));
  check_files(what, run, target, *format, plan, existing);
  EventFiles files(std::move(format), {target.folder, target.most_bytes, existing == FilePlan::Existing::replace});
  const auto written = write_events(run, files);
  std::cout << "events  " << written.events << "\nbytes   " << written.bytes << '\n';
  for (const auto& file : written.files) std::cout << "file    " << file.string() << '\n';
  if (missing.empty()) return kExitOk;
  std::cout << "missing " << missing << '\n';
  return kExitLosses;
}

}  // namespace eventloom
