#include "io/hdf5/run_folder.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"
#include "io/files/durable.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

bool is_number(std::string_view text) {
  return text.size() >= 4 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Takes `start` and `end` off `text` if it has both.
bool strip(std::string_view& text, std::string_view start, std::string_view end) {
  if (text.size() < start.size() + end.size() || !text.starts_with(start) || !text.ends_with(end)) return false;
  text = text.substr(start.size(), text.size() - start.size() - end.size());
  return true;
}

/// `<stem>.part-<digits>-<digits>.h5`, with or without `.partial` behind it.
bool is_part_of(const std::string& stem, std::string_view name) {
  strip(name, "", kPartial);
  if (!strip(name, stem + ".part-", ".h5")) return false;
  const auto dash = name.find('-');
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) && is_number(name.substr(dash + 1));
}

/// `<stem>.part-<digits>.list`
bool is_list_of(const std::string& stem, std::string_view name) {
  return strip(name, stem + ".part-", ".list") && is_number(name);
}

fs::path folder_of(const fs::path& run_file) {
  return run_file.has_parent_path() ? run_file.parent_path() : fs::path(".");
}

std::vector<fs::path> files_in(const fs::path& folder, const std::function<bool(const std::string& name)>& wanted) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (wanted(entry.path().filename().string())) found.push_back(entry.path());
  }
  if (error) throw UserError("cannot look into the folder '" + folder.string() + "': " + error.message());
  std::ranges::sort(found);
  return found;
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw UserError("cannot remove '" + file.string() + "': " + error.message());
}

/// The file that holds a listed part: under its name, or still as it was written.
fs::path find_part(const fs::path& folder, const PartInfo& part) {
  std::error_code error;
  const auto place = folder / part.name;
  const bool there = fs::exists(place, error);
  fs::path file = there ? place : fs::path(place.string() + std::string(kPartial));
  const auto bytes = fs::file_size(file, error);
  if (!error && bytes == part.bytes) return file;
  throw UserError(
      fmt::format("'{}' is in the list of finished parts with {} bytes but {}; without it the run cannot "
                  "go on: bring it back, or begin anew without --resume",
                  place.string(), part.bytes, error ? "is not there" : fmt::format("has {}", bytes)));
}

}  // namespace

FinishedWork take_up_run(const fs::path& run_file) {
  const auto folder = folder_of(run_file);
  const auto stem = run_file.stem().string();
  FinishedWork work;
  for (const auto& path : files_in(folder, [&](const auto& name) { return is_list_of(stem, name); })) {
    PartList::wait_for_writer(path);
    auto list = read_part_list(path);
    if (list.torn_bytes != 0) {
      spdlog::info("{}: an entry that was being written does not count, its part is built again", path.string());
    }
    const auto number = path.stem().string().substr(stem.size() + 6);
    auto& place = work.writers[static_cast<std::uint32_t>(std::stoul(number))];
    place.list = {list.good_bytes, list.chain};
    if (!list.parts.empty()) place.next_segment = list.parts.back().info.segment + 1;
    std::ranges::move(list.parts, std::back_inserter(work.parts));
  }
  std::vector<std::pair<fs::path, fs::path>> unnamed;
  std::set<std::string> names;
  for (const auto& part : work.parts) {
    const auto file = find_part(folder, part.info);
    if (file.extension() == kPartial) unnamed.emplace_back(file, folder / part.info.name);
    names.insert(part.info.name);
  }
  for (const auto& [from, to] : unnamed) rename_durably(from, to);
  for (const auto& file : files_in(folder, [&](const auto& n) { return is_part_of(stem, n) && !names.contains(n); })) {
    remove_file(file);
  }
  return work;
}

void remove_leftovers(const fs::path& run_file, const std::set<std::string>& parts) {
  const auto stem = run_file.stem().string();
  const auto left = [&](const std::string& name) {
    return is_list_of(stem, name) || (is_part_of(stem, name) && !parts.contains(name)) ||
           name == run_file.filename().string() + std::string(kPartial);
  };
  for (const auto& file : files_in(folder_of(run_file), left)) remove_file(file);
}

void remove_old_run(const fs::path& run_file) {
  const auto name_of_run = run_file.filename().string();
  const auto stem = run_file.stem().string();
  auto old = files_in(folder_of(run_file), [&](const auto& name) {
    return name == name_of_run || name == name_of_run + std::string(kPartial) || is_part_of(stem, name) ||
           is_list_of(stem, name);
  });
  for (const auto& file : old) {
    if (is_list_of(stem, file.filename().string())) PartList::wait_for_writer(file);
  }
  // run.h5 first: without it the parts left by a failure in between are no run.
  std::ranges::stable_sort(old, {}, [&](const auto& p) { return p.filename() != name_of_run; });
  for (const auto& file : old) remove_file(file);
}

fs::path scratch_folder(const fs::path& scratch, const fs::path& run_file) {
  std::error_code error;
  const auto place = fs::weakly_canonical(folder_of(run_file), error).string();
  return scratch / fmt::format("eventloom-{:08x}", crc32c(std::as_bytes(std::span(place))));
}

void prepare_scratch(const fs::path& folder, const fs::path& run_file) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '" + folder.string() + "': " + error.message());
  const auto stem = run_file.stem().string();
  for (const auto& file : files_in(folder, [&](const auto& name) { return is_part_of(stem, name); })) remove_file(file);
}

}  // namespace eventloom
