#include "io/midas/midas_records.hpp"

#include <algorithm>
#include <limits>

#include "core/runtime/format.hpp"

namespace eventloom {

std::optional<MidasRecords> MidasRecords::of(const SourceUri& uri, std::uint64_t tick_ps) {
  if (uri.has("overflow") && !hold_times(uri)) {
    uri.refuse("overflow= needs a counter in the records of a bank: time=TYPE@OFFSET");
  }
  const auto bank = uri.get("bank", "");
  if (!bank.empty()) return MidasRecords(uri, bank, tick_ps);
  for (const char* key : {"bank", "record", "channel", "fixed-channel", "channels", "payload", "where", "skip"}) {
    if (uri.has(key)) uri.refuse("'bank=' is missing: the bank of records to which " + std::string(key) + "= refers");
  }
  if (hold_times(uri)) uri.refuse("'bank=' is missing: the bank of records to which time=TYPE@OFFSET refers");
  return std::nullopt;
}

bool MidasRecords::hold_times(const SourceUri& uri) { return uri.get("time", "").find('@') != std::string::npos; }

MidasRecords::MidasRecords(const SourceUri& uri, const std::string& bank, std::uint64_t tick_ps)
    : bank_(bank),
      name_(midas_name(bank).value_or(0)),
      skip_(uri.get_count("skip", 0, 0, std::numeric_limits<std::uint32_t>::max())),
      records_(uri, RecordFormat(uri, hold_times(uri)), uri.path(), tick_ps) {
  if (!midas_name(bank)) uri.refuse("bank=" + bank + " is not the name of a bank, four characters");
}

std::string MidasRecords::description() const {
  return fmt::format("MIDAS data, a hit per record of {} bytes in the bank {}.\n", format().bytes, bank_);
}

std::size_t MidasRecords::count(const MidasEvent& event) const {
  std::size_t n = 0;
  for (const auto& bank : event.banks) {
    if (bank.name == name_) n += (bank.data.size() - std::min(bank.data.size(), skip_)) / format().bytes;
  }
  return n;
}

void MidasRecords::append(const MidasEvent& event, Tick time, DefectLog& defect_log, HitBlock& block) {
  for (const auto& bank : event.banks) {
    if (bank.name != name_) continue;
    const auto data = bank.data.subspan(std::min(bank.data.size(), skip_));
    const auto at = event.offset + MidasHeader::kBytes + bank.at + (bank.data.size() - data.size());
    const auto n = data.size() / format().bytes;
    if (n != 0) {
      records_.read(data.data(), n, at, time, hits_);
      block.append(hits_);
    }
    const auto rest = data.size() - n * format().bytes;
    const bool cut = rest != 0 || bank.data.size() < skip_;
    if (!cut) continue;
    defect_log.say(Defect::damage, at, [&] {
      return bank.data.size() < skip_
                 ? fmt::format("a bank {} has {} bytes, fewer than skip=", bank_, bank.data.size())
                 : fmt::format("a bank {} ends {} bytes into a record of {}", bank_, rest, format().bytes);
    });
    block.losses.push_back({.before = block.size(), .offset = at, .hits = 1});
  }
}

}  // namespace eventloom
