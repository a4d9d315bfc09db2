#include "io/run_output/run_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/part_list.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_input/verify_columns.hpp"
#include "io/run_output/disk_reserve.hpp"
#include "io/run_output/live_place.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Name of the run file that a part was written for; empty when the part lacks it.
std::string run_file_of_part(const fs::path& part) {
  const H5Id open = open_for_reading(part);
  return has_attribute(open.get(), "run_file") ? read_text(open.get(), "run_file") : "";
}

void remove_if_own(const fs::path& file, Recognise ours = is_of_run) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) && !leads_to_moved(file)) return;
  if (ours(file)) remove_own(file, ours);
}

/// Path of a listed part, under its final or its partial name.
fs::path file_of(const fs::path& folder, const PartInfo& part) {
  const auto place = folder / part.name;
  return is_there(place) ? place : fs::path(place.string() + kPartial);
}

/// Renames a file that is no longer a part to an unused name; does nothing without a file.
void set_aside(const fs::path& file, const std::string& why) {
  if (!is_there(file)) return;
  const auto aside = file.string() + ".damaged";
  fs::path place = aside;
  for (int n = 2; is_there(place); ++n) place = aside + "-" + std::to_string(n);
  rename_durably(file, place);
  log::warn("{}: {}; it is kept as '{}', and what it held is built again", file.string(), why, place.string());
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot create the folder '" + folder.string() + "': " + error.message());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw UserError("cannot write to the folder '" + folder.string() + "': " + std::strerror(errno));
  }
}

/// Removes the damaged parts from the work and from their writers' lists.
void strike_out(const fs::path& run_file, FinishedWork& work, const DamagedParts& damaged) {
  std::set<std::uint32_t> writers;
  for (const auto& part : work.parts) {
    const auto found = damaged.find(part.info.name);
    if (found == damaged.end()) continue;
    writers.insert(part.info.writer);
    set_aside(file_of(folder_of(run_file), part.info), found->second);
  }
  std::erase_if(work.parts, [&](const FinishedPart& part) { return damaged.contains(part.info.name); });
  for (const auto writer : writers) {
    std::vector<FinishedPart> left;
    std::ranges::copy_if(work.parts, std::back_inserter(left),
                         [&](const FinishedPart& part) { return part.info.writer == writer; });
    work.writers[writer].list = rewrite_part_list(folder_of(run_file) / part_list_name(run_file, writer), left);
  }
}

}  // namespace

void refuse_parts_of_others(const fs::path& run_file) {
  const auto stem = run_file.stem().string();
  for (const auto& part : files_in(folder_of(run_file), [&](const auto& name) { return is_part_of(stem, name); })) {
    if (!is_part_file(part)) continue;
    const auto owner = run_file_of_part(part);
    if (owner.empty() || owner == run_file.filename().string()) return;  // one part identifies the run of all
    throw UserError(
        fmt::format("--output: '{}' is a part of the run '{}', and parts of '{}' would have the same names; "
                    "choose another name",
                    part.string(), owner, run_file.filename().string()));
  }
}

bool is_of_run(const fs::path& file) {
  if (is_own_hdf5(file)) return output_format_of(file) != kMergedFormat;
  return is_part_list(file) || is_live_place(file) || is_disk_reserve(file);
}

std::optional<std::string> damage_of_part(const fs::path& run_file, const PartInfo& part) {
  const auto file = file_of(folder_of(run_file), part);
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (error) return "is missing";
  if (bytes != part.bytes) return fmt::format("has {} bytes, not {}", bytes, part.bytes);
  return damage_of_columns(file, part);
}

void take_up_run(const fs::path& run_file, FinishedWork& work, const DamagedParts& damaged) {
  const auto folder = folder_of(run_file);
  const auto stem = run_file.stem().string();
  strike_out(run_file, work, damaged);
  std::set<std::string> names;
  for (const auto& part : work.parts) {
    const auto file = file_of(folder, part.info);
    if (file.extension() == kPartial) rename_durably(file, folder / part.info.name);
    names.insert(part.info.name);
  }
  const auto left = [&](const std::string& name) {
    return (is_part_of(stem, name) && !names.contains(name)) || is_unfinished_list_of(stem, name) ||
           is_reserve_of(stem, name);
  };
  for (const auto& file : files_in(folder, left)) remove_if_own(file);
}

void remove_leftovers(const fs::path& run_file, const std::set<std::string>& parts) {
  const auto stem = run_file.stem().string();
  const auto left = [&](const std::string& name) {
    return is_list_of(stem, name) || is_unfinished_list_of(stem, name) || is_place_of(stem, name) ||
           is_reserve_of(stem, name) || (is_part_of(stem, name) && !parts.contains(name));
  };
  for (const auto& file : files_in(folder_of(run_file), left)) remove_if_own(file);
  remove_if_own(run_file.string() + kPartial, is_own_hdf5);  // run.h5 itself, or the merged file that was to replace it
}

void remove_lists(const fs::path& run_file) {
  const auto stem = run_file.stem().string();
  const auto lists = files_in(folder_of(run_file), [&](const auto& name) { return is_list_of(stem, name); });
  for (const auto& file : lists) PartList::wait_for_writer(file);
  for (const auto& file : lists) remove_if_own(file);
}

fs::path scratch_folder(const fs::path& scratch, const fs::path& run_file) {
  return folder_within(scratch, folder_of(run_file));
}

void prepare_next_folder(const fs::path& folder, const fs::path& run_file) {
  make_folder(folder);
  std::set<std::string> linked;
  for (const auto& path : entries_in(folder_of(run_file))) {
    std::error_code no_link;
    linked.insert(fs::read_symlink(path, no_link).string());
  }
  const auto stem = run_file.stem().string();
  const auto is_part = [&](const std::string& name) { return is_part_of(stem, name); };
  for (const auto& file : files_in(folder, is_part)) {
    if (!linked.contains(file.string())) remove_if_own(file);
  }
}

void prepare_scratch(const fs::path& folder, const fs::path& run_file) {
  make_folder(folder);
  const auto stem = run_file.stem().string();
  for (const auto& file : files_in(folder, [&](const auto& name) { return is_part_of(stem, name); }))
    remove_if_own(file);
}

}  // namespace eventloom
