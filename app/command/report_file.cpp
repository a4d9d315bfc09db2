#include "app/command/report_file.hpp"

#include <fstream>

#include "core/runtime/error.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

bool is_report(const std::filesystem::path& file) {
  return is_json_of(file, kRunReport) || is_json_of(file, kBenchReport) || is_json_of(file, kRecordReport);
}

}  // namespace

void plan_report(FilePlan& plan, const std::string& path, const std::string& role) {
  if (path.empty() || is_stream_of_process(path)) return;
  plan.write(path, role, is_report, FilePlan::Existing::replace);
}

void write_report(const std::string& path, const std::string& text) {
  if (!is_stream_of_process(path)) return write_text_file(path, text, is_report);
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) throw UserError("cannot write the report '" + path + "'");
}

}  // namespace eventloom
