#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/recorded/file_chain.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Reads files one after the other as one source, for the key `concat`. Counters that turn continue from file to file.
class JoinedReader final : public HitReader {
 public:
  using Open = std::function<std::unique_ptr<HitReader>(const SourceUri& file)>;

  /// Opens each file once, to find a file that cannot be read, or has other columns than the first, before
  /// anything is read; then throws UserError. `files`: at least one.
  JoinedReader(std::string name, std::vector<SourceUri> files, Open open);

  [[nodiscard]] const StreamHeader& header() const override { return chain_.header(); }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override;
  bool read(HitBlock& block) override;
  [[nodiscard]] ClockTurns* counter() override { return chain_.reader().counter(); }
  [[nodiscard]] std::optional<RawClock> raw_clock() const override { return chain_.reader().raw_clock(); }
  [[nodiscard]] Tick unordered_within() const override { return chain_.reader().unordered_within(); }
  [[nodiscard]] std::optional<double> share_read() const override;
  [[nodiscard]] std::uint64_t anomalies() const override { return chain_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override { return chain_.counts(); }

 private:
  [[nodiscard]] bool is_last() const { return at_ + 1 == files_.size(); }

  std::string name_;
  std::vector<SourceUri> files_;
  Open open_;
  FileChain chain_;
  std::vector<double> bytes_;  ///< size of each file
  std::size_t at_ = 0;         ///< index of the open file
};

}  // namespace eventloom
