#include "io/run_input/run_histograms.hpp"

#include "core/runtime/error.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_input/open_output.hpp"
#include "io/run_input/run_file.hpp"

namespace eventloom {

std::vector<HistogramRecord> sum_histograms(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                                            std::span<const std::string> texts) {
  std::vector<HistogramRecord> sums;
  if (texts.empty()) return sums;
  for (const auto& part : parts) {
    const auto path = folder / part.name;
    const auto of_part =
        reading(path, [&] { return read_histograms(OpenOutput(path, part).file.get(), path.string(), texts); });
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(of_part[i]);
    if (sums.empty()) sums = of_part;
  }
  return sums;
}

std::vector<HistogramRecord> histograms_of(const std::filesystem::path& file) {
  return reading(file, [&]() -> std::vector<HistogramRecord> {
    const OpenOutput open(file);
    const auto format = format_of_run(open);
    const auto record = read_run_record(file);
    if (record.histograms.empty()) return {};
    if (format == kRunFormat && !record.closed)
      throw UserError("'" + file.string() + "' has no histograms yet: the run has not ended");
    return read_histograms(open.file.get(), file.string(), record.histograms);
  });
}

}  // namespace eventloom
