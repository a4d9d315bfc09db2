#include "io/recorded/joined_reader.hpp"

#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "io/files/file_checksum.hpp"

namespace eventloom {

JoinedReader::JoinedReader(std::string name, std::vector<SourceUri> files, Open open)
    : name_(std::move(name)), files_(std::move(files)), open_(std::move(open)), chain_(open_(files_.front())) {
  for (const auto& file : files_) {
    if (&file != &files_.front()) chain_.require_same_kind(*open_(file), file.path());
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file.path(), error);
    bytes_.push_back(error ? 0 : static_cast<double>(bytes));
  }
}

InputFile JoinedReader::input() const {
  std::vector<std::string> paths;
  for (const auto& file : files_) paths.push_back(file.path());
  return describe_files(name_, paths);
}

bool JoinedReader::read(HitBlock& block) {
  while (!chain_.reader().read(block)) {
    if (is_last()) return false;
    ++at_;
    chain_.go_on(open_(files_[at_]), files_[at_].path());
  }
  if (!is_last()) FileChain::leave_holes(block);
  return true;
}

std::optional<double> JoinedReader::share_read() const {
  const auto share = chain_.reader().share_read();
  const double all = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
  if (!share || all == 0) return share;
  const double before = std::accumulate(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_), 0.0);
  return (before + bytes_[at_] * *share) / all;
}

}  // namespace eventloom
