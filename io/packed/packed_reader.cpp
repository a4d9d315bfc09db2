#include "io/packed/packed_reader.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/packed/record_hits.hpp"
#include "io/recorded/file_end.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlockWords = std::size_t{32} << 10;

class PackedReader final : public HitReader {
 public:
  PackedReader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return describe_file(name_); }
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return records_.counter(); }
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override { return {records_.counters(), {}}; }

 private:
  void end(HitBlock& block);

  std::string name_;
  RecordHits records_;
  FileReader file_;
  StreamHeader header_;
  std::size_t block_records_;
  bool ended_ = false;
};

PackedReader::PackedReader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      records_(uri, RecordFormat(uri), name_, base.tick_ps),
      file_(uri.path()),
      block_records_(std::min(kBlockHits, kBlockWords / std::max<std::size_t>(records_.format().payload_words, 1))) {
  header_ = {.source = id.value,
             .base = base,
             .payload = {},
             .text = uri.text(),
             .flags = records_.numbered() ? std::uint32_t{kNumbered} : 0};
  set_payload(header_, records_.format().columns);
  const auto skip = uri.get_count("skip", 0, 0, std::numeric_limits<std::uint64_t>::max());
  if (skip > file_.size()) {
    uri.refuse("skip= is more than the " + std::to_string(file_.size()) + " bytes of the file");
  }
  file_.skip(skip);
}

bool PackedReader::read(HitBlock& block) {
  block.clear();
  if (ended_) return false;
  const auto record_bytes = records_.format().bytes;
  const auto bytes = file_.front(record_bytes);
  const std::size_t n = std::min(bytes.size() / record_bytes, block_records_);
  if (n == 0) {
    end(block);
    return !block.losses.empty();
  }
  records_.read(bytes.data(), n, file_.offset(), 0, block);
  file_.skip(n * record_bytes);
  return true;
}

void PackedReader::end(HitBlock& block) {
  ended_ = true;
  const bool cut = file_.left() != 0;
  const auto how =
      cut ? fmt::format("the file ends {} bytes into a record of {}", file_.left(), records_.format().bytes) : "";
  if (const auto defect = end_defect(file_, how); !defect.empty()) {
    log::error("{}: offset {}: {}", name_, file_.offset(), defect);
    block.losses.push_back({.offset = file_.offset(), .hits = cut ? 1U : 0U, .breaks_off = true});
  }
  records_.sum_up();
}

}  // namespace

std::unique_ptr<HitReader> open_packed(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<PackedReader>(uri, id, base);
}

}  // namespace eventloom
