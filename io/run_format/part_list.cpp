#include "io/run_format/part_list.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/durable.hpp"
#include "io/files/file_reader.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_format/totals_json.hpp"

namespace eventloom {

namespace {

/// Ranks exit within 5 s of their launcher being killed (Open MPI 4.1).
constexpr auto kLongestListWait = std::chrono::seconds(20);
constexpr auto kSilentListWait = std::chrono::seconds(1);
constexpr auto kListLook = std::chrono::milliseconds(20);

constexpr std::string_view kListHeader = "eventloom-part-list 1\n";
constexpr std::size_t kChecksumDigits = 8;

std::string hex(std::uint32_t value) { return fmt::format("{:08x}", value); }

std::uint32_t checksum_of(std::uint32_t chain, std::string_view json) {
  std::array<std::byte, 4> before{};
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(chain >> 8 * i);
  return crc32c(std::as_bytes(std::span(json)), crc32c(before));
}

Json to_json(const FinishedPart& part, std::uint32_t chain) {
  Json slices = Json::array();
  for (const auto& run : part.slices) slices.push_back({run.first, run.step, run.count});
  return {{"after", hex(chain)},
          {"part", to_json(part.info)},
          {"slices", std::move(slices)},
          {"totals", to_json(part.totals)}};
}

FinishedPart finished_part_from(const Json& json) {
  FinishedPart part;
  part.info = part_from_json(json.at("part"));
  for (const auto& run : json.at("slices")) part.slices.push_back({run.at(0), run.at(1), run.at(2)});
  part.totals = totals_from_json(json.at("totals"));
  return part;
}

/// Parses `digits` as hex() writes them.
std::optional<std::uint32_t> read_hex(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || hex(value) != digits) return std::nullopt;
  return value;
}

/// A line of the list, without its newline.
struct Line {
  std::uint32_t checksum = 0;
  std::string_view json;
};

std::optional<Line> split(std::string_view text) {
  if (text.size() <= kChecksumDigits || text[kChecksumDigits] != ' ') return std::nullopt;
  const auto checksum = read_hex(text.substr(0, kChecksumDigits));
  if (!checksum) return std::nullopt;
  return Line{*checksum, text.substr(kChecksumDigits + 1)};
}

/// Checksum of the line that `line` follows; std::nullopt when `line` is damaged.
std::optional<std::uint32_t> predecessor(const Line& line) {
  const auto json = Json::try_parse(line.json);
  if (!json.is_object() || !json.contains("after") || !json["after"].is_string()) return std::nullopt;
  const auto after = read_hex(json["after"].text());
  return after && checksum_of(*after, line.json) == line.checksum ? after : std::nullopt;
}

/// True when a prefix of `line` is an intact line: its newline was overwritten.
bool runs_on(const Line& line, std::uint32_t chain) {
  for (auto at = line.json.find('}'); at != std::string_view::npos; at = line.json.find('}', at + 1)) {
    // A single byte more may be the line's own newline, which did not reach the disk.
    if (at + 2 < line.json.size() && checksum_of(chain, line.json.substr(0, at + 1)) == line.checksum) return true;
  }
  return false;
}

/// Defect of a line that is not intact; std::nullopt when a partial write explains it.
std::optional<std::string> damage_of(const Line& line, std::uint32_t chain) {
  if (const auto after = predecessor(line)) {
    return fmt::format("the line belongs after the one with checksum {:08x}, not {:08x}", *after, chain);
  }
  if (runs_on(line, chain)) return "the end of the line was expected before what follows";
  return std::nullopt;
}

std::string read_all(const std::filesystem::path& path) {
  FileReader file(path.string());
  const auto bytes = file.front(static_cast<std::size_t>(file.size()));
  if (bytes.size() < file.size()) throw UserError("cannot read '" + path.string() + "': " + file.failure());
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(file.size())};
}

/// Reads the lines of a list.
class ListReader {
 public:
  ListReader(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  ReadPartList read() {
    if (!read_header()) return std::move(list_);
    while (list_.good_bytes < text_.size()) {
      ++line_;
      const auto end = std::min(text_.find('\n', list_.good_bytes), text_.size());
      if (!take(end)) break;
      list_.good_bytes = end + 1;
    }
    list_.torn_bytes = text_.size() - list_.good_bytes;
    return std::move(list_);
  }

 private:
  bool read_header() {
    if (text_.starts_with(kListHeader)) {
      list_.good_bytes = kListHeader.size();
      return true;
    }
    const bool not_written =
        text_.size() <= kListHeader.size() && text_.find_first_not_of('\0') == std::string_view::npos;
    if (!kListHeader.starts_with(text_) && !not_written) refuse("'eventloom-part-list 1' was expected here");
    list_.torn_bytes = text_.size();
    return false;
  }

  /// `end` is the end of the line or of the list. Returns false for an incomplete line, which must be the last.
  bool take(std::size_t end) {
    const auto line = split(text_.substr(list_.good_bytes, end - list_.good_bytes));
    const auto expected = line ? checksum_of(list_.chain, line->json) : 0;
    if (!line || line->checksum != expected) {
      if (const auto damage = line ? damage_of(*line, list_.chain) : std::nullopt) refuse(*damage);
      if (end + 1 >= text_.size()) return false;
      refuse(line ? fmt::format("checksum {:08x} was expected, not {:08x}", expected, line->checksum)
                  : "a checksum of 8 hexadecimal digits and a blank were expected");
    }
    if (end == text_.size()) return false;
    add(parse(*line));
    list_.chain = line->checksum;
    return true;
  }

  FinishedPart parse(const Line& line) const {
    try {
      return finished_part_from(Json::parse(line.json));
    } catch (const JsonError& error) {
      refuse(std::string("the entry of a finished part was expected: ") + error.what());
    }
  }

  void add(FinishedPart part) {
    if (!list_.parts.empty()) {
      const auto& last = list_.parts.back().info;
      if (part.info.writer != last.writer) {
        refuse(fmt::format("a part of writer {} was expected, not of writer {}", last.writer, part.info.writer));
      }
      if (part.info.segment <= last.segment) {
        refuse(fmt::format("a segment after {} was expected, not {}", last.segment, part.info.segment));
      }
    }
    list_.parts.push_back(std::move(part));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(fmt::format(
        "'{}' is damaged, line {} at byte {}: {}; restore it, or start over with --force instead of --resume",
        path_.string(), line_, list_.good_bytes, why));
  }

  const std::filesystem::path& path_;
  std::string_view text_;
  ReadPartList list_;
  std::size_t line_ = 1;
};

/// Formats a part as the line after the one with the checksum `chain`; sets `chain` to the checksum of the new line.
std::string line_of(const FinishedPart& part, std::uint32_t& chain) {
  const auto json = to_json(part, chain).dump();
  chain = checksum_of(chain, json);
  return fmt::format("{:08x} {}\n", chain, json);
}

/// Returns 0 or an errno.
int write_at(int file, std::string_view text, std::uint64_t offset) {
  while (!text.empty()) {
    const auto written = ::pwrite(file, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? EIO : errno;
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return ::fdatasync(file) == 0 ? 0 : errno;
}

/// Tries to take the lock; true when another process holds it.
bool is_held(int file, int lock) { return ::flock(file, lock | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

[[noreturn]] void refuse_held(const std::filesystem::path& path) {
  throw UserError(
      fmt::format("'{}' is being written by another run; end that, or choose another --output", path.string()));
}

}  // namespace

std::string part_list_name(const std::filesystem::path& run_file, std::uint32_t writer) {
  return fmt::format("{}.part-{:04}.list", run_file.stem().string(), writer);
}

bool is_part_list(const std::filesystem::path& file) {
  const auto head = head_of(file, kListHeader.size() + 1);
  if (head.size() > kListHeader.size()) return head.starts_with(kListHeader);
  return kListHeader.starts_with(head) || head.find_first_not_of('\0') == std::string::npos;
}

PartList::File::~File() {
  if (descriptor >= 0) ::close(descriptor);
}

PartList::PartList(std::filesystem::path path, std::uint64_t good_bytes, std::uint32_t chain)
    : path_(std::move(path)), end_(good_bytes), chain_(chain) {
  refuse_foreign(path_, is_part_list);
  file_.descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  struct stat status {};
  if (file_.descriptor >= 0 && is_held(file_.descriptor, LOCK_EX)) refuse_held(path_);
  if (file_.descriptor < 0 || ::fstat(file_.descriptor, &status) != 0) fail("open", errno);
  if (static_cast<std::uint64_t>(status.st_size) < good_bytes) {
    throw UserError(fmt::format("'{}' has {} bytes but had {} when it was read; is another run writing it?",
                                path_.string(), status.st_size, good_bytes));
  }
  cut();
  if (end_ == 0) put(kListHeader);
  if (::fsync(file_.descriptor) != 0) fail("write", errno);
  sync_folder(path_.parent_path());
}

void PartList::append(const FinishedPart& part) {
  if (!clean_) cut();
  auto chain = chain_;
  put(line_of(part, chain));
  chain_ = chain;
}

void PartList::put(std::string_view text) {
  if (const int error = write_at(file_.descriptor, text, end_); error != 0) {
    clean_ = ::ftruncate(file_.descriptor, static_cast<off_t>(end_)) == 0;
    fail("write", error);
  }
  end_ += text.size();
}

void PartList::cut() {
  if (::ftruncate(file_.descriptor, static_cast<off_t>(end_)) != 0) fail("write", errno);
  clean_ = true;
}

void PartList::fail(const char* what, int error) const {
  const auto text = fmt::format("cannot {} '{}': {}", what, path_.string(), std::strerror(error));
  if (means_full(error)) throw DiskFull(text);
  throw UserError(text);
}

void PartList::wait_for_writer(const std::filesystem::path& path) {
  using std::chrono::steady_clock;
  File file;
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto begun = steady_clock::now();
  for (bool reported = false; file.descriptor >= 0 && is_held(file.descriptor, LOCK_SH);) {
    const auto waited = steady_clock::now() - begun;
    if (waited > kLongestListWait) refuse_held(path);
    if (!reported && waited > kSilentListWait) {
      log::info("{}: waiting for its writer from an earlier run to end", path.string());
      reported = true;
    }
    std::this_thread::sleep_for(kListLook);
  }
}

PartListPlace rewrite_part_list(const std::filesystem::path& path, std::span<const FinishedPart> parts) {
  std::string text(kListHeader);
  std::uint32_t chain = 0;
  for (const auto& part : parts) text += line_of(part, chain);
  write_text_file(path, text, is_part_list);
  return {text.size(), chain};
}

ReadPartList read_part_list(const std::filesystem::path& path) {
  const auto text = read_all(path);
  return ListReader(path, text).read();
}

}  // namespace eventloom
