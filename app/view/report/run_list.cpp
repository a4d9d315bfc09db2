#include "app/view/report/run_list.hpp"

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

/// "3", or why there is none.
std::string end_text(const LoggedRun& run) {
  if (run.ended.empty()) return "no end";
  return run.exit_code ? std::to_string(*run.exit_code) : "failed";
}

std::string why_text(const LoggedRun& run) {
  if (run.ended.empty()) return "it is active, or its program was killed";
  return run.ended_by.empty() ? run.why : run.why + " by " + run.ended_by;
}

/// Hits between this run and the one before.
std::string between_text(const LoggedRun& run) {
  return run.unknown_between ? "unknown" : std::to_string(run.hits_between);
}

}  // namespace

void print_runs(std::ostream& out, std::span<const LoggedRun> runs) {
  out << fmt::format("{:>5} {:<20} {:<20} {:>6} {:>12} {:>14} {:>10} {:>12}  {}\n", "run", "began", "ended", "code",
                     "events", "hits in", "lost", "between", "begun by; ended by; comment");
  for (const auto& run : runs) {
    const auto& t = run.totals;
    const auto comment = run.comment.empty() ? "" : "; " + run.comment;
    const auto words = fmt::format("{}; {}{}", run.by, why_text(run), comment);
    out << fmt::format("{:>5} {:<20} {:<20} {:>6} {:>12} {:>14} {:>10} {:>12}  {}\n", run.number,
                       for_terminal(run.began), for_terminal(run.ended), end_text(run), t.events, t.hits_in,
                       t.hits_lost, between_text(run), for_terminal(words));
  }
}

Json runs_json(std::span<const LoggedRun> runs) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json list = Json::array();
  for (const auto& run : runs) {
    list.push_back({{"run", run.number},
                    {"file", run.file},
                    {"began", run.began},
                    {"by", run.by},
                    {"comment", run.comment},
                    {"hits_between", run.hits_between},
                    {"unknown_between", run.unknown_between},
                    {"ended", or_null(run.ended)},
                    {"why", or_null(run.why)},
                    {"ended_by", or_null(run.ended_by)},
                    {"exit_code", run.exit_code ? Json(*run.exit_code) : Json(nullptr)},
                    {"events", run.totals.events},
                    {"hits_in", run.totals.hits_in},
                    {"hits_in_events", run.totals.hits_in_events},
                    {"hits_lost", run.totals.hits_lost}});
  }
  return list;
}

std::string runs_page(const std::string& folder, std::span<const LoggedRun> runs) {
  std::string page = kRunPageBegin;
  page += fmt::format(
      "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Runs of {0}</title><style>body{{font-family:sans-serif}}"
      "td,th{{padding:.2em .6em;text-align:left}}tr:nth-child(even){{background:#eee}}</style></head><body>"
      "<h1>Runs of {0}</h1><table><tr><th>run</th><th>began</th><th>begun by</th><th>ended</th><th>ended by</th>"
      "<th>exit code</th><th>events</th><th>hits in</th><th>hits in events</th><th>hits lost</th>"
      "<th>hits before it, in no run</th><th>comment</th><th>file</th></tr>\n",
      for_xml(folder));
  for (const auto& run : runs) {
    const auto& t = run.totals;
    page += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", run.number,
                        for_xml(run.began), for_xml(run.by), for_xml(run.ended), for_xml(why_text(run)), end_text(run));
    page += fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        t.events, t.hits_in, t.hits_in_events, t.hits_lost, between_text(run), for_xml(run.comment),
                        for_xml(run.file));
  }
  return page + "</table></body></html>\n";
}

}  // namespace eventloom
