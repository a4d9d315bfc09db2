#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/markers.hpp"
#include "io/hdf5/column_reader.hpp"
#include "io/sources/file_checksum.hpp"
#include "io/sources/payload_columns.hpp"
#include "io/sources/readers.hpp"
#include "io/sources/tick_scale.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kRowsPerBlock = 65536;

/// The names in "/a/b"; empty ones are left out.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

class Hdf5Reader final : public HitReader {
 public:
  Hdf5Reader(const SourceUri& uri, SourceId id, const TimeBase& base)
      : group_(uri.get("group", "/")),
        name_(uri.path() + ":" + group_),
        input_(describe_file(uri.path())),
        scale_(uri, base.tick_ps),
        time_(uri.path(), place(uri.get("time", "time"))),
        channel_(uri.path(), place(uri.get("channel", "channel"))) {
    for (const auto& column : payload_columns(uri)) {
      payload_.emplace_back(uri.path(), place(column));
      require_fit(payload_.back());
    }
    require_fit(channel_);
    header_.source = id.value;
    header_.base = base;
    header_.payload = PayloadTable::uniform(static_cast<std::uint8_t>(payload_.size()));
    header_.text = uri.text();
  }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }

  bool read(HitBlock& block) override {
    block.clear();
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kRowsPerBlock, time_.size() - row_));
    if (n == 0) return false;
    read_times(n, block.time);
    channel_.read(row_, n, integers_);
    for (const auto value : integers_)
      block.channel.push_back(fitting(value, kMaxChannel, channel_, block.channel.size()));
    block.payload.resize(n * payload_.size());
    for (std::size_t p = 0; p < payload_.size(); ++p) {
      payload_[p].read(row_, n, integers_);
      for (std::size_t i = 0; i < n; ++i) {
        block.payload[i * payload_.size() + p] = fitting(integers_[i], kMaxPayload, payload_[p], i);
      }
    }
    row_ += n;
    return true;
  }

 private:
  [[nodiscard]] std::string place(const std::string& column) const {
    return group_ + (group_.ends_with('/') ? "" : "/") + column;
  }

  /// A channel or payload column must hold integers, as many as there are times.
  void require_fit(const ColumnReader& column) const {
    if (column.is_float()) throw UserError("'" + column.name() + "': the dataset must hold integers");
    if (column.size() == time_.size()) return;
    throw UserError("'" + column.name() + "' has " + std::to_string(column.size()) + " rows, but '" + time_.name() +
                    "' has " + std::to_string(time_.size()));
  }

  void read_times(std::size_t n, std::vector<Tick>& out) {
    if (time_.is_float()) {
      time_.read(row_, n, doubles_);
      append_ticks(doubles_, out);
    } else {
      time_.read(row_, n, integers_);
      append_ticks(integers_, out);
    }
  }

  template <class Value>
  void append_ticks(const std::vector<Value>& values, std::vector<Tick>& out) const {
    for (const auto value : values) {
      const auto time = scale_.ticks(value);
      if (!time) reject_time(std::to_string(value), out.size());
      out.push_back(*time);
    }
  }

  [[noreturn]] void reject_time(const std::string& value, std::size_t i) const {
    throw UserError("'" + time_.name() + "' row " + std::to_string(row_ + i) + ": " + scale_.complaint(value));
  }

  [[nodiscard]] std::uint32_t fitting(std::uint64_t value, std::uint64_t most, const ColumnReader& column,
                                      std::size_t i) const {
    if (value <= most) return static_cast<std::uint32_t>(value);
    throw UserError("'" + column.name() + "' row " + std::to_string(row_ + i) + ": " + std::to_string(value) +
                    " is above " + std::to_string(most));
  }

  std::string group_;
  std::string name_;
  InputFile input_;
  TickScale scale_;
  ColumnReader time_;
  ColumnReader channel_;
  std::vector<ColumnReader> payload_;
  StreamHeader header_;
  std::uint64_t row_ = 0;
  std::vector<std::uint64_t> integers_;
  std::vector<double> doubles_;
};

}  // namespace

std::unique_ptr<HitReader> open_hdf5(const SourceUri& uri, SourceId id, const TimeBase& base) {
  uri.accept_only({"group", "time", "channel", "payload", "unit", "round", "reorder"});
  return std::make_unique<Hdf5Reader>(uri, id, base);
}

std::vector<std::string> matching_hdf5_groups(const std::string& path, const std::string& pattern) {
  if (!has_group(path, "/")) return {};
  std::vector<std::string> groups{""};
  for (const auto& part : names_in(pattern)) {
    std::vector<std::string> deeper;
    const bool wild = part.find_first_of("*?[") != std::string::npos;
    for (const auto& group : groups) {
      if (!wild) {
        if (has_group(path, group + "/" + part)) deeper.push_back(group + "/" + part);
        continue;
      }
      for (const auto& name : groups_below(path, group.empty() ? "/" : group)) {
        if (fnmatch(part.c_str(), name.c_str(), 0) == 0) deeper.push_back(group + "/" + name);
      }
    }
    groups = std::move(deeper);
  }
  if (groups.empty()) throw UserError("'" + path + "': no group matches '" + pattern + "'");
  if (groups.front().empty()) return {"/"};
  return groups;
}

}  // namespace eventloom
