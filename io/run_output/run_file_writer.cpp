#include "io/run_output/run_file_writer.hpp"

#include "io/hdf5/output_file.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/histogram_table.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_format/part_table.hpp"
#include "io/run_format/record_table.hpp"
#include "io/run_input/ledger_reader.hpp"
#include "io/run_input/run_histograms.hpp"
#include "io/run_output/tables_writer.hpp"

namespace eventloom {

void write_run_file(const std::filesystem::path& path, const RunRecord& record, std::span<const PartInfo> parts,
                    const RunStatistics& statistics) {
  OutputFile file(path);
  file.fill([&] {
    write_record(file, record);
    write_parts(file, parts);
    LedgerTable ledger(file, {.tick_ps = record.base.tick_ps}, record.sources.size() > kMaskedSources);
    merge_ledgers(path.parent_path(), parts, [&](const LedgerEntry& entry) {
      ledger.append(entry.row, entry.sources_missing, entry.missing_mask);
    });
    ledger.finish();
    write_histograms(file, sum_histograms(path.parent_path(), parts, record.histograms));
    write_statistics(file, statistics);
    seal_file(file.id());
  });
  file.close();
  file.publish();
}

}  // namespace eventloom
