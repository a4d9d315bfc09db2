#include "io/recorded/file_end.hpp"

#include "io/recorded/block_losses.hpp"

namespace eventloom {

std::string end_defect(const FileReader& file, const std::string& cut) {
  if (!file.failure().empty()) return file.failure();
  if (!cut.empty()) return cut;
  return file.has_grown() ? "the file has grown since it was opened; the appended data are not read" : "";
}

void report_end(const FileReader& file, const std::string& cut, std::uint32_t hits, DefectLog& defect_log,
                HitBlock& block) {
  const auto defect = end_defect(file, cut);
  if (!defect.empty()) {
    defect_log.say(Defect::damage, file.offset(), [&] { return std::string(defect); });
    add_loss(block, {.before = block.size(), .offset = file.offset(), .hits = hits, .breaks_off = true});
  }
  defect_log.sum_up();
}

}  // namespace eventloom
