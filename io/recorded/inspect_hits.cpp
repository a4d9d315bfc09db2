#include "io/recorded/inspect_hits.hpp"

#include <utility>

#include "io/recorded/hit_summary.hpp"

namespace eventloom {

Json inspect_hits(HitReader& reader, const std::string& kind, Json header, std::uint64_t n_events) {
  const HitSummary summary(reader, n_events);
  Json out = {{"file", reader.input().path},
              {"kind", kind},
              {"damaged", summary.damaged()},
              {"file_bytes", reader.input().bytes},
              {"header", std::move(header)}};
  for (const auto& [name, n] : reader.counts().by_name()) out[name] = n;
  summary.put_ranges(out);
  summary.put_lists(out);
  return out;
}

}  // namespace eventloom
