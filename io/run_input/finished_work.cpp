#include "io/run_input/finished_work.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_names.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_name(const fs::path& list, const std::string& name) {
  throw UserError(fmt::format("'{}' is damaged: '{}' is not the name of a part of this run", list.string(), name));
}

}  // namespace

void WriterPlace::go_past(const PartInfo& part) {
  next_segment = std::max(next_segment, part.segment + 1);
  events += part.events;
  for (const auto& file : part.event_files) {
    auto& next = next_files[fs::path(file.name).extension().string()];
    next = std::max(next, file.number + 1);
  }
}

FinishedWork read_finished_work(const fs::path& run_file) {
  const auto stem = run_file.stem().string();
  FinishedWork work;
  for (const auto& path : files_in(folder_of(run_file), [&](const auto& name) { return is_list_of(stem, name); })) {
    PartList::wait_for_writer(path);
    auto list = read_part_list(path);
    if (list.torn_bytes != 0) {
      log::info("{}: an incomplete entry does not count; its part is built again", path.string());
    }
    const auto number = path.stem().string().substr(stem.size() + 6);
    for (const auto& part : list.parts) {
      if (!is_part_name(part.info.name) || !is_part_of(stem, part.info.name)) refuse_name(path, part.info.name);
    }
    auto& place = work.writers[static_cast<std::uint32_t>(std::stoul(number))];
    place.list = {list.good_bytes, list.chain};
    for (const auto& part : list.parts) place.go_past(part.info);
    std::ranges::move(list.parts, std::back_inserter(work.parts));
  }
  return work;
}

std::vector<FinishedPart> finished_parts(const fs::path& run_file) {
  auto parts = read_finished_work(run_file).parts;
  std::erase_if(parts, [&](const FinishedPart& part) {
    std::error_code error;
    return !fs::exists(folder_of(run_file) / part.info.name, error);
  });
  return parts;
}

}  // namespace eventloom
