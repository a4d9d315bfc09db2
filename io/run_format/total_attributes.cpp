#include "io/run_format/total_attributes.hpp"

#include <algorithm>
#include <array>

#include "io/hdf5/attributes.hpp"

namespace eventloom {

namespace {

/// Metrics that are attributes of run.h5.
constexpr std::array kTotals = {Account::slices, Account::dropped};

/// Two totals have other names in run.h5.
std::string attribute_name(const MetricInfo& metric) {
  if (metric.metric == Metric::incomplete_slices) return "slices_incomplete";
  if (metric.metric == Metric::unbalanced_slices) return "slices_unbalanced";
  return std::string(metric.name);
}

/// True when files of earlier versions may lack this total.
bool may_lack(Metric total) {
  return account_of(total) == Account::dropped && total >= dropped_hits(static_cast<DropCause>(kFirstDropCauses));
}

}  // namespace

bool is_total(const std::string& attribute) {
  return std::ranges::any_of(kTotals, [&](Account account) {
    return std::ranges::any_of(metrics_of(account),
                               [&](const auto& total) { return attribute_name(total) == attribute; });
  });
}

void write_totals(hid_t root, const RunTotals& totals) {
  for (const auto account : kTotals) {
    for (const auto& total : metrics_of(account)) {
      write_attribute(root, attribute_name(total).c_str(), totals[total.metric]);
    }
  }
}

void read_totals(hid_t root, RunTotals& totals) {
  for (const auto account : kTotals) {
    for (const auto& total : metrics_of(account)) {
      const auto name = attribute_name(total);
      const bool there = !may_lack(total.metric) || has_attribute(root, name.c_str());
      totals[total.metric] = there ? read_number(root, name.c_str()) : 0;
    }
  }
}

}  // namespace eventloom
