#include "io/lmd/lmd_bytes.hpp"

#include <algorithm>

#include "formats/lmd.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;
constexpr std::uint64_t kWordBytes = 4;

}  // namespace

/// Swaps whole words until `n` bytes are ready, so that the next step starts at a word.
void LmdBytes::swap_more(std::size_t n) {
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  const std::size_t wanted = (std::max(n - ready_.size(), kStepBytes) + kWordBytes - 1) / kWordBytes * kWordBytes;
  const auto raw = whole_words(wanted);
  const std::size_t at = ready_.size();
  ready_.resize(at + raw.size());
  swap_lmd_words(raw, ready_.data() + at);
  file_.skip(raw.size());
}

/// Up to `wanted` raw bytes; the last word may be cut only where the file ends, not where it may still grow.
std::span<const std::byte> LmdBytes::whole_words(std::size_t wanted) {
  auto raw = file_.front(wanted);
  while (raw.size() % kWordBytes != 0 && raw.size() < wanted) {
    if (file_.awaits(raw.size() + 1)) return raw.first(raw.size() / kWordBytes * kWordBytes);
    const auto before = raw.size();
    raw = file_.front(wanted);
    if (raw.size() <= before) break;
  }
  return raw.first(std::min(raw.size(), wanted));
}

bool LmdBytes::awaits(std::uint64_t n) {
  const std::uint64_t ready = ready_.size() - begin_;
  if (file_.stopped()) {
    ready_.clear();
    begin_ = 0;
    return file_.awaits(n);
  }
  return n > ready && file_.awaits(n - ready);
}

void LmdBytes::skip(std::uint64_t n) {
  if (!swapped_) return file_.skip(n);
  const std::uint64_t ready = ready_.size() - begin_;
  if (n <= ready) {
    begin_ += static_cast<std::size_t>(n);
    return;
  }
  ready_.clear();
  begin_ = 0;
  n -= ready;
  file_.skip(n / kWordBytes * kWordBytes);
  const auto rest = static_cast<std::size_t>(n % kWordBytes);
  begin_ = std::min(front(rest).size(), rest);
}

}  // namespace eventloom
