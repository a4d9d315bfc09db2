#include "app/view/merge/merge_to_files.hpp"

#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/view/merge/source_files.hpp"
#include "core/runtime/error.hpp"
#include "io/event_files/event_files.hpp"
#include "io/event_files/event_target.hpp"
#include "io/files/folder.hpp"
#include "io/run_input/run_events.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Number of output files checked in advance: they must not exist, or may be replaced. Further files are checked when
/// they are started.
constexpr std::uint32_t kPlannedFiles = 1000;

/// Returns the existing files in name order.
std::vector<fs::path> existing_files(const fs::path& folder, const std::set<std::string>& names) {
  std::vector<fs::path> files;
  if (!folder.empty() && !is_there(folder)) return files;
  for (const auto& path : entries_in(folder)) {
    if (names.contains(path.filename().string())) files.push_back(path);
  }
  return files;
}

void check_files(const MergeToFiles& what, const RunTables& run, const EventTarget& target, const EventFormat& format,
                 FilePlan& plan, FilePlan::Existing existing) {
  plan.read(what.run, "the run");
  for (const auto& part : run.parts) plan.read(run.folder / part.name, "the run");
  plan.write(target.folder / format.file_name(0), "--to", format.ours(), existing);
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < kPlannedFiles; ++i) names.insert(format.file_name(i));
  plan_source_files(plan, run.record, run.folder, existing_files(target.folder, names));
  const auto is_planned = [names = std::move(names)](const std::string& name) { return names.contains(name); };
  plan.write_in(target.folder, "--to", is_planned, format.ours(), existing);
  plan.check();
}

EventFilesSummary write_events(RunEvents& events, EventFiles& files) {
  while (events.next()) files.write(events.event());
  return files.finish();
}

}  // namespace

int merge_to_files(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing) {
  const auto target = parse_event_target(what.target, "--to");
  RunEvents events(what.run, what.partial);
  auto format = make_event_format(target, event_file_run(events.run().record));
  check_files(what, events.run(), target, *format, plan, existing);
  EventFiles files(std::move(format),
                   {target.folder, target.most_bytes, target.triggers, existing == FilePlan::Existing::replace});
  const auto written = write_events(events, files);
  std::cout << "events  " << written.events << "\nbytes   " << written.bytes << '\n';
  for (const auto& file : written.files) std::cout << "file    " << file.string() << '\n';
  if (events.missing().empty()) return kExitOk;
  std::cout << "missing " << events.missing() << '\n';
  return kExitLosses;
}

}  // namespace eventloom
