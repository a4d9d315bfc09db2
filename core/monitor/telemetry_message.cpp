#include "core/monitor/telemetry_message.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace eventloom {

namespace {

using Kind = TelemetrySection::Kind;
constexpr std::uint16_t kBinOfSum = LogHistogram::kBins;

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("telemetry: a message " + why); }

template <class Row>
void append(std::vector<std::byte>& out, std::span<const Row> rows) {
  const auto bytes = std::as_bytes(rows);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

class Writer {
 public:
  explicit Writer(const TelemetryHead& head) : head_(head), out_(sizeof head) { head_.sections = 0; }

  template <class Row>
  void put(Kind kind, const std::vector<Row>& rows) {
    if (rows.empty()) return;
    const TelemetrySection section{kind, static_cast<std::uint32_t>(rows.size())};
    append(out_, std::span(&section, 1));
    append(out_, std::span<const Row>(rows));
    ++head_.sections;
  }
  std::vector<std::byte> message() {
    std::memcpy(out_.data(), &head_, sizeof head_);
    return std::move(out_);
  }

 private:
  TelemetryHead head_;
  std::vector<std::byte> out_;
};

void add_changed(std::vector<CounterRow>& rows, std::uint32_t source, const Counters& now, const Counters& reported) {
  for (const auto& metric : all_metrics()) {
    const auto value = now[metric.metric];
    const bool kept = now.keeps(metric.metric);
    if (value == reported[metric.metric] && kept == reported.keeps(metric.metric)) continue;
    const auto number = static_cast<std::uint16_t>(index_of(metric.metric));
    rows.push_back({source, number, static_cast<std::uint16_t>(kept ? 1 : 0), value});
  }
}

std::vector<CounterRow> changed_counters(const RankRecord& now, const RankRecord& reported) {
  std::vector<CounterRow> rows;
  add_changed(rows, CounterRow::kOfRun, now.counters, reported.counters);
  for (const auto& [source, counters] : now.of_sources) {
    const auto before = reported.of_sources.find(source);
    add_changed(rows, source, counters, before == reported.of_sources.end() ? Counters{} : before->second);
  }
  return rows;
}

template <class Row>
std::vector<Row> changed(const std::map<std::uint32_t, Row>& now, const std::map<std::uint32_t, Row>& reported) {
  std::vector<Row> rows;
  for (const auto& [number, row] : now) {
    const auto before = reported.find(number);
    if (before == reported.end() || !(before->second == row)) rows.push_back(row);
  }
  return rows;
}

std::vector<BinRow> changed_bins(const Histograms& now, const Histograms& reported) {
  std::vector<BinRow> rows;
  for (std::uint16_t h = 0; h < kHistograms; ++h) {
    for (std::uint16_t bin = 0; bin < LogHistogram::kBins; ++bin) {
      if (now[h][bin] != reported[h][bin]) rows.push_back({static_cast<HistogramKind>(h), bin, 0, now[h][bin]});
    }
    if (now[h].sum() != reported[h].sum()) rows.push_back({static_cast<HistogramKind>(h), kBinOfSum, 0, now[h].sum()});
  }
  return rows;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T one() {
    T value;
    copy(&value, sizeof value);
    return value;
  }
  template <class Row>
  std::vector<Row> rows(std::uint32_t n) {
    if (n > rest_.size() / sizeof(Row)) refuse("ends within its rows");
    std::vector<Row> rows(n);
    copy(rows.data(), n * sizeof(Row));
    return rows;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  void copy(void* to, std::size_t n) {
    if (n > rest_.size()) refuse("is truncated");
    if (n != 0) std::memcpy(to, rest_.data(), n);
    rest_ = rest_.subspan(n);
  }

  std::span<const std::byte> rest_;
};

void apply(const CounterRow& row, RankRecord& record) {
  if (row.metric >= kMetrics) refuse("has an unknown counter");
  auto& counters = row.source == CounterRow::kOfRun ? record.counters : record.of_sources[row.source];
  const auto metric = static_cast<Metric>(row.metric);
  counters[metric] = row.value;
  if (row.kept != 0) counters.keep({metric});
}

void apply(const SourceRow& row, RankRecord& record) {
  if (static_cast<std::uint32_t>(row.state) >= kSourceStates) refuse("has an unknown state of a source");
  record.sources[row.source] = row;
}

void apply(const ChannelRow& row, RankRecord& record) {
  if (row.source > std::numeric_limits<std::uint16_t>::max()) refuse("has hits of an impossible source");
  record.channels.push_back(row);
}

void apply(const BuilderRow& row, RankRecord& record) { record.builders[row.builder] = row; }
void apply(const WriterRow& row, RankRecord& record) { record.writers[row.writer] = row; }
void apply(const LinkRow& row, RankRecord& record) { record.links[row.builder] = row; }

void apply(const BinRow& row, RankRecord& record) {
  const auto kind = static_cast<std::size_t>(row.histogram);
  if (kind >= kHistograms || row.bin > kBinOfSum) refuse("has an unknown bin of a histogram");
  auto& histogram = record.histograms[kind];
  if (row.bin == kBinOfSum) return histogram.set_sum(row.count);
  histogram[row.bin] = row.count;
}

template <class Row>
void apply_rows(Reader& reader, std::uint32_t n, RankRecord& record) {
  for (const auto& row : reader.rows<Row>(n)) apply(row, record);
}

void take_hits(const std::vector<EventHitRow>& hits, std::vector<LatestEvent>& events) {
  std::size_t at = 0;
  for (auto& event : events) {
    const std::size_t n = event.event.hits_sent;
    if (n > hits.size() - at) refuse("has fewer hits than its events");
    const auto begin = hits.begin() + static_cast<std::ptrdiff_t>(at);
    event.hits.assign(begin, begin + static_cast<std::ptrdiff_t>(n));
    at += n;
  }
  if (at != hits.size()) refuse("has more hits than its events");
}

void apply_section(Reader& reader, const TelemetrySection& section, RankRecord& record) {
  const auto n = section.rows;
  switch (section.kind) {
    case Kind::kCounters: return apply_rows<CounterRow>(reader, n, record);
    case Kind::kSources: return apply_rows<SourceRow>(reader, n, record);
    case Kind::kBuilders: return apply_rows<BuilderRow>(reader, n, record);
    case Kind::kWriters: return apply_rows<WriterRow>(reader, n, record);
    case Kind::kLinks: return apply_rows<LinkRow>(reader, n, record);
    case Kind::kBins: return apply_rows<BinRow>(reader, n, record);
    case Kind::kEvents:
      for (const auto& row : reader.rows<EventRow>(n)) record.events.push_back({row, {}});
      return;
    case Kind::kHits: return take_hits(reader.rows<EventHitRow>(n), record.events);
    case Kind::kChannels: return apply_rows<ChannelRow>(reader, n, record);
    default: refuse("has a section of unknown kind");
  }
}

/// The section of hits may be missing only if no event has any.
void require_hits(const RankRecord& record) {
  for (const auto& event : record.events) {
    if (event.hits.size() != event.event.hits_sent) refuse("lacks the hits of its events");
  }
}

}  // namespace

std::vector<std::byte> encode_telemetry(const RankRecord& now, const RankRecord& reported) {
  std::vector<EventRow> events;
  std::vector<EventHitRow> hits;
  for (const auto& event : now.events) {
    events.push_back(event.event);
    hits.insert(hits.end(), event.hits.begin(), event.hits.end());
  }
  Writer writer(now.head);
  writer.put(Kind::kCounters, changed_counters(now, reported));
  writer.put(Kind::kSources, changed(now.sources, reported.sources));
  writer.put(Kind::kBuilders, changed(now.builders, reported.builders));
  writer.put(Kind::kWriters, changed(now.writers, reported.writers));
  writer.put(Kind::kLinks, changed(now.links, reported.links));
  writer.put(Kind::kBins, changed_bins(now.histograms, reported.histograms));
  writer.put(Kind::kEvents, events);
  writer.put(Kind::kHits, hits);
  writer.put(Kind::kChannels, now.channels);
  return writer.message();
}

void apply_telemetry(std::span<const std::byte> message, RankRecord& record) {
  Reader reader(message);
  auto changed = record;
  changed.events.clear();
  changed.channels.clear();
  changed.head = reader.one<TelemetryHead>();
  if (changed.head.magic != kTelemetryMagic) refuse("does not begin as one");
  if (changed.head.sections > TelemetrySection::kKinds) refuse("has too many sections");
  std::int64_t before = -1;
  for (std::uint32_t i = 0; i < changed.head.sections; ++i) {
    const auto section = reader.one<TelemetrySection>();
    if (std::int64_t{section.kind} <= before) refuse("has sections out of order");
    before = section.kind;
    apply_section(reader, section, changed);
  }
  if (!reader.at_end()) refuse("continues after its sections");
  require_hits(changed);
  record = std::move(changed);
}

}  // namespace eventloom
