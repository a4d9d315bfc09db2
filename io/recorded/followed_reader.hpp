#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/files/followed_files.hpp"
#include "io/recorded/file_chain.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// How the files of a format are opened one by one.
struct FileOpening {
  std::function<bool(const std::string& path)> can_open;  ///< whether a file has grown enough
  std::function<std::unique_ptr<HitReader>(const std::string& path)> open;
};

/// Reads the hits of files that are followed. Where the next ones are not yet there, read() waits a little, then
/// returns an empty block.
class FollowedReader final : public HitReader {
 public:
  /// `reader`: of the first file, `path`; returns empty blocks where it would have to wait. `later`: opens the files
  /// after it; std::nullopt if `reader` reads all files.
  FollowedReader(std::unique_ptr<HitReader> reader, Followed followed, std::string path,
                 std::optional<FileOpening> later);

  [[nodiscard]] const StreamHeader& header() const override { return chain_.header(); }
  [[nodiscard]] const std::string& name() const override { return followed_->pattern(); }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override;
  [[nodiscard]] Tick unordered_within() const override { return chain_.reader().unordered_within(); }
  [[nodiscard]] std::uint64_t anomalies() const override { return chain_.anomalies(); }
  [[nodiscard]] SourceCounts counts() const override { return chain_.counts(); }

 private:
  FileChain chain_;
  Followed followed_;
  std::string path_;
  std::optional<FileOpening> later_;
};

/// Waits until the first of the files can be opened, or nothing more will be written to it. Throws UserError when a
/// signal asks the program to stop.
std::string await_first_file(FollowedFiles& files, const std::function<bool(const std::string& path)>& can_open);

}  // namespace eventloom
